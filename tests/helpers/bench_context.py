"""Context for tests of the benchmark's parts."""

from __future__ import annotations

import argparse
import sys

from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

import bench
from bench_parts.context import Context
from bench_parts.measure import Report


def context(tmp_path, data=None, **changes) -> Context:
    """A quiet benchmark that works in tmp_path, on data there or in `data`; changes: options by their names."""
    options = vars(bench.options(["--data", str(data or tmp_path), "--cache", str(tmp_path), "--repeats", "1"]))
    options |= {"liblinear": None, "libsvm": None, "peer_python": None, **changes}
    return Context(argparse.Namespace(**options), Report(lambda line: None))
