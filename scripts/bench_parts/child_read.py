"""Child process: MB/s of reading a file.  Arguments: file, threads (0: scikit-learn's reader), repeats."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time


def main() -> None:
    path, count, repeats = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if count:
        from svmtool.compiled import threads
        from svmtool.formats.svmlight.table import read

        threads.set_count(count)
        read(path)  # fills the page cache
    else:
        from sklearn.datasets import load_svmlight_file as read
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        read(path)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"mb_s": os.path.getsize(path) / 1e6 / statistics.median(seconds)}))


if __name__ == "__main__":
    main()
