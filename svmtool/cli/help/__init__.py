"""Texts of --help, generated from the registry."""
