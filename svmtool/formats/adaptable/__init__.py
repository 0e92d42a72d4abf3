"""Files of adaptable models."""
