"""A first guess from a sample of the rows."""

from __future__ import annotations

from svmtool.data.row_storage import Rows

# The sample holds at least one row in SAMPLE_GROUP, SAMPLE_ROWS_PER_FEATURE rows for each feature and SAMPLE_ROWS in
# all; none is used that would hold more than one row in MIN_GROUP.  Its solution need not be exact
SAMPLE_GROUP, SAMPLE_ROWS_PER_FEATURE, SAMPLE_ROWS, MIN_GROUP = 16, 8, 400, 3
SAMPLE_GAP, SAMPLE_ROUNDS = 1e-2, 20


def sample_group(rows: Rows) -> int:
    """Return in how many rows one may be in the sample of a first guess."""
    return min(SAMPLE_GROUP, rows.n // max(SAMPLE_ROWS, SAMPLE_ROWS_PER_FEATURE * rows.d))
