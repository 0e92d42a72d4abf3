"""Several processes create, use and remove one FILE.rows while the data change: all succeed, and so do later runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

CHILD = """
import sys
from svmtool.formats.rowcache import folder as row_folder
row_folder.ROW_BYTES_PER_TEXT_BYTE = 1e9  # however small the file is, its rows go to disk
words = []
for k in range(8):
    keep = sys.argv[1] == "keep" or (sys.argv[1] == "both" and k % 2 == 0)
    table = row_folder.DiskReading("d", 1e9, "", keep, words.append).table()
    assert len(table) == 200 and table.values.sum() == 300.0 and table.indices.max() == 1, len(table)
assert not [sentence for sentence in words if "other runs use" not in sentence], words
"""
WAYS = ("keep", "none", "both", "keep")


def test_runs_side_by_side_with_data_that_change(tmp_path):
    (tmp_path / "d").write_text("1 1:1\n-1 1:1 2:1\n" * 100)
    over = threading.Event()

    def touch() -> None:
        while not over.wait(0.002):
            os.utime(tmp_path / "d")

    toucher = threading.Thread(target=touch)
    toucher.start()
    try:
        runs = [
            subprocess.Popen([sys.executable, "-c", CHILD, WAYS[k]], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
            for k in range(len(WAYS))
        ]
        said = [run.communicate(timeout=120)[1] for run in runs]
    finally:
        over.set()
        toucher.join()
    assert ("".join(said), {run.returncode for run in runs}) == ("", {0})
    done = subprocess.run([sys.executable, "-c", CHILD, "keep"], cwd=tmp_path, capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(os.listdir(tmp_path)) == ["d", "d.rows"]
