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
METHODS = {
    "model": "get_nr_feature get_nr_class get_labels get_decfun_coef get_decfun_bias get_decfun_rho get_decfun "
    "is_probability_model is_regression_model is_oneclass_model",
    "svm_model": "get_svm_type get_nr_class get_svr_probability get_labels get_sv_indices get_nr_sv "
    "is_probability_model get_sv_coef get_SV",
    "problem": "set_bias copy",
}


@pytest.mark.parametrize("ours, package, module, names", MODULES, ids=[f"{m[1]}.{m[2]}" for m in MODULES])
def test_names(ours, package, module, names):
    found = importlib.import_module(ours)
    assert set(names.split()) <= set(found.__all__)
    assert not [name for name in found.__all__ if not hasattr(found, name)]


@pytest.mark.reference
@pytest.mark.parametrize("ours, package, module, names", MODULES, ids=[f"{m[1]}.{m[2]}" for m in MODULES])
def test_the_list_of_names_is_the_originals(ours, package, module, names):
    assert set(dropins.original(package, module).__all__) == set(names.split())


@pytest.mark.parametrize("which", dropins.BOTH)
def test_methods(which):
    for name, methods in METHODS.items():
        module = dropins.kernel(which) if name.startswith("svm_") else dropins.linear(which)
        for method in methods.split():
            assert callable(getattr(getattr(module, name), method)), f"{name}.{method}"
