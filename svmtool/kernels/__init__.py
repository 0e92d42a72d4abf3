"""Kernel values, row cache, quadratic programmes and their decomposition."""
