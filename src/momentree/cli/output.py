"""Write output files: check them first, write them to temporary files, then move all together."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from momentree._files import destination, staging
from momentree.exceptions import MomentreeError
from momentree.messages import Message

Writers = Mapping[str, Callable[[Path], object]]
"""Functions that write a file, by the option that names it."""


class Outputs:
    """The output files of a command, written completely or not at all.

    Each target is checked when it is added, before the long work. `write` writes each file under a
    temporary name. If all succeed, they replace their targets together; after an error, the
    temporary files are removed and the targets remain unchanged. Pipes and devices receive their
    content at the end instead.
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
        self._files: dict[str, Path] = {}
        self.paths: list[Path] = []
        """The files that were written."""

    def add(self, option: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
        """Check the file named by an option; None means that the option was not given."""
        if path is None:
            return
        identities = _identities(path)
        target, is_stream = destination(path)
        if is_stream:
            complaint = None if os.access(path, os.W_OK) else Message(_NO_PERMISSION)
        else:
            taken = (self._taken[key] for key in identities if key in self._taken)
            complaint = _complaint(path, target, suffixes) or next(taken, None)
        if complaint is not None:
            raise _cannot_write(option, path, complaint)
        same = Message(
            "[same_as_output] {parameter} writes to the same file; choose another name",
            parameter=option,
        )
        self._taken |= dict.fromkeys(identities, same)
        self._files[option] = path

    def __contains__(self, option: str) -> bool:
        """Whether the option was given."""
        return option in self._files

    @property
    def requested(self) -> list[Path]:
        """The files as the user named them, in the order of the options."""
        return list(self._files.values())

    def write(self, writers: Writers) -> None:
        """Write the files of the options that were given, and move all into place at the end."""
        staged: dict[str, Path] = {}
        with ExitStack() as stack:
            for option in filter(writers.__contains__, self._files):
                target, is_stream = destination(self._files[option])
                with self._naming(option):
                    folder = stack.enter_context(staging(None if is_stream else target.parent))
                    staged[option] = folder / f"new{target.suffix}"
                    writers[option](staged[option])
                    with staged[option].open("rb+") as file:
                        os.fsync(file.fileno())  # fails here at the latest if the disk is full
                    if target.exists() and not is_stream:
                        with suppress(PermissionError):
                            shutil.copymode(target, staged[option])
            for option, temporary in staged.items():
                target, is_stream = destination(self._files[option])
                with self._naming(option):
                    if is_stream:
                        with temporary.open("rb") as source, target.open("wb") as stream:
                            shutil.copyfileobj(source, stream)
                    else:
                        temporary.replace(target)
                self.paths.append(self._files[option])

    @contextmanager
    def _naming(self, option: str) -> Iterator[None]:
        """Report errors of the operating system with the option and the file."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or str(error)
            raise _cannot_write(option, self._files[option], reason) from error


_NO_PERMISSION = "[no_permission] you do not have permission to write to it"


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
    folder = str(path.parent)
    if target.is_dir():
        return Message("[is_a_folder] it is a folder; give the name of a file")
    if path.suffix.lower() not in suffixes:
        return Message("[wrong_suffix] its name must end in {suffixes:or}", suffixes=list(suffixes))
    if not target.parent.is_dir():
        return Message("[no_folder] there is no folder {path}; create it first", path=folder)
    if target.exists() and not os.access(target, os.W_OK):
        return Message("[read_only] the file exists and is read-only")
    try:
        # Only an attempt is certain: a file system may be read-only whatever the permissions say.
        with staging(target.parent):
            return None
    except OSError as error:
        return Message(
            "[folder_not_writable] no file can be created in {path} ({reason})",
            path=folder,
            reason=error.strerror or str(error),
        )
