"""Texts of --help and --explain, rendered from the registry."""
