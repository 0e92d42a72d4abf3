"""Child process: what a data set is.  Its one argument is a data file; prints {rows, nonzeros, labels, values}.

labels: two, many, real or one, as `-s auto` sees them; values: how many different ones.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench_parts.judge import answer
from svmtool.formats import svmlight
from svmtool.training import choice

if __name__ == "__main__":
    facts = choice.facts_of(svmlight.read(sys.argv[1]))
    answer({"rows": facts.rows, "nonzeros": facts.nonzeros, "labels": facts.labels, "values": facts.values})
