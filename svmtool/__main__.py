"""`python -m svmtool train|predict|scale ...` is svm-train, svm-predict or svm-scale."""

import sys

from svmtool.cli.entry import leave, start

COMMANDS = ("train", "predict", "scale")


def main() -> int:
    """Run the command named by the first argument."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        print(f"Usage: python -m svmtool {'|'.join(COMMANDS)} [arguments of the command]", file=sys.stderr)
        return 1
    leave(start(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
