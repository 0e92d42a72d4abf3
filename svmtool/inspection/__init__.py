"""What a model file contains: facts and largest weights."""
