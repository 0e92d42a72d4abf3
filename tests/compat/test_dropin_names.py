"""Every public name of the originals exists in ours."""

from __future__ import annotations

import importlib

import dropins
import pytest

FUNCTIONS = "load_model save_model train predict"
COMMON = "svm_read_problem evaluations csr_find_scale_param csr_scale"
LIBLINEAR = "liblinear feature_node gen_feature_nodearray problem parameter model toPyModel solver_names print_null"
LIBSVM = "libsvm svm_problem svm_parameter toPyModel gen_svm_nodearray print_null svm_node svm_forms PRINT_STRING_FUN "
LIBSVM += "kernel_names c_double svm_model"
# Our module, the original's package and name in it, and the original's public names.
MODULES = [
    ("svmtool.liblinearutil", "liblinear", "liblinearutil", f"{FUNCTIONS} {LIBLINEAR} {COMMON}"),
    ("svmtool.compat.liblinear", "liblinear", "liblinear", LIBLINEAR),
    ("svmtool.compat.commonutil", "liblinear", "commonutil", COMMON),
    ("svmtool.svmutil", "libsvm", "svmutil", f"svm_load_model svm_save_model svm_train svm_predict {LIBSVM} {COMMON}"),
    ("svmtool.compat.libsvm", "libsvm", "svm", LIBSVM),
]


@pytest.mark.parametrize("ours, package, module, names", MODULES, ids=[f"{m[1]}.{m[2]}" for m in MODULES])
def test_names(ours, package, module, names):
    found = importlib.import_module(ours)
    assert set(names.split()) <= set(found.__all__)
    assert not [name for name in found.__all__ if not hasattr(found, name)]


@pytest.mark.reference
@pytest.mark.parametrize("ours, package, module, names", MODULES, ids=[f"{m[1]}.{m[2]}" for m in MODULES])
def test_the_list_of_names_is_the_originals(ours, package, module, names):
    assert set(dropins.original(package, module).__all__) == set(names.split())
