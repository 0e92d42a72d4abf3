"""Messages for unknown options: the closest option, or the command that has the option.  Imported after an error."""

from __future__ import annotations

import difflib

COMMON = {"--help": "--help", "--version": "--version", "--threads": "--threads"}
# For each command: likely names of an option, and the option.
LIKELY_OPTIONS: dict[str, dict[str, str]] = {
    "svm-predict": {
        **COMMON, "--probability": "-b 1", "--probabilities": "-b 1", "--proba": "-b 1", "--quiet": "-q",
        "--scores": "--scores", "--decision-values": "--scores", "--metrics": "--metrics", "--spark": "--spark",
        "--no-labels": "--no-labels", "--names": "--names",
    },
    "svm-scale": {
        **COMMON, "--lower": "-l", "--min": "-l", "--upper": "-u", "--max": "-u", "--save": "-s", "--restore": "-r",
    },
    "svm-train": {
        "--solver": "-s", "--type": "-s", "--cost": "-c", "--epsilon": "-e", "--eps": "-e", "--tolerance": "-e",
        "--tol": "-e", "--bias": "-B", "--nu": "-n", "--tube": "-p", "--folds": "-v", "--cross-validation": "-v",
        "--cv": "-v", "--search": "-C", "--quiet": "-q", "--class-weight": "-wLABEL", "--kernel": "-t",
        "--gamma": "-g", "--degree": "-d", "--coef0": "-r", "--cache": "-m", "--jobs": "--threads",
        "--warm-start": "--initial-model", "--no-regularize-bias": "-R", "--time-limit": "--max-seconds",
    },
}  # fmt: skip
LETTERS = {"svm-train": "scpneBRwvCqbiWtgdrmh", "svm-predict": "bq", "svm-scale": "luysr"}


def words_of(command: str) -> dict[str, str]:
    """Likely names of the options of a command, and the option of each."""
    if command != "svm-train":
        return LIKELY_OPTIONS[command]
    from svmtool.cli.arguments.long_options import LONG_OPTIONS

    return {**LIKELY_OPTIONS[command], **{name: name for name in LONG_OPTIONS}}


def unknown(argument: str, command: str, sentence: str = "unknown option") -> str:
    """The message for an unknown option of a command: what was probably meant, or whose option it is."""
    word = argument.partition("=")[0] if argument.startswith("--") else argument[:2]
    start = f"{sentence}: {argument if argument.startswith('--') else word}"
    if not word.startswith("--"):
        others = [name for name in LETTERS if name != command and word[1:] and word[1:] in LETTERS[name]]
        if command == "svm-train" and word == "-h":
            return f"{start}: an option of LIBSVM, whose command line needs -t, -g, -d or -r (-t 2: RBF kernel)"
        return f"{start}: it is an option of {' and '.join(others)}" if others else start
    known = words_of(command)
    if word in known:
        return f"{start}: use {known[word]}"
    others = [name for name in LIKELY_OPTIONS if name != command and word in words_of(name)]
    close = difflib.get_close_matches(word[2:], [name[2:] for name in known], 1, 0.7)
    hints = [f"it is an option of {' and '.join(others)}"] if others else []
    hints += [f"did you mean {known['--' + close[0]]}?"] if close else []
    return f"{start}: {'; '.join(hints)}" if hints else start
