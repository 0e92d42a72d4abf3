"""Rows kept on disk between runs (--memory)."""
