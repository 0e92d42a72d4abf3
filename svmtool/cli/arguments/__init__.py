"""Command lines of svm-train."""
