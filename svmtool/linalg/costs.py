"""Costs of operations in nanoseconds on one core of 2024; only their ratios matter, for the choice of methods."""

from __future__ import annotations

VISIT = 1.3  # a non-zero in an epoch of coordinate descent
# a row in an epoch, in addition: 5 to 90 on 36 sets, median 35, so that an epoch over rows of ten non-zeros costs as
# much as two to six products
VISITED_ROW = 40.0
INNER = 0.4  # a non-zero in a matrix of inner products of rows, which is symmetric
INNER_DENSE = 0.05  # the same for dense rows: 0.035 to 0.1 on twelve shapes of 50 to 1000 rows and 100 to 1500 features
FACTOR, COPY = 0.02, 10.0  # a factorisation of order m: for each of m^3 and of m^2
