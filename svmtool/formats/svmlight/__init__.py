"""LIBSVM-format data files."""
