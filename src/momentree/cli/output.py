"""Write output files: check them first, write them to temporary files, then move all together."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType

from momentree._files import destination, staging
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
            key: Message(
                "[same_as_input] it is the same file as the input {path}; choose another name",
                path=str(path),
            )
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
        target, is_stream = destination(path)
        complaint: Message | None
        if is_stream:
            self._streams.add(option)
            complaint = (
                None
                if os.access(path, os.W_OK)
                else Message("[no_permission] you do not have permission to write to it")
            )
        else:
            taken = (self._taken[key] for key in identities if key in self._taken)
            complaint = _complaint(path, target, suffixes) or next(taken, None)
        if complaint is not None:
            raise _cannot_write(option, path, complaint)
        self._taken |= dict.fromkeys(
            identities,
            Message(
                "[same_as_output] {parameter} writes to the same file; choose another name",
                parameter=option,
            ),
        )
        self._targets[option] = target
        self._shown[option] = path

    def __contains__(self, option: str) -> bool:
        """Whether the option was given."""
        return option in self._targets

    @property
    def requested(self) -> list[Path]:
        """The files as the user named them, in the order of the options."""
        return list(self._shown.values())

    @property
    def paths(self) -> list[Path]:
        """The files that were written."""
        return [path for option, path in self._shown.items() if option in self._written]

    @contextmanager
    def writing(self) -> Iterator[Write]:
        """Yield a function that writes one output; move all into place if the block succeeds.

        The function accepts an option and a function that writes to a given path. It does nothing
        if the option was not used.
        """
        folders: dict[Path | None, Path] = {}
        staged: dict[str, Path] = {}

        def write(option: str, fill: Callable[[Path], object]) -> None:
            if option not in self._targets:
                return
            target = self._targets[option]
            beside = None if option in self._streams else target.parent
            with self._naming(option):
                if beside not in folders:
                    folders[beside] = stack.enter_context(staging(beside))
                staged[option] = folders[beside] / f"{len(staged)}{target.suffix}"
                fill(staged[option])
                self._written.add(option)
                if option not in self._streams:
                    _settle(staged[option], target)

        stack = ExitStack()
        try:
            yield write
            for option in self._streams & staged.keys():
                with (
                    self._naming(option),
                    staged.pop(option).open("rb") as source,
                    self._targets[option].open("wb") as stream,
                ):
                    shutil.copyfileobj(source, stream)
            with _signals_held():
                self._put_in_place(staged)
        finally:
            with _signals_held():
                stack.close()

    def _put_in_place(self, staged: Mapping[str, Path]) -> None:
        """Move all staged files over their targets; after an error, restore all targets."""
        old: dict[str, Path] = {}
        moved: list[str] = []
        for option, temporary in staged.items():
            if len(staged) > 1 and self._targets[option].exists():
                old[option] = temporary.with_name(f"old-{temporary.name}")
                with self._naming(option):
                    _back_up(self._targets[option], old[option])
        try:
            for option, temporary in staged.items():
                with self._naming(option):
                    temporary.replace(self._targets[option])
                moved.append(option)
        except BaseException:
            for option in moved:
                if option in old:
                    old[option].replace(self._targets[option])
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
    return MomentreeError(
        "[cannot_write] cannot write {parameter:{path}}: {reason}",
        parameter=option,
        path=str(path),
        reason=reason,
    )


def _identities(path: Path) -> list[object]:
    """Return what identifies a file: its resolved path and its inode."""
    identities: list[object] = [os.path.realpath(path)]
    with suppress(OSError):
        status = path.stat()
        identities.append((status.st_dev, status.st_ino))
    return identities


def _complaint(path: Path, target: Path, suffixes: tuple[str, ...]) -> Message | None:
    """Return why a file cannot be written, or None."""
    folder = target.parent
    if target.is_dir():
        return Message("[is_a_folder] it is a folder; give the name of a file")
    if path.suffix.lower() not in suffixes:
        return Message("[wrong_suffix] its name must end in {suffixes:or}", suffixes=list(suffixes))
    if not folder.is_dir():
        return Message(
            "[no_folder] there is no folder {path}; create it first", path=str(path.parent)
        )
    if target.exists() and not os.access(target, os.W_OK):
        return Message("[read_only] the file exists and is read-only")
    try:
        # Only an attempt is certain: a file system may be read-only whatever the permissions say.
        with staging(folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        return Message(
            "[folder_not_writable] no file can be created in {path} ({reason})",
            path=str(path.parent),
            reason=reason,
        )
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


def _back_up(target: Path, copy: Path) -> None:
    try:
        os.link(target, copy)
    except OSError:  # a disk without links, or another user's file
        shutil.copy2(target, copy)


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
