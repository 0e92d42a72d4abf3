"""Entry points of the commands; importing this module installs the Ctrl-C handling."""

from svmtool import interrupts

interrupts.install()


def train() -> None:
    """svm-train, liblinear-train."""
    _run("train")


def predict() -> None:
    """svm-predict, liblinear-predict."""
    _run("predict")


def scale() -> None:
    """svm-scale."""
    _run("scale")


def _run(command: str) -> None:
    import sys

    from svmtool.cli.entry import leave, start

    _be_listed_as(f"svm-{command}")
    leave(start(command, sys.argv[1:]))


def _be_listed_as(name: str) -> None:
    """The name by which ps, top and killall know the process."""
    try:
        with open("/proc/self/comm", "w") as f:
            f.write(name)
    except OSError:
        pass  # another system
