"""`svmtool audit [options of svm-train] MODEL... DATA`: how far models of any program are from the optimum."""

from __future__ import annotations

from typing import Any

import click

from svmtool.cli.arguments import linear
from svmtool.cli.arguments.scan import VALUELESS
from svmtool.cli.umbrella import FILE, stdout_line
from svmtool.errors import SvmtoolError
from svmtool.formats.svmlight.inputs import read_weights
from svmtool.options.train import LONG
from svmtool.params import KERNEL_NAMES, KernelChoice

TAKEN = {  # options of svm-train, and the fields of their values
    "-s": "solver", "-c": "C", "-p": "p", "-n": "nu", "-B": "bias", "-R": "regularize_bias", "-w": "class_weights",
    "--loss-power": "loss_power", "--loss": "loss", "--balanced": "balanced", "-t": "kernel_type", "-d": "degree",
    "-g": "gamma", "-r": "coef0", "--weights": "weights", "--gap": "gap", "--max-seconds": "max_seconds",
    "--threads": "threads",
}  # fmt: skip
IGNORED = ("-q", "--method")  # the engine is what finds a bound


@click.command(
    "audit", short_help="Say how far a model is from the optimum.",
    context_settings={"ignore_unknown_options": True},
)  # fmt: skip
@click.option("--test", metavar="FILE", type=FILE, help="Count the labels of these rows, too.")
@click.option("--json", "as_json", is_flag=True, help="Print all numbers as JSON, a list of objects.")
@click.argument("words", metavar="[OPTIONS OF SVM-TRAIN] MODEL... DATA", nargs=-1, type=click.UNPROCESSED)
def command(test: str | None, as_json: bool, words: tuple[str, ...]) -> None:
    """Say how far models are from the optimum of their problem on DATA, their training rows.

    A MODEL is a file of svm-train, LIBLINEAR, LIBSVM or Vowpal Wabbit (--readable_model, --predict_only_model).  The
    engine solves the problem to --gap (1e-6), in --max-seconds, and its certificate has a lower bound of the minimum.
    The options -s, -c, -p, -n, -B, -R and -w state what the model's file does not: files of other programs have no -c.
    Several models make a table.
    """
    from svmtool import api, progress
    from svmtool.auditing import audit

    options, files = split(list(words))
    if len(files) < 2:
        raise SvmtoolError("svmtool audit: name one or more model files, then the data file")
    *models, data = files
    try:
        with progress.shown():
            keywords, weights = stated([*options, data], any(map(has_kernel, models)))
            X, y = api.read_svmlight(data)
            if weights is not None:
                keywords["sample_weight"] = read_weights(weights, len(y))
            rows = None if test is None else (api.read_svmlight(test)[0], None)
            found = audit({path: path for path in models}, X, y, test=rows, **keywords)
    except OSError as e:
        raise SvmtoolError(f"can't open {e.filename}: {e.strerror}") from None
    except (TypeError, ValueError) as e:
        raise SvmtoolError(str(e)) from None
    for line in (found.json() if as_json else str(found if len(models) > 1 else found[0])).splitlines():
        stdout_line(line)


def split(words: list[str]) -> tuple[list[str], list[str]]:
    """The options of svm-train with their values, and the files, which may come before them."""
    options: list[str] = []
    files: list[str] = []
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            files.append(word)
            continue
        options.append(word)
        name = word.partition("=")[0]
        alone = LONG[name].kind is None or name != word if name in LONG else word[1] in VALUELESS
        if not alone:
            if not words:
                raise SvmtoolError(f"svmtool audit: {word} needs a value")
            options.append(words.pop(0))
    return options, files


def has_kernel(path: str) -> bool:
    """Whether a model's file is LIBSVM's."""
    with open(path, "rb") as file:
        return file.read(8) == b"svm_type"


def stated(argv: list[str], kernel: bool) -> tuple[dict[str, Any], str | None]:
    """Keywords of `audit` for the options given, and the file of --weights; SvmtoolError for options of other use."""
    parsed = linear.parse(argv, libsvm=kernel)
    s, request = parsed.settings, parsed.request
    for option in request.given:
        if option not in TAKEN and option not in IGNORED:
            raise SvmtoolError(f"svmtool audit has no use for {option}: it takes {', '.join(TAKEN)}")
    values = {**s.problem._asdict(), **(s.problem.kernel or KernelChoice())._asdict(), **s.stopping._asdict()}
    values.update(threads=s.run.threads, loss=s.run.options.loss)
    found = {name: values[name] for option, name in TAKEN.items() if name in values and option in request.given}
    found.pop("class_weights", None)
    if "solver" in found and s.problem.kernel is not None:
        found["solver"] = s.row.name.replace("_", "-")
    if "kernel_type" in found:
        found["kernel"] = KERNEL_NAMES[found.pop("kernel_type")]
    if s.problem.class_weights:
        weights: dict[int, float] = {}
        for label, factor in s.problem.class_weights:
            weights[label] = weights.get(label, 1.0) * factor
        found["class_weight"] = weights
    if request.balanced:
        found["class_weight"] = "balanced"
    return found, request.weights
