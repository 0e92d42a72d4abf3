"""Training data: rows in memory or on disk, labels and costs."""
