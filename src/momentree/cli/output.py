"""Write output files: check them first, write them to temporary files, then move all together."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType

from momentree._files import destination, pour, scratch, staging
from momentree.exceptions import MomentreeError
from momentree.messages import Message

Write = Callable[[str, Callable[[Path], object]], None]
_STOPS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]


class Outputs:
    """The output files of a command, written completely or not at all.

    Each target is checked when it is added, before the long work. Within `writing`, each file is
    written under a temporary name. If all succeed, they replace their targets together; after an
    error, the temporary files are removed and the targets remain unchanged. Pipes and devices
    receive their content at the end instead.
    """

    def __init__(self, inputs: Iterable[Path] = ()) -> None:
        self._taken = {
            key: Message("same_as_input", path=str(path))
            for path in inputs
            for key in _identities(path)
        }
        self._targets: dict[str, Path] = {}
        self._shown: dict[str, Path] = {}
        self._streams: set[str] = set()
        self._written: set[str] = set()

    def add(self, option: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
        """Check the file named by an option; None means that the option was not given."""
        if path is None:
            return
        identities = _identities(path)
        complaint: Message | str | None = _unreachable(path)
        target, is_stream = destination(path)
        if complaint is None and is_stream:
            self._streams.add(option)
            complaint = None if os.access(path, os.W_OK) else Message("no_permission")
        else:
            taken = [self._taken[key] for key in identities if key in self._taken]
            complaint = complaint or _complaint(path, target, suffixes)
            if complaint is None and taken:
                complaint = taken[0]
        if complaint is not None:
            raise _cannot_write(option, path, complaint)
        self._taken |= dict.fromkeys(identities, Message("same_as_output", parameter=option))
        self._targets[option] = target
        self._shown[option] = path

    def __contains__(self, option: str) -> bool:
        """Whether the option was given."""
        return option in self._targets

    @property
    def paths(self) -> list[Path]:
        """The targets that were written, as the user named them, in the order of the options."""
        return [path for option, path in self._shown.items() if option in self._written]

    @contextmanager
    def writing(self) -> Iterator[Write]:
        """Yield a function that writes one output; move all into place if the block succeeds.

        The function accepts an option and a function that writes to a given path. It does nothing
        if the option was not used.
        """
        folders: dict[Path, Path] = {}
        staged: dict[str, Path] = {}

        def write(option: str, fill: Callable[[Path], object]) -> None:
            if option not in self._targets:
                return
            target = self._targets[option]
            is_stream = option in self._streams
            with self._naming(option), scratch() if is_stream else nullcontext():
                beside = Path(tempfile.gettempdir()) if is_stream else target.parent
                if beside not in folders:
                    folders[beside] = stack.enter_context(staging(beside))
                staged[option] = folders[beside] / f"{len(staged)}{target.suffix}"
                fill(staged[option])
                self._written.add(option)
                if not is_stream:
                    _settle(staged[option], target)

        stack = ExitStack()
        try:
            yield write
            for option in self._streams & staged.keys():
                with self._naming(option):
                    pour(staged.pop(option), self._targets[option])
            with _signals_held():
                self._put_in_place(staged)
        finally:
            with _signals_held():
                stack.close()

    def _put_in_place(self, staged: Mapping[str, Path]) -> None:
        """Move all staged files over their targets; after an error, restore all targets."""
        kept: dict[str, Path] = {}
        for option, temporary in staged.items():
            if self._targets[option].exists() and len(staged) > 1:
                with self._naming(option):
                    kept[option] = _keep(self._targets[option], temporary)
        moved: list[str] = []
        try:
            for option, temporary in staged.items():
                with self._naming(option):
                    temporary.replace(self._targets[option])
                moved.append(option)
        except BaseException:
            for option in moved:
                if option in kept:
                    kept[option].replace(self._targets[option])
                else:
                    self._targets[option].unlink()
            raise

    @contextmanager
    def _naming(self, option: str) -> Iterator[None]:
        """Report errors of the operating system with the option and the file."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise _cannot_write(option, self._shown[option], reason) from error


def _cannot_write(option: str, path: Path, reason: Message | str) -> MomentreeError:
    return MomentreeError("cannot_write", parameter=option, path=str(path), reason=reason)


def _identities(path: Path) -> list[object]:
    """Return what identifies a file: its resolved path and its inode."""
    identities: list[object] = [os.path.realpath(path)]
    with suppress(OSError):
        status = path.stat()
        identities.append((status.st_dev, status.st_ino))
    return identities


def _unreachable(path: Path) -> str | None:
    """Return why a path cannot be followed, such as a loop of links, or None."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return error.strerror or str(error)
    return None


def _complaint(path: Path, target: Path, suffixes: tuple[str, ...]) -> Message | None:
    """Return why a file cannot be written, or None."""
    folder = target.parent
    if target.is_dir():
        return Message("is_a_folder")
    if path.suffix.lower() not in suffixes:
        return Message("wrong_suffix", suffixes=list(suffixes))
    if not folder.is_dir():
        return Message("no_folder", path=str(path.parent))
    if target.exists() and not os.access(target, os.W_OK):
        return Message("read_only")
    try:
        # Only an attempt is certain: a file system may be read-only whatever the permissions say.
        with staging(folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        return Message("folder_not_writable", path=str(path.parent), reason=reason)
    return None


def _settle(temporary: Path, target: Path) -> None:
    """Flush a staged file to disk, with the permissions that the target has or would have."""
    with temporary.open("rb+") as file:
        os.fsync(file.fileno())  # fails here at the latest if the disk is full
    if target.exists():
        mode = stat.S_IMODE(target.stat().st_mode)
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    with suppress(PermissionError):
        temporary.chmod(mode)


def _keep(target: Path, temporary: Path) -> Path:
    """Back up the file that is about to be replaced, next to its replacement."""
    kept = temporary.with_name(f"old-{temporary.name}")
    try:
        os.link(target, kept)
    except OSError:  # a disk without links, or another user's file
        shutil.copy2(target, kept)
    return kept


@contextmanager
def _signals_held() -> Iterator[None]:
    """Delay signals that stop the command, so that either all files are moved or none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []

    def hold(number: int, _frame: FrameType | None) -> None:
        held.append(number)

    before = {}
    try:
        for number in _STOPS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, hold)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in held:
            signal.raise_signal(number)
