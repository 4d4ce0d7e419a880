"""Output files: checked before the work, staged beside their targets, moved together at the end."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from momentree.exceptions import MomentreeError

__all__ = ["Outputs", "Write"]

Write = Callable[[str, Callable[[Path], object]], None]
_PREFIX = ".momentree-"


class Outputs:
    """The output files of one command, written whole or not at all.

    Each target is checked when it is added, before the long work. Inside `writing` each
    is filled under a temporary name; when all are filled without an error they are moved
    over their targets, otherwise every temporary file is removed and the targets stay as they were.
    A target that is a pipe or a device gets its bytes at the same moment instead.

    Parameters
    ----------
    inputs : iterable of Path
        Files that the command reads, which no output may replace.
    """

    def __init__(self, inputs: Iterable[Path] = ()) -> None:
        # A loop of links has no end to resolve to; the reader of the input refuses it.
        self._taken = {Path(os.path.realpath(path)): f"the input {path}" for path in inputs}
        self._targets: dict[str, Path] = {}
        self._shown: dict[str, Path] = {}
        self._streams: set[str] = set()

    def add(self, option: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
        """Check the file that an option names; None, an option not given, is skipped.

        Raises
        ------
        MomentreeError
            When the path is a folder, lies in no folder, has another suffix than those
            expected, may not be written, or is an input or another output.
        """
        if path is None:
            return
        if _is_stream(path):
            self._streams.add(option)
            target = path
            complaint = None if os.access(path, os.W_OK) else "you may not write to it"
        else:
            target = path.resolve()  # writes through a link instead of replacing it
            complaint = _complaint(path, target, suffixes)
            if complaint is None and target in self._taken:
                complaint = f"it is also {self._taken[target]}; name another file"
        if complaint is not None:
            message = f"cannot write {option} {path}: {complaint}."
            raise MomentreeError(message)
        self._taken[target] = f"the file of {option}"
        self._targets[option] = target
        self._shown[option] = path

    def __contains__(self, option: str) -> bool:
        """Whether the option was given."""
        return option in self._targets

    @property
    def paths(self) -> list[Path]:
        """The targets as the user named them, in the order they were added."""
        return list(self._shown.values())

    @contextmanager
    def writing(self) -> Iterator[Write]:
        """Yield a function that writes one output; put all in place when the block ends well.

        The function takes an option and a function that fills the path it is given, and does
        nothing for an option that was not named.

        Raises
        ------
        MomentreeError
            When a file cannot be written, such as on a full disk; no target is changed then.
        """
        folders: dict[Path, Path] = {}
        staged: dict[str, Path] = {}

        def write(option: str, fill: Callable[[Path], object]) -> None:
            if option not in self._targets:
                return
            target = self._targets[option]
            with self._naming(option):
                is_stream = option in self._streams
                beside = Path(tempfile.gettempdir()) if is_stream else target.parent
                if beside not in folders:
                    folders[beside] = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=beside))
                staged[option] = folders[beside] / f"{len(staged)}-{target.name}"
                fill(staged[option])
                if not is_stream:
                    _settle(staged[option], target)

        try:
            yield write
            for option in self._streams & staged.keys():
                with self._naming(option):
                    _pour(staged.pop(option), self._targets[option])
            with _no_interrupt():
                for option, temporary in staged.items():
                    with self._naming(option):
                        temporary.replace(self._targets[option])
        finally:
            for folder in folders.values():
                shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def _naming(self, option: str) -> Iterator[None]:
        """Name the option and its file in any error of the system."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            message = f"cannot write {option} {self._shown[option]}: {error.strerror or error}."
            raise MomentreeError(message) from error


def _is_stream(path: Path) -> bool:
    """Whether a path is a pipe, a terminal or a device, which is written to, never replaced."""
    if path.is_dir() or not path.exists():
        return False
    return not path.is_file() or path.parts[:2] == ("/", "dev")  # /dev/stdout may be a file


def _complaint(path: Path, target: Path, suffixes: tuple[str, ...]) -> str | None:
    """Say why a file cannot be written, or None."""
    folder = target.parent
    if target.is_dir():
        return "it is a folder; name a file in it"
    if path.suffix.lower() not in suffixes:
        return f"its name must end in {' or '.join(suffixes)}"
    if not folder.is_dir():
        return f"there is no folder {path.parent}; create it first"
    if target.exists() and not os.access(target, os.W_OK):
        return "the file is there and is read-only"
    try:
        # The one sure test: some file systems are read-only whatever the permissions say.
        os.rmdir(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    except OSError as error:
        return f"no file can be made in {path.parent} ({error.strerror or error})"
    return None


def _settle(temporary: Path, target: Path) -> None:
    """Bring a staged file to the disk, with the permissions that the target has or would get."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())  # a full disk shows here at the latest
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    with suppress(PermissionError):
        temporary.chmod(mode)


def _pour(temporary: Path, target: Path) -> None:
    with temporary.open("rb") as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Hold Ctrl-C back while files are moved, so that either all are in place or none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
