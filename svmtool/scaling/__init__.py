"""Feature scaling: svm-scale."""
