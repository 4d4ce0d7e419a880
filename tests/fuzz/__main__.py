"""Run the fuzzer: ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

# Before NumPy is loaded: a process with threads cannot be forked safely.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from . import kinds  # noqa: E402
from .workers import Outcome, in_workers  # noqa: E402


def main() -> int:
    """Run inputs until the time is up, print the results, and return 1 if there was a fault."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="momentree-fuzz-") as name:
        folder = Path(name)
        kinds.load()
        chosen = [kind for kind in kinds.names() if options.only in kind]
        wanted = [options.replay] if options.replay else chosen
        if any(kind.startswith("model-") for kind in wanted):
            for outcome in in_workers(kinds.build(folder), [("seeds", 0)], folder / "build", 1):
                if outcome.is_fault:
                    print(outcome.detail, file=sys.stderr)
                    return 1
        if options.replay:
            return _replay(*options.replay.split(":"), folder)
        start = time.monotonic()
        tasks = _tasks(chosen, options)
        found = list(_shown(in_workers(kinds.runner(folder), tasks, folder, options.jobs)))
    _print_table(found, time.monotonic() - start)
    _print_faults(found)
    return int(any(outcome.is_fault for outcome in found))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180, help="for how long (180)")
    parser.add_argument("--inputs", type=int, help="stop after so many inputs")
    parser.add_argument("--seed", type=int, default=0, help="where the seeds of inputs start (0)")
    parser.add_argument("--only", default="", metavar="TEXT", help="kinds with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--replay", metavar="KIND:SEED", help="run one input and keep its files")
    options = parser.parse_args()
    if options.only and not any(options.only in kind for kind in kinds.names()):
        parser.error(
            f"no kind has {options.only!r} in its name; there are {', '.join(kinds.names())}"
        )
    return options


def _tasks(chosen: list[str], options: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield kinds in turn, each with its next seed, until the time or the number is reached."""
    end = time.monotonic() + options.seconds
    turns = ((kind, seed) for seed in itertools.count(options.seed) for kind in chosen)
    for task in itertools.islice(turns, options.inputs):
        if time.monotonic() > end:
            return
        yield task


def _shown(outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    for i, outcome in enumerate(outcomes, 1):
        if sys.stderr.isatty():
            print(f"\r{i} inputs", end="", file=sys.stderr, flush=True)
        yield outcome


def _print_table(found: list[Outcome], seconds: float) -> None:
    rows: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in found:
        rows[outcome.kind].append(outcome)
    print(f"{'kind':<28} inputs refused accepted faults  most s  most MB")
    for kind, of_kind in [*rows.items(), ("all", found)]:
        ends = Counter(outcome.ended for outcome in of_kind)
        faults = sum(outcome.is_fault for outcome in of_kind)
        slowest = max((outcome.seconds for outcome in of_kind), default=0)
        largest = max((outcome.megabytes for outcome in of_kind), default=0)
        print(
            f"{kind:<28} {len(of_kind):6} {ends['refused']:7} {ends['accepted']:8} {faults:6} "
            f"{slowest:7.1f} {largest:8.0f}"
        )
    print(f"{len(found)} inputs in {seconds:.0f} s")


def _print_faults(found: list[Outcome]) -> None:
    """Print each distinct fault once, with its frequency and inputs that reproduce it."""
    alike: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in found:
        if outcome.is_fault:
            alike[outcome.ended, outcome.where].append(outcome)
    for (ended, where), group in sorted(alike.items(), key=lambda item: -len(item[1])):
        by_kind = {outcome.kind: outcome for outcome in reversed(group)}
        shown = " ".join(f"{kind}:{outcome.seed}" for kind, outcome in list(by_kind.items())[:4])
        last = group[0].detail.strip().splitlines()[-1:] or [""]
        print(f"\n{len(group)} x {ended} {where}\n  {last[0][:200]}\n  --replay {shown}")


def _replay(kind: str, seed: str, folder: Path) -> int:
    """Run one input, print its outcome and keep its files."""
    [outcome] = in_workers(kinds.runner(folder), [(kind, int(seed))], folder, 1)
    kept = Path(f"fuzz-{kind}-{seed}")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder / "worker0" / "input", kept, symlinks=True, copy_function=_copied)
    print(outcome.detail)
    print(f"{kind}:{seed}: {outcome.ended} {outcome.where}")
    print(f"{outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB; its files are in {kept}")
    return int(outcome.is_fault)


def _copied(source: str, target: str) -> None:
    if os.path.isfile(source):
        shutil.copy2(source, target)


if __name__ == "__main__":
    sys.exit(main())
