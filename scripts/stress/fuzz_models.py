"""Models through the commands that read them: predict, inspect, export and report, in this process.

A model is trained on random rows of 1 to 17 digits and any magnitude, or a mutation of such a model's file.  Laws:

- each command gives a result or a sentence, and all of them read the model or none;
- P of a trained model's file is the P of its certificate (exact_objective.py);
- a model that is read is finite, and written again it is the same, to the double;
- exported C and JSON have the model's numbers, to the double; a C compiler takes the source without warnings.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
import re
import shutil
import subprocess
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from stress import cases, exact_objective, models
from stress.fuzz_files import mutated
from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel, linear, read
from svmtool.models.linear import LinearModel

BATCH = 50  # models of an attempt
TRAINED_SHARE, COMPILED_SHARE = 0.15, 0.01
SECONDS = "0.1"  # limit of a training
PRINTED = Decimal("5e-9")  # of a certificate's P
LEAST = Decimal(np.finfo(float).tiny)  # below it doubles have fewer digits
KERNELS = ("linear", "polynomial", "rbf", "sigmoid")
NUMBERS = re.compile(r"static const double (\w+)\[\] = \{([^}]*)\}")


class Found(NamedTuple):
    """A breach: the law, the command, what was found, and the model's text."""

    law: str
    command: str
    words: str
    model: bytes


class Trained(NamedTuple):
    """A model's file, and what it was trained on; said: what the command printed on stderr."""

    text: bytes
    data: str
    case: exact_objective.Case
    said: str


def attempt(seed: int, number: int, folder: str, tries: int = BATCH) -> tuple[Counter, list[Found]]:
    """Try `tries` models; counts by origin (trained, mutated) and ending, and breaches."""
    rng, place = random.Random(f"{seed} models-out {number}"), Path(folder)
    counts, found, known = Counter(), [], []
    with _inside(place), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for _ in range(tries):
            if not known or rng.random() < TRAINED_SHARE:
                trained, words = _train(rng, place)
                if trained is None:
                    counts["trained", "breach" if words else "refused"] += 1
                    found += [Found("a result or a sentence", "train", words, b"")] if words else []
                    continue
                known.append(trained)
                breaches = _as_certified(trained)
                origin, data = "trained", trained.data
            else:
                trained = rng.choice(known)
                (place / "m").write_bytes(mutated(rng, trained.text))
                breaches, origin, data = [], "mutated", trained.data
            (place / "t").write_text(data)
            ending, more = check(place, rng.random() < COMPILED_SHARE)
            breaches += more
            counts[origin, "breach" if breaches else ending] += 1
            found += [b._replace(model=(place / "m").read_bytes()) for b in breaches]
    return counts, found


@contextlib.contextmanager
def _inside(place: Path) -> Iterator[None]:
    """Make a folder the current one."""
    before = os.getcwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def rows_text(rng: random.Random, kind: str) -> str:
    """Some rows with labels or targets that follow the first feature."""
    n, d, digits = rng.randint(4, 14), rng.randint(1, 3), rng.randint(1, 17)
    scale = 10.0 ** rng.choice((0, 0, 0, rng.randint(-9, 9), rng.randint(-300, 150)))
    shift = rng.choice((0.0, 0.0, 3.0, 1e3, 1e6, 1e9, 1e13))
    lines = []
    for i in range(n):
        x = [float(f"{scale * (shift + rng.gauss(0, 1)):.{digits}g}") for _ in range(d)]
        x = [rng.choice((0.0, -0.0)) if rng.random() < 0.1 else v for v in x]
        label = f"{rng.gauss(0, 1):.3g}" if kind == "regression" else str(i % 2 or rng.choice((1, 2, 3)))
        lines.append(" ".join([label, *(f"{j}:{v!r}" for j, v in enumerate(x, 1))]))
    return "\n".join(lines) + "\n"


def _train(rng: random.Random, place: Path) -> tuple[Trained | None, str]:
    """Train on random rows; None where they are refused, and what is wrong where an error is no sentence."""
    from svmtool.cli.train import main

    row = rng.choice([*registry.rows_of(kernel=False), *registry.rows_of(kernel=True)])
    data = rows_text(rng, row.kind)
    (place / "d").write_text(data)
    argv = ["-s", str(row.number), *cases.method_of(row)]
    argv += ["--max-seconds", SECONDS]  # without -q, which would hide warnings
    if row.kernel:
        argv += ["-t", str(rng.randrange(4)), "-g", f"{10.0 ** rng.randint(-9, 1):g}"]
    supported, case = registry.supported_options(row), exact_objective.Case(row)
    if "-c" in supported and row.word != "nu_svc" and rng.random() < 0.5:
        case = case._replace(C=10.0 ** rng.randint(-3, 3))
        argv += ["-c", f"{case.C:g}"]
    if "-b" in supported and row.kind == "classification" and rng.random() < 0.2:
        argv += ["-b", "1"]
    (place / "m").unlink(missing_ok=True)
    status, out, err, fault = _run(lambda: main([*argv, "d", "m"]))
    if fault or (status != 0 and (place / "m").exists()):
        return None, fault or f"status {status} and a model"
    if not (place / "m").exists():
        return None, "" if err.strip() else f"status {status} without a word"
    return Trained((place / "m").read_bytes(), data, case, err), ""


def _as_certified(trained: Trained) -> list[Found]:
    """Check P of the file.  nu-SVC without a margin has no certificate."""
    text = trained.text.decode()
    model = models.parse(text)
    certificate = model.certificate
    if certificate is None or not np.isfinite(certificate.primal) or model.not_finite():
        return []
    if "finds no margin" in trained.said:
        return []
    value, rounding = exact_objective.P(trained.case, trained.data, text)
    if abs(value - Decimal(certificate.primal)) <= PRINTED * abs(value) + rounding + LEAST:
        return []
    words = f"P = {value:.12g} of the file, {certificate.primal:.9g} certified (rounding {rounding:.2g})"
    return [Found("the certificate is about the file", "train", f"{text.splitlines()[-3]}: {words}", b"")]


def _run(work: Callable[[], object]) -> tuple[object, str, str, str]:
    """Call a command: its status, what it prints, and what is wrong if it raises anything but its own errors."""
    out, err, status, fault = io.StringIO(), io.StringIO(), 1, ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = work() or 0
        except (SvmtoolError, click.ClickException) as e:
            print(e, file=err)
            fault = "" if str(e).strip() else f"{type(e).__name__} without a word"
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            fault = f"{type(e).__name__}: {e}"[:300]
    return status, out.getvalue(), err.getvalue(), fault


def check(place: Path, compiled: bool) -> tuple[str, list[Found]]:
    """Put the model `m` through the commands, on the rows `t`; the ending, and breaches."""
    from svmtool.cli.predict.command import main as predict
    from svmtool.cli.umbrella.export import command as export
    from svmtool.cli.umbrella.inspect import command as inspect
    from svmtool.cli.umbrella.report import command as report

    jobs: dict[str, Callable[[], object]] = {
        "predict": lambda: predict(["t", "m", "o"]),
        "predict --scores": lambda: predict(["--scores", "z", "t", "m", "o"]),
        "inspect": lambda: inspect.main(["m"], standalone_mode=False),
        "export --json": lambda: export.main(["m", "--json", "-o", "m.json"], standalone_mode=False),
        "export --c": lambda: export.main(["m", "--c", "-o", "m.c"], standalone_mode=False),
        "export --onnx": lambda: export.main(["m", "--onnx", "-o", "m.onnx"], standalone_mode=False),
        "report": lambda: report.main(["m", "t", "-o", "m.html"], standalone_mode=False),
    }
    for name in ("m.json", "m.c"):
        (place / name).unlink(missing_ok=True)
    model, found, refusals = None, [], {}
    try:
        model = read("m")
    except SvmtoolError:
        pass
    except Exception as e:
        found.append(Found("a result or a sentence", "load", f"{type(e).__name__}: {e}"[:300], b""))
    for name, work in jobs.items():
        status, out, err, fault = _run(work)
        if fault or (status != 0 and not err.strip()) or "Traceback" in err:
            found.append(Found("a result or a sentence", name, fault or f"status {status}: {err[-300:]}", b""))
        refusals[name] = status != 0 or out.startswith("m\n  rows ")  # what is left may be a data file
    if model is None:
        if not all(refusals.values()):
            read_by = [name for name, refused in refusals.items() if not refused]
            found.append(Found("all read a model or none", ", ".join(read_by), "a model that others refuse", b""))
        return "refused", found
    found += _same_again(model)
    found += _exported(model, place, refusals, compiled)
    return "predicts" if not refusals["predict"] else "read", found


def _same_again(model) -> list[Found]:
    """Check that the model is finite, and the same after writing and reading."""
    form, found = (linear if isinstance(model, LinearModel) else kernel), []
    for name, numbers in _numbers(model).items():
        if not np.all(np.isfinite(numbers)) and not (name == "rho" and form is linear and model.kind == "one-class"):
            found.append(Found("a model is finite", "load", f"{name}: {numbers[~np.isfinite(numbers)][0]}", b""))
    try:
        form.write("again", model)
        back = form.read("again")
    except SvmtoolError as e:
        return [*found, Found("what is read can be written", "load", str(e)[:300], b"")]
    for (name, old), new in zip(_numbers(model).items(), _numbers(back).values(), strict=True):
        if not np.array_equal(old.view(np.int64), new.view(np.int64)):
            at = np.flatnonzero(old.view(np.int64) != new.view(np.int64))[0]
            found.append(Found("the same double again", "save", f"{name}: {old[at]!r} became {new[at]!r}", b""))
    return found


def _numbers(model) -> dict[str, np.ndarray]:
    names = ("bias", "rho", "W") if isinstance(model, LinearModel) else ("rho", "coef", "values", "probA", "probB")
    made = {name: getattr(model, name) for name in names}
    return {name: np.array(x, float).ravel().copy() for name, x in made.items() if x is not None}


def _exported(model, place: Path, refusals: dict[str, bool], compiled: bool) -> list[Found]:
    """Check the numbers of the exported files."""
    found, flat = [], isinstance(model, LinearModel)
    wanted = _numbers(model)
    if not refusals["export --json"]:
        try:
            content = json.loads((place / "m.json").read_text(), parse_constant=_refuse)
        except ValueError as e:
            return [Found("JSON", "export --json", str(e), b"")]
        if flat:
            got = {"W": [*content["weights"], *([] if content["bias"] is None else [content["bias_weights"]])]}
        else:
            vectors = content["support_vectors"]["values"]
            got = {"coef": content["coefficients"], "values": vectors, "rho": content["rho"]}
        found += _apart(wanted, got, "export --json")
    if not refusals["export --c"]:
        source = (place / "m.c").read_text()
        arrays = {name: [float(t) for t in body.split(",") if t.strip()] for name, body in NUMBERS.findall(source)}
        names = {"weights": "W"} if flat else {"coefficients": "coef", "values": "values", "rho": "rho"}
        wanted = {**wanted, **({"W": model.W[: model.n_features].ravel()} if flat else {})}
        found += _apart(
            wanted, {ours: arrays[theirs] for theirs, ours in names.items() if wanted[ours].size}, "export --c"
        )
        if not all(map(math.isfinite, (x for numbers in arrays.values() for x in numbers))):
            found.append(Found("C", "export --c", "a number that is not finite", b""))
        if compiled and shutil.which("cc"):
            flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
            done = subprocess.run(["cc", *flags, "m.c"], capture_output=True, text=True, timeout=60)
            if done.returncode:
                found.append(Found("C", "export --c", done.stderr[:300], b""))
    return found


def _apart(wanted: dict[str, np.ndarray], got: dict[str, list], command: str) -> list[Found]:
    differing = [name for name, x in got.items() if not np.array_equal(np.array(x, float).ravel(), wanted[name])]
    return [Found("the same double exported", command, ", ".join(differing), b"")] if differing else []


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")
