"""The benchmark's part over all sets: order, limits, file of results and evaluation."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from bench_context import context

import bench
import docs_tables
from bench_parts import all_sets, all_sets_pair, bars, distribution
from bench_parts.all_sets_pair import DataSet, Pair
from bench_parts.measure import CommandFailed, OverTimeError, Sample, environment, run_once

ON = {"processor": "P", "cores": 2, "limit": 60.0, "code": "c", "liblinear": "l"}


def run(seconds, ended="yes", peak=50.0):
    return {"seconds": seconds, "ended": ended, "peak_mb": peak, "times": 1}


def row(name, solver=2, C=1.0, mb=5.0, ours=1.0, theirs=2.0, gap=1.0, objective=None, ends=()):
    runs = {"ours": run(ours), "theirs": run(theirs, peak=10.0), "gap": run(gap)}
    for tool, ended in dict(ends).items():
        runs[tool]["ended"] = ended
    return {
        "set": name, "solver": solver, "C": C, "mb": mb, "nonzeros": 1000, "date": "2026-01-01", "on": ON, "runs": runs,
        "objective": objective or {"left_out": "none"},
    }  # fmt: skip


def evaluate(*rows):
    return distribution.Evaluation({"sets": ["a", "b"], "pairs": 40, "on": ON}, list(rows))


def test_the_order_is_random_and_another_set_does_not_change_it():
    few = [Pair(name, s, C) for name in "ab" for s in (1, 2, 3) for C in bars.COSTS]
    more = few + [Pair("c", s, C) for s in (1, 2, 3) for C in bars.COSTS]
    order = all_sets.in_order(few, 1)
    assert sorted(order) == sorted(few) and order != few and order != all_sets.in_order(few, 2)
    assert [pair for pair in all_sets.in_order(more[::-1], 1) if pair.name != "c"] == order


def test_numbers_fit_labels():
    def solvers(**what):
        found = all_sets.pairs_of(DataSet("a", "a", 1.0, 10, 1, **what))
        assert len(found) == 3 * len({pair.solver for pair in found})
        return {pair.solver for pair in found}

    assert solvers(classes=True, numbers=False) == set(range(8))
    assert solvers(classes=False, numbers=True) == {11, 12, 13}
    assert solvers(classes=True, numbers=True) == {*range(8), 11, 12, 13}


def test_the_catalogue_tells_values_from_classes(tmp_path):
    """Five different whole numbers look like classes; the catalogue says they are targets."""
    folder = tmp_path / "sets"
    folder.mkdir()
    for name in ("ages", "stars", "kinds"):
        (folder / name).write_text("".join(f"{k % 5} 1:{k}\n" for k in range(20)))
    (folder / "real").write_text("".join(f"{k}.5 1:{k}\n" for k in range(20)))
    (folder / "broken").write_text("1 1:x\n")
    (folder / "half.xz").write_bytes(b"\xfd7zXZ")
    (folder / "CATALOG.tsv").write_text(
        'name\tclasses\tnote\nages\tregression\t\nstars\t5\tclasses, "or regression\nkinds\t5\tplain\n'
    )
    found = all_sets.sets_of(context(tmp_path, folder))
    kinds = {name: (data.classes, data.numbers, data.columns) for name, data in found.items()}
    assert kinds == {"ages": (False, True, 5), "stars": (True, True, 5), "kinds": (True, False, 5),
                     "real": (False, True, 20)}  # fmt: skip


def test_time_to_an_objective_is_the_moment_when_all_problems_together_have_it(tmp_path):
    log = tmp_path / "log"
    records = [(0.3, 1, 4.0), (0.1, 1, 10.0), (0.2, 2, 10.0), (0.5, 2, 5.0), (0.4, 2, 20.0), (0.6, 1, None)]
    lines = [json.dumps({"seconds": t, "label": k, "objective": v}) for t, k, v in records]
    log.write_text("\n".join(lines) + '\n{"seconds": 0.7, "la')
    assert all_sets_pair.seconds_to(log, 14.0, 2) == 0.3
    assert all_sets_pair.seconds_to(log, 9.0, 2) == 0.5
    assert all_sets_pair.seconds_to(log, 8.9, 2) is None
    assert all_sets_pair.seconds_to(log, 100.0, 3) is None  # one has not begun
    assert all_sets_pair.seconds_to(tmp_path / "none", 1.0, 1) is None


def test_peak_memory_is_the_commands_own(tmp_path):
    held = np.ones(20_000_000)  # 160 MB here
    sample = Sample()
    run_once(["true"], sample, environment())
    assert 0.0 < sample.peak_mb < 50.0 < held.nbytes / 2**20
    run_once([sys.executable, "-c", "b'x' * 100_000_000"], sample, environment())
    assert 95.0 < sample.peak_mb < 150.0


def test_long_runs_are_ended_and_failures_explained(tmp_path):
    sample = Sample()
    with pytest.raises(OverTimeError):
        run_once(["sleep", "60"], sample, environment(), limit=0.2)
    assert 0.2 <= sample.seconds[0] < 30.0
    with pytest.raises(CommandFailed, match="alas") as failed:
        run_once(["sh", "-c", "echo alas >&2; exit 3"], sample, environment(), limit=60.0)
    assert failed.value.status == 3
    with pytest.raises(CommandFailed, match="no-such-program"):
        run_once(["no-such-program"], sample, environment())


def test_sequence_of_runs_stops_at_a_failure(monkeypatch):
    monkeypatch.setattr(all_sets_pair, "MAX_RUNS", 2)
    jobs = {"good": ["true"], "slow": ["sleep", "60"], "bad": ["false"], "short": ["sh", "-c", "exit 2"]}
    runs = all_sets_pair.in_turn(jobs, 0.3)
    assert {name: (r["ended"], r["times"]) for name, r in runs.items()} == {
        "good": ("yes", 2), "slow": ("over", 1), "bad": ("failed", 1), "short": ("short", 1),
    }  # fmt: skip
    monkeypatch.setattr(all_sets_pair, "ENOUGH_SECONDS", 0.0)
    assert all_sets_pair.in_turn({"good": ["true"]}, 60.0)["good"]["times"] == 1


def test_what_does_not_end_counts_with_the_limit_and_is_named():
    ends = evaluate(
        row("a", ours=1.0, theirs=60.1, ends={"theirs": "over"}),
        row("b", C=100.0, ours=60.0, theirs=3.0, ends={"ours": "over"}),
    )
    assert ends.large.values == [60.1, pytest.approx(0.05)]
    text = ends.text()
    assert "LIBLINEAR does not end and counts with 60 s: 1 (`svm-train -s 2 -c 1 a`)." in text
    assert "Ours does not end and counts with 60 s: 1 (`svm-train -s 2 -c 100 b`)." in text


def test_uninformative_rows_are_excluded_and_named():
    neither = row("a", ours=60.0, theirs=60.0, ends={"ours": "over", "theirs": "over"})
    broken, theirs = row("b", ours=0.1, ends={"ours": "failed"}), row("c", ends={"theirs": "failed"})
    unmeasured = {key: row("d")[key] for key in ("set", "solver", "C", "date", "on")} | {"failed": "alas"}
    found = evaluate(neither, broken, theirs, unmeasured)
    assert found.large.values == [pytest.approx(2.0 / 60.0)]  # ours failed: as slow as it may be
    text = found.text()
    for words in ("Neither ends", "Ours fails", "LIBLINEAR fails", "Could not be measured"):
        assert words in text
    assert text.startswith("4 of 40 pairs")


def test_distributions_and_bars():
    reached = {"theirs": 3.0, "ours": 1.0, "target": 1.0, "e": 0.01, "with": []}
    large = row("a", C=0.01, theirs=4.0, objective=reached)
    large["runs"]["ours"]["peak_mb"] = 100.0
    found = evaluate(
        large,
        row("a", C=1.0, theirs=1.0, objective={**reached, "ours": None}),
        row("b", C=100.0, ours=4.0, theirs=2.0, gap=40.0),
        row("b", mb=2.0, ours=4.0, theirs=1.0),
        row("c", mb=0.1, ours=10.0, theirs=1.0),
        row("d", solver=4, mb=0.1, theirs=1.0, gap=50.0),
        row("e", mb=0.1, theirs=1.0, gap=0.5, ends={"gap": "short"}),  # ended soon, without a certificate
    )
    assert found.large.mean == pytest.approx(2.0 ** (1.0 / 3.0))
    assert "files from 3 MB | 3 | 1.26 | 33 % | 33 % | 0.5 | `svm-train -s 2 -c 100 b` |" in found.text()
    bar = {text: value for text, value, _, _ in found.bars()}
    assert bar["all sets from 3 MB, C = 0.01"] == pytest.approx(4.0)
    assert bar["all sets from 3 MB, share of 1 and more"] == pytest.approx(2 / 3)
    assert bar["all sets from 3 MB, worst"] == 0.5 and bar["all sets from 1 MB to 3 MB, worst"] == 0.25
    assert found.objective.values == [3.0, pytest.approx(3.0 / 60.0)]
    assert bar["share certified within 30 s"] == pytest.approx(4 / 6)  # -s 4 is not among the problems
    allowed = 10.0 + 60.0 + 1.5 * 12 * 1000 / 2**20
    assert bar["MB above LIBLINEAR's and what is allowed, worst"] == pytest.approx(100.0 - allowed)
    assert math.isnan({text: value for text, value, _, _ in evaluate().bars()}["all sets from 3 MB, worst"])


@pytest.fixture
def few(tmp_path, data, monkeypatch):
    """Two small sets, one command for each, run once."""
    folder = tmp_path / "sets"
    folder.mkdir()
    for name in ("breast_cancer", "diabetes"):
        lines = (data / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:60]))
    (folder / "CATALOG.tsv").write_text("name\tclasses\tnote\ndiabetes\tregression\t\n")
    for name, value in {"ALL_SETS_SOLVERS": (2,), "ALL_SETS_NUMBERS": (13,), "COSTS": (1.0,)}.items():
        monkeypatch.setattr(bars, name, value)
    monkeypatch.setattr(all_sets_pair, "ENOUGH_SECONDS", 0.0)
    return folder


def put_train(folder, text):
    folder.mkdir(exist_ok=True)
    (folder / "train").write_text(text)
    (folder / "train").chmod(0o755)
    return str(folder)


def test_pairs_are_measured_kept_and_not_measured_again(few, tmp_path, reference):
    fake = put_train(tmp_path / "peer", f'#!/bin/sh\nexec "{reference["train"]}" "$@"\n')
    ctx = context(tmp_path, few, liblinear=fake)
    all_sets.all_sets(ctx)
    (section,) = ctx.report.sections
    assert {(r["set"], r["solver"]) for r in section["rows"]} == {("breast_cancer", 2), ("diabetes", 13)}
    for found in section["rows"]:
        assert {r["ended"] for r in found["runs"].values()} == {"yes"} and found["objective"]["left_out"]
    kept = (tmp_path / "all_sets.jsonl").read_text()
    with open(tmp_path / "all_sets.jsonl", "a") as f:
        f.write('{"set": "torn')  # a run that was killed
    again = context(tmp_path, few, liblinear=fake)
    all_sets.all_sets(again)
    assert again.report.sections[0]["rows"] == [] and len(again.report.sections[0]["bars"]) == len(section["bars"])
    text = docs_tables.MEASURED["all sets"](str(tmp_path / "all_sets.jsonl"))
    assert text.startswith("2 of 2 pairs") and text.endswith("The sets: breast_cancer, diabetes.")
    assert len((tmp_path / "all_sets.jsonl").read_text().splitlines()) == len(kept.splitlines()) + 2
    other = context(tmp_path, few, liblinear=fake, limit=50.0)  # what others have measured does not count
    other.minutes = 0.0
    all_sets.all_sets(other)
    assert distribution.latest(tmp_path / "all_sets.jsonl").rows == []


@pytest.mark.parametrize("end", [59.5, 1e-9])
def test_objective_of_liblinear_is_looked_for_in_our_log(few, tmp_path, monkeypatch, end):
    """The second is never reached."""
    fake = put_train(tmp_path / "peer", "#!/bin/sh\nexit 0\n")
    (tmp_path / "peer" / all_sets_pair.LIBRARY).touch()
    steps = [(0.1, 4.0, 59.9), (0.03, 5.0, end), (0.01, 6.0, end)]

    def child(argv, limit):
        return [{"e": e, "seconds": seconds, "objective": value} for e, seconds, value in steps]

    monkeypatch.setattr(all_sets_pair, "child_json", child)
    monkeypatch.setattr(bars, "ALL_SETS_NUMBERS", ())
    ctx = context(tmp_path, few, liblinear=fake)
    all_sets.all_sets(ctx)
    (found,) = ctx.report.sections[0]["rows"]
    objective = found["objective"]
    assert objective["target"] == pytest.approx(end, rel=2e-6)
    assert (objective["theirs"], objective["e"]) == (5.0, 0.03)
    if end > 1.0:
        assert objective["ours"] > 0.0 and objective["with"] == []
    else:
        assert objective["ours"] is None and objective["with"] == list(all_sets_pair.RULE_MIN_GAP)
        assert "LIBLINEAR's objective is not reached" in distribution.latest(tmp_path / "all_sets.jsonl").text()


def test_a_peer_that_fails_is_reported_and_ctrl_c_leaves_the_summary(few, tmp_path, monkeypatch):
    lines = []
    ctx = context(tmp_path, few, liblinear=put_train(tmp_path / "peer", "#!/bin/sh\nexit 1\n"))
    ctx.report.show = lines.append
    measure, turns = all_sets.measure, iter((True, False))

    def once(*what):
        if not next(turns):
            raise KeyboardInterrupt
        return measure(*what)

    monkeypatch.setattr(all_sets, "measure", once)
    with pytest.raises(KeyboardInterrupt):
        all_sets.all_sets(ctx)
    assert "1 of 2 pairs" in "\n".join(lines) and "LIBLINEAR fails, left out: 1" in "\n".join(lines)
    assert len(ctx.report.sections[0]["bars"]) > 5


def test_a_pair_that_cannot_be_measured_is_counted_and_tried_again(few, tmp_path, monkeypatch):
    def broken(*what):
        raise OSError("disk full")

    ctx = context(tmp_path, few, liblinear=put_train(tmp_path / "peer", "#!/bin/sh\nexit 0\n"))
    monkeypatch.setattr(all_sets, "measure", broken)
    all_sets.all_sets(ctx)
    all_sets.all_sets(ctx)
    assert [len(section["rows"]) for section in ctx.report.sections] == [2, 2]
    assert "Could not be measured: 2" in distribution.latest(tmp_path / "all_sets.jsonl").text()


def test_an_interrupted_benchmark_writes_what_it_has(tmp_path, monkeypatch, capsys):
    def part(ctx):
        ctx.report.section("startup", "A part")
        ctx.report.bar("something", 1.0, "<=", 2.0)
        raise KeyboardInterrupt

    monkeypatch.setitem(bench.PARTS, "startup", part)
    argv = ["bench.py", "--only", "startup,read", "--peer-python", "", "--spark-python", "", "--cache", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", argv)
    assert bench.main() == 130
    assert [section["name"] for section in json.loads((tmp_path / "bench.json").read_text())["sections"]] == ["startup"]
    assert "interrupted in part startup" in capsys.readouterr().out
