"""Models through the commands that read them: predict, inspect, export and report, in this process.

A model is trained on random rows of 1 to 17 digits and any magnitude, or a mutation of such a model's file.  Laws:

- each command gives a result or a sentence, and all of them read the model or none;
- P of a trained model's file is the P of its certificate (objective.py, in 80 digits);
- a model that is read is finite, and written again it is the same, to the double;
- exported C and JSON have the model's numbers, to the double; a C compiler takes the source without warnings.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from stress import cases, models, objective
from stress.fuzz_shared import Breached, Said, fresh, inside, mutated, said, where
from svmtool import registry
from svmtool.errors import SvmtoolError
from svmtool.formats.models import kernel, linear, read
from svmtool.models.linear import LinearModel

TRAINED_SHARE, COMPILED_SHARE = 0.15, 0.01
KNOWN = 25  # models to mutate
SECONDS = "0.1"  # limit of a training
PRINTED = Decimal("5e-9")  # of a certificate's P
LEAST = Decimal(np.finfo(float).tiny)  # below it doubles have fewer digits
NUMBERS = re.compile(r"static const double (\w+)\[\] = \{([^}]*)\}")
SAID = "a result or a sentence"


def model(rng: random.Random, folder: Path) -> tuple[str, str]:
    """Train a model, or mutate a known one, and put it through the commands."""
    if rng.random() < TRAINED_SHARE:
        what, (text, data, problem, err) = "trained", trained(rng, folder)
        found = _as_certified(text, data, problem, err) if text else []
    else:
        what, (text, data, *_) = "mutated", _known(rng.randrange(KNOWN), folder)
        text, found = mutated(rng, text), []
    if not text:
        return what, "refused"
    place = fresh(folder, "try")
    (place / "m").write_bytes(text)
    (place / "t").write_text(data)
    with inside(place):
        ending, more = _put_through(rng.random() < COMPILED_SHARE)
    if found + more:
        raise Breached(what, *found, *more)
    return what, ending


@lru_cache(KNOWN)
def _known(k: int, folder: Path) -> tuple[bytes, str]:
    """The k-th model to mutate, and its rows."""
    rng = random.Random(k)
    while True:
        text, data, *_ = trained(rng, folder)
        if text:
            return text, data


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


def trained(rng: random.Random, folder: Path) -> tuple[bytes, str, objective.Problem, str]:
    """A model's file, empty where the rows are refused, its rows and problem, and what the command printed."""
    from svmtool.cli.train import main

    row = rng.choice([*registry.rows_of(kernel=False), *registry.rows_of(kernel=True)])
    data, fields = rows_text(rng, row.kind), {}
    argv = ["-s", str(row.number), *cases.method_of(row)]
    argv += ["--max-seconds", SECONDS]  # without -q, which would hide warnings
    if row.kernel:
        argv += ["-t", str(rng.randrange(4)), "-g", f"{10.0 ** rng.randint(-9, 1):g}"]
    supported = registry.supported_options(row)
    if "-c" in supported and row.word != "nu_svc" and rng.random() < 0.5:
        fields = {"C": 10.0 ** rng.randint(-3, 3)}
        argv += ["-c", f"{fields['C']:g}"]
    if "-b" in supported and row.kind == "classification" and rng.random() < 0.2:
        argv += ["-b", "1"]
    place = fresh(folder, "made")
    (place / "d").write_text(data)
    with inside(place):
        done = said(lambda: main([*argv, "d", "m"]))
    made = (place / "m").exists()
    if not done.sentence or made != (done.status == 0):
        raise Breached("trained", (SAID, f"svm-train {' '.join(argv)}: {done}"[:500]))
    return (place / "m").read_bytes() if made else b"", data, objective.problem_of(row, **fields), done.err


def _as_certified(text: bytes, data: str, problem: objective.Problem, err: str) -> list[tuple[str, str]]:
    """Check P of the file.  nu-SVC without a margin has no certificate."""
    known = models.parse(text.decode())
    certificate = known.certificate
    if certificate is None or not np.isfinite(certificate.primal) or known.not_finite() or "finds no margin" in err:
        return []
    value, rounding = objective.exact(problem, data, text.decode())
    if abs(value - Decimal(certificate.primal)) <= PRINTED * abs(value) + rounding + LEAST:
        return []
    words = f"P = {value:.12g} of the file, {certificate.primal:.9g} certified (rounding {rounding:.2g})"
    return [("the certificate is about the file", words)]


def _put_through(compiled: bool) -> tuple[str, list[tuple[str, str]]]:
    """Put the model `m` through the commands, on the rows `t`; the ending, and breaches."""
    from svmtool.cli.predict.command import main as predict
    from svmtool.cli.umbrella.group import main

    lines = {"inspect": "inspect m", "report": "report m t -o m.html"}
    lines |= {f"export --{kind}": f"export m --{kind} -o m.{kind}" for kind in ("json", "c", "onnx")}
    jobs: dict[str, Callable[[], object]] = {
        "predict": lambda: predict(["t", "m", "o"]),
        "predict --scores": lambda: predict(["--scores", "z", "t", "m", "o"]),
        **{name: partial(main, words.split()) for name, words in lines.items()},
    }
    known, found = None, []
    try:
        known = read("m")
    except SvmtoolError:
        pass
    except Exception as e:
        found.append((SAID, f"load: {where(e)}"))
    done: dict[str, Said] = {name: said(work) for name, work in jobs.items()}
    found += [(SAID, f"{name}: {one}"[:500]) for name, one in done.items() if not one.sentence]
    # a file that is no model may be a data file to inspect
    reads = [name for name, one in done.items() if one.status == 0 and not one.out.startswith("m\n  rows ")]
    if known is None:
        found += [("all read a model or none", f"{', '.join(reads)} read what others refuse")] if reads else []
        return "refused", found
    found += _same_again(known) + _exported(known, reads, compiled)
    return "predicts" if "predict" in reads else "read", found


def _numbers(model) -> dict[str, np.ndarray]:
    names = ("bias", "rho", "W") if isinstance(model, LinearModel) else ("rho", "coef", "values", "probA", "probB")
    made = {name: getattr(model, name) for name in names}
    return {name: np.array(x, float).ravel().copy() for name, x in made.items() if x is not None}


def _same_again(model) -> list[tuple[str, str]]:
    """Check that the model is finite, and the same after writing and reading."""
    form, found, numbers = (linear if isinstance(model, LinearModel) else kernel), [], _numbers(model)
    for name, x in numbers.items():
        if not np.all(np.isfinite(x)) and not (name == "rho" and form is linear and model.kind == "one-class"):
            found.append(("a model is finite", f"{name}: {x[~np.isfinite(x)][0]}"))
    try:
        form.write("again", model)
        back = _numbers(form.read("again"))
    except SvmtoolError as e:
        return [*found, ("what is read can be written", str(e)[:300])]
    changed = [name for name, x in numbers.items() if x.tobytes() != back[name].tobytes()]
    return [*found, *(("the same double again", f"{n}: {numbers[n]} became {back[n]}"[:300]) for n in changed)]


def _exported(model, reads: list[str], compiled: bool) -> list[tuple[str, str]]:
    """Check the numbers of the exported files."""
    found, flat, wanted = [], isinstance(model, LinearModel), _numbers(model)
    if "export --json" in reads:
        content = json.loads(Path("m.json").read_text())
        if flat:
            got = {"W": [*content["weights"], *([] if content["bias"] is None else [content["bias_weights"]])]}
        else:
            got = {"coef": content["coefficients"], "values": content["support_vectors"]["values"]}
            got["rho"] = content["rho"]
        found += _apart(wanted, got, "JSON")
    if "export --c" in reads:
        arrays = {n: [float(t) for t in x.split(",") if t.strip()] for n, x in NUMBERS.findall(Path("m.c").read_text())}
        names = {"weights": "W"} if flat else {"coefficients": "coef", "values": "values", "rho": "rho"}
        wanted |= {"W": model.W[: model.n_features].ravel()} if flat else {}
        found += _apart(wanted, {ours: arrays[theirs] for theirs, ours in names.items() if wanted[ours].size}, "C")
        found += compiles("m.c") if compiled else []
    return found


def compiles(path: str) -> list[tuple[str, str]]:
    """Check that a C compiler, if there is one, takes a source without warnings."""
    if not shutil.which("cc"):
        return []
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(["cc", *flags, path], capture_output=True, text=True, errors="replace", timeout=60)
    return [("C compiles", done.stderr[:500])] if done.returncode else []


def _apart(wanted: dict[str, np.ndarray], got: dict[str, list], form: str) -> list[tuple[str, str]]:
    differing = [name for name, x in got.items() if not np.array_equal(np.array(x, float).ravel(), wanted[name])]
    return [("the same double exported", f"{form}: {', '.join(differing)}")] if differing else []
