"""How far any program's model is from the optimum of a stated problem."""

from __future__ import annotations

from svmtool.auditing.audit import audit
from svmtool.auditing.record import Audit, Audits

__all__ = ["Audit", "Audits", "audit"]
