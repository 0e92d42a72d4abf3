"""Training of kernel models."""
