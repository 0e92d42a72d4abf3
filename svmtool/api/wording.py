"""Messages of the commands in the words of Python: keywords of `fit`, or an estimator's parameters and classes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from svmtool.options.train import BY_KEYWORD
from svmtool.params import KERNEL_NAMES

# The keyword of each option; of others it has the option's name.
KEYWORDS = {option.name: keyword for keyword, option in BY_KEYWORD.items()} | {"-b": "probability"}
FLAGS = {"--loo": "loo=True", "--paper-form": "paper_form=True", "--no-homotopy": "homotopy=False"}
FLAGS |= {f"--{form}": f"form={form!r}" for form in ("c", "json", "onnx")}
# Phrases of the commands, and what they are in Python.
PHRASES = (
    (r"^(ERROR|WARNING): ", ""),
    (r" \(svm-(scale|predict)[^)]*\)", ""),
    (r"To not regularize bias, must specify -B 1 along with -R", "regularize_bias=False needs bias=1"),
    (r"classifiers that svm-train -b 1 has trained", "classifiers that were trained with probability=True"),
    (r"^n-fold cross validation: n must", "folds: n must"),
    (r"^class label (-?\d+) specified in weight is not found", r"class_weight has the label \1, which y does not have"),
    (r"raise -n, or use -s 0", "raise -n, or use solver='svc'"),
    (r"-w(-?\d+) is", r"class_weight of \1 is"),
    (r"\b(the )?training file\b", "X"),
    (r"--method (paper|fast)\b", r"method='\1'"),
)
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z])(?![\w-])( -?\d[\d.]*(e[+-]?\d+)?(?![\w.]*[\w-]))?")


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


# Parameters of estimators for keywords, where an estimator has them.
PARAMETERS = (
    ("eps", "tol"), ("gap", "tol"), ("gap", "theta"), ("cache_mb", "cache_size"), ("p", "epsilon"),
    ("threads", "n_jobs"),
)  # fmt: skip
OF_ESTIMATORS = (
    (r"lower -e or use --gap", "lower -e"),
    (r"use --gap [\d.e+-]+ to continue", "lower tol to continue"),
    (r", or use -s 0\b|, or use solver='svc'", ", or use SVC"),
    (r" \(use (-s|solver) \d+\)", ""),
    (r"(?<![\w-])(-s|solver) \d+ \([\w-]+\)", "this problem"),
)
_RULES = re.compile(r"(?<![\w-])(?:-e|--gap|--theta)\b(?: or (?:--gap|--theta)\b)*")
_COST = re.compile(r"(,| or|, or) (choose a (smaller|larger)|lower|raise) (-c|C)\b")
_CLASSES = re.compile(r"\b(class label) (\d+)|\b(classes) (\d+) and (\d+)(?=:)")


def in_parameters(text: str, known: Collection[str], classes: Sequence[Any] | None) -> str:
    """A message of the commands, or of `fit`, for an estimator that has these parameters and numbers these classes."""
    for pattern, words in OF_ESTIMATORS:
        text = re.sub(pattern, words, text)
    text = _RULES.sub("theta" if "theta" in known else "tol", text)
    if "C" not in known:
        text = _COST.sub("", text)
    names = {keyword: name for keyword, name in PARAMETERS if name in known}
    text = in_keywords(text, names)
    text = re.sub(r"^(\w+)(?= (==|<|must|is|contains|needs) )", lambda m: names.get(m[1], m[1]), text)
    return text if classes is None else in_classes(text, classes)


def in_classes(text: str, classes: Sequence[Any]) -> str:
    """A message with the classes in place of the labels 0, 1, .. that stand for them."""

    def named(found: re.Match) -> str:
        numbers = [int(number) for number in (found[2] or found[4], found[5]) if number]
        if max(numbers) >= len(classes):
            return found[0]
        return f"{'class' if found[1] else 'classes'} {' and '.join(repr(classes[k]) for k in numbers)}"

    return _CLASSES.sub(named, text)
