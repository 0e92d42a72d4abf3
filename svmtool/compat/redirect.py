"""Redirects imports of LIBLINEAR's and LIBSVM's Python modules to svmtool's."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

# Package, its modules and where they are; the modules have top-level names too, as the originals in a folder have.
DROP_INS = {
    "liblinear": {
        "liblinearutil": "svmtool.liblinearutil",
        "liblinear": "svmtool.compat.liblinear",
        "commonutil": "svmtool.compat.commonutil",
    },
    "libsvm": {
        "svmutil": "svmtool.svmutil",
        "svm": "svmtool.compat.libsvm",
        "commonutil": "svmtool.compat.commonutil",
    },
}


def install() -> None:
    """From here on `import liblinear.liblinearutil`, `import svmutil` and the like find svmtool's modules.

    Installed originals, and files of these names in the script's folder, are no longer found.
    """
    for name, inside in DROP_INS.items():
        package = ModuleType(name, f"svmtool's modules in place of {name}'s.")
        package.__path__ = []
        sys.modules[name] = package
        for module, ours in inside.items():
            found = importlib.import_module(ours)
            setattr(package, module, found)
            sys.modules[f"{name}.{module}"] = found
            if module not in DROP_INS:
                sys.modules[module] = found
    for name, module in (("liblinear", "liblinear"), ("libsvm", "svm")):  # `from liblinear import *` of older versions
        low = sys.modules[f"{name}.{module}"]
        package = sys.modules[name]
        public = {key: vars(low)[key] for key in low.__all__ if key not in DROP_INS}
        vars(package).update(public, __all__=[*DROP_INS[name], *public])
