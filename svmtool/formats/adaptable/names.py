"""Names of the files beside a model that keeps a state."""

STATE = ".state.npz"  # state.py
ROWS = ".state.rows"  # row_log.py
NEXT = ".new"  # behind ROWS: a log that waits for its state to be written
LOCK = ".state.lock"  # lock.py

KEPT = (STATE, ROWS, ROWS + NEXT)
ALL = (*KEPT, LOCK)
