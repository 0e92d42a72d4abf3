"""Messages of the commands in the words of Python: keywords of `fit`, or an estimator's parameters and classes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from svmtool.params import KERNEL_NAMES

# The keyword of each option whose name is another.
KEYWORDS = {
    "-c": "C", "-p": "p", "-n": "nu", "-e": "eps", "-w": "class_weight", "-B": "bias", "-R": "regularize_bias",
    "-C": "search", "-g": "gamma", "-r": "coef0", "-d": "degree", "-m": "cache_mb", "-s": "solver", "-t": "kernel",
    "-v": "folds", "-b": "probability", "--weights": "sample_weight", "--initial-model": "init",
    "--no-homotopy": "homotopy",
}  # fmt: skip
FLAGS = {"--loo": "loo=True", "--paper-form": "paper_form=True", "--no-homotopy": "homotopy=False"}
# Phrases of the commands, and what they are in Python.
PHRASES = (
    (r"^(ERROR|WARNING): ", ""),
    (r" \(svm-scale\)", ""),
    (r"To not regularize bias, must specify -B 1 along with -R", "regularize_bias=False needs bias=1"),
    (r"classifiers that svm-train -b 1 has trained", "classifiers that were trained with probability=True"),
    (r"^class label (-?\d+) specified in weight is not found", r"class_weight has the label \1, which y does not have"),
    (r"raise -n, or use -s 0", "raise -n, or use solver='svc'"),
    (r"-w(-?\d+) is", r"class_weight of \1 is"),
    (r"\b(the )?training file\b", "X"),
)
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|-[a-zA-Z])(?![\w-])( -?\d[\d.]*(e[+-]?\d+)?(?![\w.]*[\w-]))?")


def in_keywords(text: str, names: Mapping[str, str] | None = None) -> str:
    """A message of the commands with keywords in place of options; names: other names of keywords."""
    for pattern, words in PHRASES:
        text = re.sub(pattern, words, text)

    def keyword(found: re.Match) -> str:
        option, value = found[1], (found[2] or "").strip()
        if option in FLAGS:
            return FLAGS[option] + (found[2] or "")
        name = KEYWORDS.get(option) or (option[2:].replace("-", "_") if option.startswith("--") else option)
        name = (names or {}).get(name, name)
        if not value or name == "solver":
            return name + (found[2] or "")
        if name == "kernel":
            return f"kernel={KERNEL_NAMES[int(value)]!r}"
        return f"{name}={bool(int(value))}" if name == "probability" else f"{name}={value}"

    return re.sub(r"(kernel='(\w+)') \(\2\)", r"\1", _OPTION.sub(keyword, text))
