"""Models: weights or support vectors, with prediction."""
