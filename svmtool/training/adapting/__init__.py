"""Training and changing adaptable models."""
