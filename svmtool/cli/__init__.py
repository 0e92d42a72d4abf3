"""The commands svm-train, svm-predict and svm-scale."""
