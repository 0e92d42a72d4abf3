"""Child process: describes a data set.  Its argument is a data file; prints {rows, nonzeros, labels, values}.

labels: two, many, real or one, as `-s auto` sees them; values: how many different ones.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_parts.certify import answer
from svmtool.formats.svmlight import table
from svmtool.training import auto_select

if __name__ == "__main__":
    facts = auto_select.facts_of(table.read(sys.argv[1]))
    answer({"rows": facts.rows, "nonzeros": facts.nonzeros, "labels": facts.labels, "values": facts.values})
