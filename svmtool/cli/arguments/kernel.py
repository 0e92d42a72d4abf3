"""The command line of svm-train with a kernel, read as LIBSVM reads it.

Such a line (see linear.is_kernel_line) has one of -t, -g, -d and -r, or names a solver that always uses a kernel.  As
in LIBSVM only the second character of an option counts, the next argument is its value, whatever it is, and only -q has
no value.  Long options that do not apply to kernels are errors.
"""

from __future__ import annotations

from typing import Any

from svmtool import registry
from svmtool.cli.arguments import scan
from svmtool.cli.arguments.scan import Command
from svmtool.errors import SvmtoolError
from svmtool.options.train import KERNEL, LONG
from svmtool.params import LINEAR, RBF, Request, Settings


class _KernelScan(scan.Scan):
    """Reads the arguments up to the data file."""

    rows = registry.rows_of(kernel=True)
    letters = {option.flag[1]: option for option in KERNEL}
    long_letters = {"W": LONG["--weights"]}  # as in LIBSVM's edition with weights of rows
    elsewhere = "is for linear models: remove it, or remove -t, -g, -d and -r"

    def settings(self, values: dict[str, Any]) -> Settings:
        chosen = {"-g", "-d", "-r"}.intersection(self.given)
        default = RBF if chosen or values.get("solver", 0) < 30 else LINEAR
        method = registry.default_method(values.get("solver", 0), kernel=True)
        return Settings.of_kernel(**{"kernel_type": default, "method": method, **values})

    def solver(self, value: str) -> dict[str, Any]:
        name = value.strip()
        if not name[:1].isalpha():
            number = self.number("-s", value, whole=True)
            row = registry.find_kernel(number)
            if row is None and number >= 30 and number in {r.number for r in registry.SOLVERS}:
                self.refuse(str(number))
            return {"solver": number}
        row = registry.find_kernel(name)
        if row is None:
            self.refuse(name)
        return {"solver": row.number}

    def unknown(self, argument: str, value: str) -> SvmtoolError:
        return scan.unknown(argument, "Unknown option")

    def refuse(self, name: str) -> None:
        """Raise: -s NAME is not a kernel solver."""
        rows = registry.KERNEL_SOLVERS
        advice = registry.closest(name, rows)
        if not advice:
            known = ", ".join(f"{row.number} ({row.name})" for row in rows)
            advice = f"with -t, -g, -d or -r the solvers are -s {known}"
        raise SvmtoolError(f"ERROR: -s {name} has no kernel: {advice}")


def parse(argv: list[str]) -> Command:
    """Parse the arguments (without the program's name) of a line for which linear.is_kernel_line holds.

    Raises UsageError where LIBSVM prints its usage, and SvmtoolError for other errors.
    """
    found = _KernelScan(argv)
    found.run()
    settings, request = found.parts()
    if found.action in scan.TEXTS:
        return Command(found.action, settings, request)
    files = argv[found.i :]
    _check(settings, request)
    if found.action == "explain":
        return Command("explain", settings, request, files[0] if files else "", notes=tuple(found.notes))
    if not files:
        raise scan.no_files(argv)
    return scan.training(settings, request, files, tuple(found.notes))


def _check(settings: Settings, request: Request) -> None:
    """Raise for options that the solver does not support, or that other options make meaningless.

    LIBSVM's solver numbers accept all of LIBSVM's options, as LIBSVM does.
    """
    row = registry.find_kernel(settings.problem.solver, settings.problem.method)
    if row is not None:
        for option in request.given:
            if option not in registry.supported_options(row) and (row.number >= 30 or option.startswith("--")):
                raise scan.unsupported(row, option, registry.find_kernel)
    scan.check(request, row is not None and row.printed)
