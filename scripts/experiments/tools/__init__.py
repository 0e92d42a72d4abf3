"""The tools that are compared, one file each.

A tool has: VERSION() -> its version, METHODS, and

    fit(problem, method, step, settings) -> Fitted

in a process of its own (child.py), under the Python that has it.  `fit` measures the seconds of training alone: what
its own interface does between the rows in memory and the weights.  A `step` is one of the cell's steps (a tolerance,
mostly; None is the tool's default).
"""
