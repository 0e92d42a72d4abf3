"""The engine: what runs for LIBLINEAR's and LIBSVM's numbers, and with --method fast."""
