"""Suffixes of the files beside an adaptable model."""

STATE = ".state.npz"  # state.py
ROWS = ".state.rows"  # row_log.py
NEXT = ".new"  # after ROWS: a log whose state is not written yet
LOCK = ".state.lock"  # lock.py

KEPT = (STATE, ROWS, ROWS + NEXT)
ALL = (*KEPT, LOCK)
