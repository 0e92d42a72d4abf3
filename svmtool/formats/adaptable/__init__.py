"""State of adaptable models (--add, --remove): the suffixes of the files beside such a model."""

STATE = ".state.npz"  # state.py
ROWS_SUFFIX = ".state.rows"  # row_log.py
NEW_LOG = ".new"  # after ROWS: a log whose state is not written yet
LOCK = ".state.lock"  # row_log.py: ModelLock

STATE_FILES = (STATE, ROWS_SUFFIX, ROWS_SUFFIX + NEW_LOG)
ALL_FILES = (*STATE_FILES, LOCK)
