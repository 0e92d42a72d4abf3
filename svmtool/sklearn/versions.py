"""Differences between scikit-learn 1.3 and later versions, in one place."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # before 1.6

    def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
        """Check X (and y) as scikit-learn 1.6's `sklearn.utils.validation.validate_data` does."""
        return estimator._validate_data(X, y, **options)


__all__ = ["validate_data"]
