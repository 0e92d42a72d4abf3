"""Reductions of a training set to optimisation problems."""
