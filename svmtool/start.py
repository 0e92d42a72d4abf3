"""Entry points of the commands; importing this module installs the Ctrl-C handler."""

from svmtool import interrupts

interrupts.install()


def train() -> None:
    """svm-train."""
    _run("train")


def liblinear_train() -> None:
    """liblinear-train: svm-train that refuses what LIBLINEAR does not read."""
    _run("train", "liblinear-train")


def predict() -> None:
    """svm-predict."""
    _run("predict")


def liblinear_predict() -> None:
    """liblinear-predict: svm-predict that refuses what LIBLINEAR does not read."""
    _run("predict", "liblinear-predict")


def scale() -> None:
    """svm-scale."""
    _run("scale")


def libsvm_train() -> None:
    """libsvm-train: svm-train that always reads LIBSVM's command line."""
    _run("libsvm-train", "libsvm-train")


def libsvm_predict() -> None:
    """libsvm-predict."""
    _run("libsvm-predict", "libsvm-predict")


def libsvm_scale() -> None:
    """libsvm-scale: the same as svm-scale."""
    _run("scale", "libsvm-scale")


def umbrella() -> None:
    """svmtool with any other word: inspect, convert, export, report, completion."""
    _run("umbrella", "svmtool")


def _run(command: str, name: str = "") -> None:
    import sys

    from svmtool.cli.entry import leave, start

    if name.startswith(("libsvm-", "liblinear-")):
        from svmtool.formats.svmlight import additions

        additions.tolerant = False
    _set_process_name(name or f"svm-{command}")
    leave(start(command, sys.argv[1:]))


def _set_process_name(name: str) -> None:
    """Set the process name that ps, top and killall show."""
    try:
        with open("/proc/self/comm", "w") as f:
            f.write(name)
    except OSError:
        pass  # not on Linux
