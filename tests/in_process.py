"""svm-train inside the test's own process: quick, and a fault shows its traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from svmtool.cli.train import main


def trainer(folder: Path, monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """A function that runs svm-train in `folder`, where `data` becomes file d; gives exit status, stdout, stderr."""
    monkeypatch.chdir(folder)

    def run(*argv, data: str | None = None) -> tuple[int, str, str]:
        if data is not None:
            (folder / "d").write_text(data)
        return main([str(a) for a in argv]), *capsys.readouterr()

    return run
