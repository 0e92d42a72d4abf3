"""svmtool: support vector machines with certified results, for the command line and for Python.

The functions of `svmtool.api`, and `audit`, are loaded at first use: `svmtool.fit`, `svmtool.predict` and the others.
"""

__version__ = "1.0.0"

# Their types are in __init__.pyi.  Importing this package loads nothing else: the commands start with it.
__all__ = [
    "Fit",
    "audit",
    "certified_mask",
    "cross_validate",
    "decision_values",
    "dumps",
    "export",
    "fit",
    "load_model",
    "loads",
    "predict",
    "probabilities",
    "read_svmlight",
    "save_model",
    "search_C",
    "write_svmlight",
]


def __getattr__(name: str) -> object:
    if name != "api" and name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = importlib.import_module("svmtool.auditing" if name == "audit" else "svmtool.api")
    return module if name == "api" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__, "api"])
