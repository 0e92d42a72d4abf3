"""Times of svm-train beside those of LIBLINEAR's and LIBSVM's programs."""
