"""Worker processes: a crash is recorded with its input, and the other inputs still run."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import re
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

CPU_SECONDS = 20
RESIDENT = 2 << 30
"""Bytes that a process may hold; with its code and libraries, about 300 MB."""
ADDRESSES = 4 << 30
"""Bytes of address space beyond that of the libraries: a safety net for `RESIDENT`."""
INPUTS_OF_A_PROCESS = 200
"""Inputs after which a fresh process takes over, so that few inputs share a state."""


class Fault(Exception):
    """A fault that an input found, and where."""

    def __init__(self, what: str, where: str = "", detail: str = "") -> None:
        super().__init__(what)
        self.where, self.detail = where, detail


@dataclass(frozen=True)
class Outcome:
    """The outcome of one input: "accepted", "refused", or a fault with its place."""

    kind: str
    seed: int
    ended: str
    where: str = ""
    detail: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def is_fault(self) -> bool:
        return self.ended not in ("accepted", "refused")


Run = Callable[[str, int], str]


def where_raised(error: BaseException) -> str:
    """Return the last frame of the package in a traceback, and the last frame of all."""
    frames = traceback.extract_tb(error.__traceback__)
    named = [f"{_short(f.filename)}:{f.name}" for f in frames]
    own = [name for name in named if name.startswith("momentree/")]
    last = named[-1:] if named[-1:] != own[-1:] else []
    return " > ".join(own[-1:] + last)


def as_fault(error: BaseException) -> Fault:
    """Return the fault for an exception that should have been handled."""
    detail = "".join(traceback.format_exception(error))
    return Fault(type(error).__name__, where_raised(error), detail)


def in_workers(
    run: Run, tasks: Iterable[tuple[str, int]], folder: Path, n: int
) -> Iterator[Outcome]:
    """Run inputs in `n` processes, and yield their outcomes in the order of completion."""
    todo = iter(tasks)
    workers = [_Worker(run, folder / f"worker{i}") for i in range(n)]
    try:
        busy = [worker for worker in workers if worker.take(todo)]
        while busy:
            for worker in workers:
                if worker.task is not None and (outcome := worker.answer()) is not None:
                    yield outcome
                    if not worker.take(todo):
                        busy.remove(worker)
            wait([worker.pipe for worker in busy], timeout=0.5)
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process and its current input."""

    def __init__(self, run: Run, folder: Path) -> None:
        self.run, self.folder = run, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.dump = folder / "stack.txt"
        self.task: tuple[str, int] | None = None
        self.done = 0
        self.start()

    def start(self) -> None:
        fork = multiprocessing.get_context("fork")
        self.pipe, theirs = fork.Pipe()
        arguments = (theirs, self.run, self.folder, self.dump)
        self.process = fork.Process(target=_serve, args=arguments, daemon=True)
        self.process.start()
        theirs.close()
        self.done = 0

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def take(self, todo: Iterator[tuple[str, int]]) -> bool:
        self.task = next(todo, None)
        if self.task is None:
            return False
        if self.done >= INPUTS_OF_A_PROCESS:
            self.stop()
            self.start()
        self.pipe.send(self.task)
        self.since = time.monotonic()
        return True

    def answer(self) -> Outcome | None:
        """Return the outcome of the input; None while it runs."""
        assert self.task is not None
        ended = None
        if self.pipe.poll():
            try:
                outcome: Outcome = self.pipe.recv()
            except (EOFError, ConnectionResetError):
                self.process.join()
                code = self.process.exitcode or 0
                ended = signal.Signals(-code).name if code < 0 else f"ended with status {code}"
                ended = f"over {CPU_SECONDS} s" if ended == "SIGXCPU" else ended
            else:
                self.done += 1
                return outcome
        elif time.monotonic() - self.since > 3 * CPU_SECONDS:  # it waits, and takes no time
            ended = "waits for ever"
            os.kill(self.process.pid or 0, signal.SIGABRT)  # writes its stack
            self.process.join(5)
        if ended is None:
            return None
        detail = self.dump.read_text(errors="replace")
        seconds = time.monotonic() - self.since
        self.stop()
        self.start()
        return Outcome(*self.task, ended, _where_dumped(detail), detail, seconds)


def _serve(pipe: Connection, run: Run, folder: Path, dump: Path) -> None:
    """Send the outcome of each input, within the limits."""
    os.chdir(folder)
    with dump.open("w") as stack:
        faulthandler.enable(stack)
        faulthandler.register(signal.SIGXCPU, stack, chain=True)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = _status("VmSize") + ADDRESSES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        while True:
            try:
                kind, seed = pipe.recv()
            except EOFError:
                return
            stack.truncate(0)
            pipe.send(limited(run, kind, seed))


def limited(run: Run, kind: str, seed: int) -> Outcome:
    """Run one input and measure it."""
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak of memory
    start = time.process_time()
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(start) + CPU_SECONDS + 1, most))
    outcome = Outcome(kind, seed, "")
    try:
        outcome = replace(outcome, ended=run(kind, seed))
    except Fault as fault:
        outcome = replace(outcome, ended=str(fault), where=fault.where, detail=fault.detail)
    except Exception as error:
        fault = as_fault(error)
        outcome = replace(
            outcome, ended=f"in the fuzzer: {fault}", where=fault.where, detail=fault.detail
        )
    peak = _status("VmHWM")
    if peak > RESIDENT and not outcome.is_fault:
        outcome = replace(outcome, ended=f"over {RESIDENT >> 20} MB")
    seconds = time.process_time() - start
    return replace(outcome, seconds=seconds, megabytes=peak / (1 << 20))


def _status(name: str) -> int:
    """Return a number of bytes that Linux reports about this process."""
    found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    return int(found[1]) << 10 if found else 0


def _where_dumped(stack: str) -> str:
    frames: list[Any] = re.findall(r'File "(.+)", line \d+ in (\S+)', stack)
    named = [f"{_short(path)}:{name}" for path, name in frames]
    own = [name for name in named if name.startswith("momentree/")]
    return " > ".join([*own[:1], *[name for name in named[:1] if name not in own[:1]]])


def _short(path: str) -> str:
    for folder in sorted(map(str, sys.path), key=len, reverse=True):
        if folder and path.startswith(folder + os.sep):
            return path[len(folder) + 1 :]
    return Path(path).name
