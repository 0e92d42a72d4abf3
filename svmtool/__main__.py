"""`svmtool train|predict|scale ...` is svm-train, svm-predict or svm-scale; other words are subcommands."""

from svmtool import start  # first of all: it installs the Ctrl-C handler  # isort: skip
import sys

COMMANDS = {
    "train": start.train,
    "predict": start.predict,
    "scale": start.scale,
    "liblinear-train": start.liblinear_train,
    "liblinear-predict": start.liblinear_predict,
    "libsvm-train": start.libsvm_train,
    "libsvm-predict": start.libsvm_predict,
    "libsvm-scale": start.libsvm_scale,
}


def main() -> None:
    """Run the command named by the first argument."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        start.umbrella()
        return
    COMMANDS[sys.argv.pop(1)]()


if __name__ == "__main__":
    main()
