"""Many processes and threads write one output at a time: all succeed, and the file is one of the whole ones."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

CHILD = """
import sys, threading
import numpy as np
from svmtool.conversion import npz
from svmtool.data.dataset import Dataset
from svmtool.formats import output
from svmtool.formats.svmlight import table

me, faults = int(sys.argv[1]), []
n = 3 + me  # rows: each process writes files of its own length
rows = Dataset(np.ones(n), np.arange(n + 1), np.zeros(n, np.int32), np.ones(n), 1)
WRITERS = {"rows": lambda path: table.write(path, rows), "npz": lambda path: npz.write(path, rows, 1)}

def work():
    for _ in range(6):
        for name, write in WRITERS.items():
            output._tidied.clear()  # each write tidies up, as the first of a process does
            try:
                write(name)
            except Exception as e:
                faults.append(f"{name}: {e}")

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(faults[:3], len(faults)) if faults else None
"""
PROCESSES = 4


def test_runs_with_one_output_all_succeed(tmp_path):
    runs = [
        subprocess.Popen([sys.executable, "-c", CHILD, str(k)], cwd=tmp_path, stdout=-1, stderr=-2, text=True)
        for k in range(PROCESSES)
    ]
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert "".join(said) == ""
    assert sorted(os.listdir(tmp_path)) == ["npz", "rows"]
    sizes = range(3, 3 + PROCESSES)
    assert len((tmp_path / "rows").read_text().splitlines()) in sizes and len(np.load(tmp_path / "npz")["y"]) in sizes
