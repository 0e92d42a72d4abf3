"""Solvers for L1-regularised problems."""
