"""svm-train beside LIBLINEAR's and LIBSVM's programs: what they reach, and in what time."""
