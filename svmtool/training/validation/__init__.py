"""Cross-validation and the search for C."""
