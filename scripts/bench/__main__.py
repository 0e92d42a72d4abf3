"""Benchmark: svmtool beside LIBLINEAR, LIBSVM, scikit-learn and other peers, in pairs that run in turn.

    python scripts/bench [FILE ...] [--sets a9a,..] [--solvers 2,3,0k] [--C 1,..] [--peer LIBLINEAR,..] [--minutes M]

A pair is a set, a problem (-s and -c) and a peer; --list names the peers.  Commands run as whole processes, Python
modules as whole fits in a process of their own.  Pairs come in random order until the time is up, and every one is
saved: the next run continues.  The result is the distribution, as a table, and every pair as a line of a CSV file.
LIBLINEAR_DIR and LIBSVM_DIR are folders with the built programs; otherwise those on PATH are used.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import platform
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
sys.path = [str(REPOSITORY), str(HERE.parent), *(p for p in sys.path if Path(p).resolve() != HERE)]

import machine  # noqa: E402
from bench import peers, runs, sets, table  # noqa: E402
from bench.problem import COSTS, Problem, problems  # noqa: E402
from svmtool.formats.svmlight import table as svmlight  # noqa: E402

LARGE_COSTS, LARGE_SOLVERS = (1.0,), "1,2,3"


def options(argv: list[str] | None = None) -> argparse.Namespace:
    shared = REPOSITORY.parent / "shared" / "data"
    parser = argparse.ArgumentParser(
        prog="bench", description="Time svmtool beside its peers, in pairs that run in turn.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )  # fmt: skip
    parser.add_argument("files", nargs="*", help="data files in place of the sets of the folders")
    parser.add_argument("--sets", default="", help="names of sets, comma-separated (default: all)")
    parser.add_argument("--solvers", default="", help="numbers of -s, comma-separated, k: with a kernel (default: all)")
    parser.add_argument("--C", default="", help="values of -c, comma-separated (default: 0.01, 1 and 100)")
    parser.add_argument("--peer", default="", help="peers, comma-separated (default: all that are there)")
    parser.add_argument("--minutes", type=float, default=20.0, help="time in which pairs start")
    parser.add_argument("--seed", type=int, default=1, help="seed of the order of pairs")
    parser.add_argument("--only", choices=["large"], help="generated sets of --mb each, by -s 1, 2 and 3")
    parser.add_argument("--mb", type=float, default=1000.0, help="size of each of them")
    parser.add_argument("--memory", default="", help="svm-train's --memory")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a run")
    parser.add_argument("--repeats", type=int, default=5, help="most runs of each")
    parser.add_argument("--enough", type=float, default=3.0, help="seconds of both, after which runs are not repeated")
    parser.add_argument("--data", action="append", help="folder of sets, plain or .xz (default: shared/data, data)")
    parser.add_argument("--results", default=str(REPOSITORY / "results" / "bench"), help="folder for results")
    parser.add_argument("--peer-python", default=sys.executable, help="a Python with the peers' modules")
    parser.add_argument("--strict", action="store_true", help="exit status 1 where a promise of the README fails")
    parser.add_argument("--list", action="store_true", help="list the peers")
    chosen = parser.parse_args(argv)
    if chosen.only:
        chosen.solvers, chosen.C = chosen.solvers or LARGE_SOLVERS, chosen.C or ",".join(map(str, LARGE_COSTS))
    unknown = set(names(chosen.peer)) - set(peers.all_peers())
    if unknown:
        parser.error(f"no such peer: {', '.join(sorted(unknown))} (there are {', '.join(peers.all_peers())})")
    chosen.data = chosen.data or [str(shared), str(REPOSITORY / "data")]
    return chosen


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def pairs_of(chosen: argparse.Namespace, given: peers.Options) -> list[tuple[sets.DataSet, Problem, peers.Peer]]:
    """All pairs, in an order in which adding or removing some does not change that of the others."""
    theirs = [p for p in peers.all_peers().values() if p.beside and (not chosen.peer or p.name in names(chosen.peer))]
    missing = {p.name: p.missing(given) for p in theirs}
    for name, why in missing.items():
        print(f"{name} is left out: {why}" if why else f"{name} is there")
    folder, folders = Path(chosen.results), [Path(f) for f in chosen.data]
    found = sets.made(folder / "large", chosen.mb) if chosen.only else []
    found = found or sets.found(folders, folder, chosen.files, names(chosen.sets))
    costs = tuple(map(float, names(chosen.C))) or COSTS
    pairs = [
        (data, problem, peer)
        for data in found
        for problem in problems(data.classes, costs, names(chosen.solvers))
        for peer in theirs
        if not missing[peer.name] and peer.solves(problem, data.classes)
    ]
    return sorted(pairs, key=lambda pair: hashlib.sha256(f"{chosen.seed} {key(*pair)}".encode()).digest())


def key(data: sets.DataSet, problem: Problem, peer: peers.Peer) -> str:
    return f"{data.name} {' '.join(problem.options)} {peer.name}"


def measured(pair: tuple[sets.DataSet, Problem, peers.Peer], chosen: argparse.Namespace, given: peers.Options) -> dict:
    """Run both of a pair in turn."""
    data, problem, peer = pair
    ours = peers.named(peer.beside)
    runs.warm(data.path)
    rows = None if chosen.only or isinstance(peer, peers.Fit) else svmlight.read(data.path)
    jobs = [lambda p=p: p.run(data.path, problem, rows, given) for p in (ours, peer)]
    found = runs.in_turn(jobs, chosen.repeats, chosen.enough)
    return {
        "date": datetime.date.today().isoformat(), "set": data.name, "mb": data.mb, "classes": data.classes,
        "solver": problem.solver, "kernel": problem.kernel, "C": problem.C, "peer": peer.name, "beside": ours.name,
        "limit": chosen.limit, "ours": found[0]._asdict(), "theirs": found[1]._asdict(),
    }  # fmt: skip


def conditions(chosen: argparse.Namespace) -> str:
    """What results of earlier runs must agree in, so that they count: the machine, the code, the peers and --memory."""
    code = hashlib.sha256()
    for path in sorted((REPOSITORY / "svmtool").rglob("*.py")):
        code.update(path.read_bytes())
    about = [machine.processor(), f"{machine.cores()} cores", f"Python {platform.python_version()}"]
    memory = f"--memory {chosen.memory}" if chosen.memory else ""
    words = [*about, f"sources {code.hexdigest()[:8]}", memory, peers.versions(chosen.peer_python)]
    return ", ".join(filter(None, words))


def main(argv: list[str] | None = None) -> int:
    chosen = options(argv)
    if chosen.list:
        print("\n".join(f"{p.name:40} beside {p.beside}" for p in peers.all_peers().values() if p.beside))
        return 0
    folder, on = Path(chosen.results), conditions(chosen)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "pairs.jsonl"
    entries = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done = {entry["key"]: entry for entry in entries if entry["on"] == on and entry["limit"] == chosen.limit}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=folder) as scratch:
        given = peers.Options(Path(scratch), chosen.limit, chosen.peer_python, chosen.memory)
        pairs = pairs_of(chosen, given)
        end = time.monotonic() + 60.0 * chosen.minutes
        try:
            for pair in pairs:
                if key(*pair) in done:
                    continue
                if time.monotonic() > end:
                    break
                row = {"key": key(*pair), "on": on, **measured(pair, chosen, given)}
                done[row["key"]] = row
                with open(kept, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(f"{row['key']:60} {shown(row['ours'])}   {shown(row['theirs'])}", flush=True)
        except KeyboardInterrupt:
            print("interrupted: the results so far follow")
    rows = [done[key(*pair)] for pair in pairs if key(*pair) in done]
    (folder / "table.md").write_text(table.text(rows, len(pairs), on) + "\n", encoding="utf-8")
    table.write(folder / "pairs.csv", rows)
    print(f"\n{(folder / 'table.md').read_text()}\nwritten: {folder / 'table.md'}, {folder / 'pairs.csv'}")
    promises = table.kept(rows)
    print("\n".join(f"{'holds' if holds else 'FAILS'}: {words}" for words, holds in promises))
    return 1 if chosen.strict and not all(holds for _, holds in promises) else 0


def shown(run: dict) -> str:
    return run["ended"] if run["ended"] != "yes" else f"{run['seconds']:.3g} s {run['peak_mb']:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
