"""The report of a model on a test set: measures, charts and one HTML page."""
