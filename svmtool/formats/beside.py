"""Names of the files that stand beside a model which keeps a state."""

STATE = ".state.npz"  # adaptable_state.py
ROWS = ".state.rows"  # row_log.py
NEXT = ".new"  # behind ROWS: a log that waits for its state to be written
LOCK = ".state.lock"  # model_lock.py

KEPT = (STATE, ROWS, ROWS + NEXT)
ALL = (*KEPT, LOCK)
