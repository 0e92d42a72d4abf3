"""Conversion between LIBSVM's text format and CSV, TSV, npz and Parquet."""
