"""The tools that are compared, one file each.

A tool has: VERSION() -> its version, METHODS, and

    fit(problem, method, step, settings) -> Fitted

Each runs in a separate process (child.py), under the Python that has it.  `fit` measures the seconds of training alone:
from the rows in memory to the weights, by the tool's own interface.  A `step` is one of the cell's steps (usually a
tolerance; None is the tool's default).
"""
