"""Training: reductions, validation, calibration, adapting."""
