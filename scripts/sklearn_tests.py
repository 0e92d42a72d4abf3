"""scikit-learn's own tests, with the classes of svmtool.sklearn in the place of its own: a plugin of pytest.

PYTHONPATH=scripts python -m pytest -p sklearn_tests --pyargs sklearn.svm.tests.test_svm

DIFFERENCES names the tests that may fail, each with the reason; docs/python.md shows them as a table.
"""

from __future__ import annotations

FILES = ("sklearn.svm.tests.test_svm", "sklearn.svm.tests.test_sparse", "sklearn.linear_model.tests.test_logistic")
OF_SVM = ("LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR")

ALGORITHM = "the number of iterations, and the words about it, are another algorithm's"
PRIVATE = "private attributes of scikit-learn's classes do not exist here"
CERTIFIED = (
    "two classes end by the certified gap: at the same `tol` weights are farther from the optimum than by a gradient"
)
LAST_BIT = "with kernel values that differ in the last bit, on some processors, a fit ends elsewhere within `tol`"
CALLBACKS = "callbacks hear of each iteration with each `solver`, and with `max_iter=0` of none"
DIFFERENCES = {  # a test function, or one of its cases
    "test_svm_with_infinite_C": "both fits of SVR end within `tol`, by different steps",
    "test_precomputed": LAST_BIT,
    "test_svc_clone_with_callable_kernel": LAST_BIT,
    "test_svc_ovr_tie_breaking": "it needs ties that rounding alone decides, which differ on some processors",
    "test_svr_errors": "values of a kernel that have the wrong shape are refused by `fit`, not by `predict` only",
    "test_tweak_params": PRIVATE,
    "test_svc_raises_error_internal_representation": PRIVATE,
    "test_libsvm_convergence_warnings": ALGORITHM,
    "test_linear_svm_convergence_warnings": ALGORITHM,
    "test_check_solver_option": "`solver` chooses no method: all penalties and `dual` go with each but `liblinear`",
    "test_liblinear_dual_random_state": "the result does not depend on `random_state`",
    "test_logistic_cv": CERTIFIED,
    "test_logistic_regression_cv_refit": CERTIFIED,
    "test_LogisticRegression_elastic_net_objective": CERTIFIED,
    "test_scores_attribute_layout_elasticnet": CERTIFIED,
    "test_logistic_cv_multinomial_score": "a private function does not take our parameter `max_seconds`",
    "test_max_iter": ALGORITHM,
    "test_newton_cholesky_fallback_to_lbfgs": ALGORITHM,
    "test_large_sparse_matrix": "indices of 64 bits are accepted with each `solver`",
    "test_liblinear_with_large_values": "values above 1e30 do not freeze a fit and are accepted",
    "test_logisticregression_warns_with_n_jobs": "`n_jobs` is the number of threads and has an effect",
    "test_logistic_regression_callback_support": CALLBACKS,
    "test_logistic_regression_callback_support_warning": CALLBACKS,
}


def pytest_configure() -> None:
    """Put our classes in the place of scikit-learn's, before its tests are imported."""
    from sklearn import linear_model, svm

    import svmtool.sklearn

    for name in OF_SVM:
        setattr(svm, name, getattr(svmtool.sklearn, name))
    linear_model.LogisticRegression = svmtool.sklearn.LogisticRegression
