"""Training and prediction on a Spark cluster."""
