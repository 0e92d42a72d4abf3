"""svm-predict."""
