"""`python -m svmtool train|predict|scale ...` is svm-train, svm-predict or svm-scale."""

from svmtool import start  # first of all: it installs the Ctrl-C handler  # isort: skip
import sys

COMMANDS = {"train": start.train, "predict": start.predict, "scale": start.scale}


def main() -> int:  # type: ignore[return]
    """Run the command named by the first argument."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(f"Usage: python -m svmtool {'|'.join(COMMANDS)} [arguments of the command]", file=sys.stderr)
        return 1
    COMMANDS[sys.argv.pop(1)]()


if __name__ == "__main__":
    sys.exit(main())
