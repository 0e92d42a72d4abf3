"""A fixed sample of damaged folders of rows; `make stress` tries more."""

from __future__ import annotations

import sys
from itertools import islice

import numpy as np
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "scripts"))

from stress import fuzz_rows


def test_damaged_folders_of_rows(tmp_path):
    found = [(case, fuzz_rows.run(case, tmp_path)) for case in islice(fuzz_rows.cases(np.random.default_rng(19)), 12)]
    assert [(case, words) for case, words in found if words] == []
