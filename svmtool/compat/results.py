"""The result lines of predictions, as LIBLINEAR's and LIBSVM's Python modules print them."""

from __future__ import annotations

import numpy as np

from svmtool.compat.commonutil import evaluations


def report(truth: np.ndarray, found: np.ndarray, regression: bool, quiet: bool) -> tuple[float, float, float]:
    """Return the measures of predictions, and print them unless quiet.

    Parameters
    ----------
    truth : array, (n,)
        True labels or values, nan where there is none; empty: zeros.
    found : array, (n,)
        Predictions.
    regression : bool
        Whether they are values.
    quiet : bool
        Print nothing.  Without any label nothing is printed either.

    Returns
    -------
    tuple of float
        Of the rows with a label, see `evaluations`.

    Raises
    ------
    ValueError
        For lengths that differ.
    """
    if not len(truth):
        truth = np.zeros(len(found))
    given = truth == truth  # nan is no label
    if not given.all():
        truth, found = truth[given], found[given]
        quiet = quiet or not len(truth)
    measures = evaluations(truth, found)
    accuracy, error, correlation = measures
    if quiet:
        return measures
    if regression:
        print(f"Mean squared error = {error:g} (regression)")
        print(f"Squared correlation coefficient = {correlation:g} (regression)")
    else:
        hits = np.count_nonzero(truth == found)
        print(f"Accuracy = {accuracy:g}% ({hits}/{len(found)}) (classification)")
    return measures
