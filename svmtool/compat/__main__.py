"""`python -m svmtool.compat SCRIPT.py [arguments]` runs a script that imports `liblinear` or `libsvm`, unchanged.

The script finds svmtool's modules under the originals' names; for the rest it runs as `python SCRIPT.py` does.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType

USAGE = "Usage: python -m svmtool.compat SCRIPT.py [arguments of the script]"


def main() -> None:
    """Run the script named by the first argument; its exit status is that of the process."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(USAGE, file=sys.stderr if len(sys.argv) < 2 else sys.stdout)
        sys.exit(2 if len(sys.argv) < 2 else 0)
    script = sys.argv[1]
    try:
        with open(script, "rb") as file:
            code = compile(file.read(), script, "exec")
    except OSError as e:
        print(f"python -m svmtool.compat: can't open file {script!r}: {e.strerror}", file=sys.stderr)
        sys.exit(2)
    from svmtool.compat import redirect

    redirect.install()
    run(code, script)


def run(code: object, script: str) -> None:
    """Run compiled code as the module __main__."""
    del sys.argv[0]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    module = ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    exec(code, vars(module))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
