"""Certifiers: primal value, dual bound and gap of a finished model, independent of the solver."""
