"""Objectives with an L1 regulariser."""
