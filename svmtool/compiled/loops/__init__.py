"""The compiled loops; each module declares those of one subject."""

from svmtool.compiled import require_loops

require_loops()
