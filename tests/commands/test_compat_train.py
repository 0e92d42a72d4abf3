"""svm-train compared with recorded runs of LIBLINEAR 2.50's train and LIBSVM 3.37's svm-train."""

from __future__ import annotations

import compat_cases
import pytest

CASES = [case for case in compat_cases.cases("liblinear") if case["tool"] == "train"]
LIBSVM_CASES = [case for case in compat_cases.cases("libsvm") if case["tool"] == "svm-train"]
KERNEL_CASES = [case for case in LIBSVM_CASES if {"-t", "-g", "-d", "-r"}.intersection(case["args"])]


def by_name(case: dict) -> str:
    return case["name"]


@pytest.mark.parametrize("case", CASES, ids=by_name)
def test_train_does_what_liblinear_did(case, tmp_path, monkeypatch, as_the_originals):
    compat_cases.lay_out(case, tmp_path)
    compat_cases.check(case, compat_cases.run_inside(case, tmp_path, monkeypatch), tmp_path)


@pytest.mark.parametrize("case", LIBSVM_CASES, ids=by_name)
def test_libsvm_train_does_what_libsvm_did(case, tmp_path, monkeypatch):
    """Under this name the line is LIBSVM's with and without an option of kernels."""
    compat_cases.lay_out(case, tmp_path)
    compat_cases.check(case, compat_cases.run_inside(case, tmp_path, monkeypatch, libsvm=True), tmp_path)


@pytest.mark.parametrize("case", [c for c in LIBSVM_CASES if c["name"] in ("train_svr", "train_bad_C")], ids=by_name)
def test_libsvm_train_as_a_process(case, tmp_path, command):
    compat_cases.lay_out(case, tmp_path)
    done = command("libsvm-train", *case["args"])
    got = compat_cases.Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
    compat_cases.check(case, got, tmp_path)


@pytest.mark.parametrize("case", KERNEL_CASES[::3], ids=by_name)
def test_train_does_what_libsvm_did(case, tmp_path, monkeypatch, as_the_originals):
    """By an option of kernels."""
    compat_cases.lay_out(case, tmp_path)
    compat_cases.check(case, compat_cases.run_inside(case, tmp_path, monkeypatch), tmp_path)
