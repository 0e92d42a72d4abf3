"""Objective values and times of svm-train beside those of LIBLINEAR's and LIBSVM's programs."""
