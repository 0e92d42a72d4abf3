"""Methods for many families of problems; a family gives its residuals and its linear systems."""
