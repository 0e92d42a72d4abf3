"""Solvers, one paper per file."""
