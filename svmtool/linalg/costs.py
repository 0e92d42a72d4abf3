"""What operations cost, in nanoseconds on one core of 2024.  Only the ratios matter: they choose between methods."""

from __future__ import annotations

VISIT = 1.3  # a non-zero in a coordinate pass, ...
# ... which costs that much a row besides: 5 to 90 on 36 sets, 35 in the middle, so that a pass over rows of ten
# non-zeros costs as much as two to six products
VISITED_ROW = 40.0
INNER = 0.4  # a non-zero of an inner product of rows, half of them by symmetry; of dense rows ...
INNER_DENSE = 0.05  # ... (0.035 to 0.1 on twelve shapes of 50 to 1000 rows and 100 to 1500 features)
FACTOR, COPY = 0.02, 10.0  # a factorisation: per m^3 and per m^2
