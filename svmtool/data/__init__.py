"""Training data in memory, on disk or on a cluster: rows, labels and weights."""
