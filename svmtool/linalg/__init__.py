"""Linear algebra: Cholesky, conjugate gradients, Golub-Kahan, minimum-norm point."""
