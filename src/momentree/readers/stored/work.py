"""Keep finished stages of long work in a folder, to continue after an interruption."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from weakref import WeakValueDictionary

from momentree._files import atomic_write
from momentree._version import __version__
from momentree.exceptions import InvalidParameterError, MomentreeError, ReadError
from momentree.messages import Message
from momentree.readers.stored.counts import new_folder

_PLAN = "run.json"
_LOCK = "lock"
_FORMAT = "momentree.work"
_DAMAGED = "work_damaged"


class _Lock:
    """An open file that keeps other processes out; the system releases it if this one is killed."""

    file: IO[str] | None = None

    def __init__(self, path: Path) -> None:
        self.file = path.open("a")
        try:
            import fcntl
        except ImportError:  # not on every system
            return
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise
        except OSError:
            return  # not in every file system

    def close(self) -> None:
        """Let other processes in."""
        if self.file is not None:
            self.file.close()

    __del__ = close


_locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
"""The locks of this process, by folder."""


class WorkFolder:
    """A folder with the finished stages of a run, and what the run was asked to do.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: _Lock | None = None

    @property
    def is_new(self) -> bool:
        """Whether no stage is finished."""
        return not any(self.path.glob("[0-9]-*"))

    def hold(self) -> None:
        """Make the folder if needed, and keep other processes out while this object exists.

        Raises
        ------
        InvalidParameterError
            If it contains something else, or another process works there.
        MomentreeError
            If it cannot be made.
        """
        if self._lock is not None:
            return
        there = {one.name for one in self.path.iterdir()} if self.path.exists() else set()
        if there - {_LOCK} and _PLAN not in there:
            raise InvalidParameterError("not_a_work_folder", path=str(self.path))
        key = str(self.path.resolve())
        try:
            self.path.mkdir(exist_ok=True)
            self._lock = _locks.get(key) or _Lock(self.path / _LOCK)
        except BlockingIOError:
            raise InvalidParameterError("work_in_use", path=str(self.path)) from None
        except OSError as error:
            raise self._not_stored(error) from error
        _locks[key] = self._lock

    def begin(self, source: Path, options: Mapping[str, Any], *, resume: bool) -> None:
        """Make the folder, or check that it belongs to the same work.

        Parameters
        ----------
        source : Path
            The input.
        options : mapping of str to object
            Everything that decides on the result.
        resume : bool
            Whether to continue.

        Raises
        ------
        InvalidParameterError
            If it exists and `resume` is False, the input or an option has changed, another process
            works there, or it is inside the input.
        ReadError
            If it does not say what it belongs to.
        MomentreeError
            If it cannot be made.
        """
        if source.is_dir() and self.path.resolve().is_relative_to(source.resolve()):
            raise InvalidParameterError(
                "work_inside_input", path=str(self.path), folder=str(source)
            )
        plan = {
            "format": _FORMAT,
            "momentree": __version__,
            "input": fingerprint(source),
            "options": {name: _plain(value) for name, value in sorted(options.items())},
        }
        self.hold()
        if (self.path / _PLAN).is_file():
            if not resume and not self.is_new:
                raise InvalidParameterError(
                    "unfinished_work", path=str(self.path), parameter="resume", value=True
                )
            if resume:
                self._check(self._noted(_PLAN, dict), plan)
        try:
            with atomic_write(self.path / _PLAN) as file:
                file.write(json.dumps(plan, indent=1).encode())
        except OSError as error:
            raise self._not_stored(error) from error

    def _not_stored(self, error: OSError) -> MomentreeError:
        self.remove_if_new()
        reason = error.strerror or str(error)
        return MomentreeError("cannot_store", path=str(self.path), reason=reason)

    @contextmanager
    def begun(self, source: Path, options: Mapping[str, Any], *, resume: bool) -> Iterator[None]:
        """Begin as :meth:`begin`; if the block fails before a stage is finished, nothing is left.

        Parameters
        ----------
        source, options, resume : object
            As for :meth:`begin`.

        Yields
        ------
        None
            The stages are written.
        """
        self.begin(source, options, resume=resume)
        try:
            with self.read_from():
                yield
        except BaseException:
            self.remove_if_new()
            raise

    @contextmanager
    def read_from(self) -> Iterator[None]:
        """Say of a damaged file of this folder, within the block, that the work is to begin anew.

        Yields
        ------
        None
            Stages are read.

        Raises
        ------
        ReadError
            If a file of the folder cannot be read.
        """
        try:
            yield
        except ReadError as error:
            path = Path(str(error.message.values.get("path", "")))
            if error.code == _DAMAGED or not path.is_relative_to(self.path):
                raise
            name = path.relative_to(self.path)
            raise ReadError(_DAMAGED, path=str(self.path), name=str(name)) from error

    def _check(self, before: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
        if before.get("format") != _FORMAT:
            raise InvalidParameterError("not_a_work_folder", path=str(self.path))
        changed = []
        if before.get("input") != plan["input"]:
            changed.append(Message("input_changed", path=plan["input"]["path"]))
        if before.get("momentree") != plan["momentree"]:
            changed.append(Message("version_changed", before=before.get("momentree")))
        old, new = before.get("options", {}), plan["options"]
        changed += [
            Message("option_changed", parameter=name, before=repr(old.get(name)))
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        ]
        if changed:
            raise InvalidParameterError("resume_changed", path=str(self.path), changes=changed)

    def remove(self) -> None:
        """Remove the folder with all stages."""
        if self._lock is not None:
            self._lock.close()
            _locks.pop(str(self.path.resolve()), None)
            self._lock = None
        shutil.rmtree(self.path, ignore_errors=True)

    def remove_if_new(self) -> bool:
        """Remove the folder if no stage is finished.

        Returns
        -------
        bool
            Whether it was removed.
        """
        if not self.is_new:
            return False
        self.remove()
        return True

    def remove_stage(self, stage: str) -> None:
        """Remove a stage that is no longer needed.

        Parameters
        ----------
        stage : str
            Name of its folder.
        """
        shutil.rmtree(self.path / stage, ignore_errors=True)

    def read(self, stage: str) -> dict[str, Any]:
        """Return what a finished stage has noted.

        Parameters
        ----------
        stage : str
            Name of its folder.

        Returns
        -------
        dict
            Plain values and messages.

        Raises
        ------
        ReadError
            If the stage is missing or damaged.
        """
        return self._noted(f"{stage}/stage.json", _decoded)

    def _noted(self, name: str, decoded: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the content of a JSON file."""
        try:
            return dict(decoded(json.loads((self.path / name).read_text(encoding="utf-8"))))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ReadError(_DAMAGED, path=str(self.path), name=name) from error

    def has(self, stage: str) -> bool:
        """Return whether a stage is finished.

        Parameters
        ----------
        stage : str
            Name of its folder.

        Returns
        -------
        bool
            True if its last file is there.
        """
        return (self.path / stage / "stage.json").is_file()


@contextmanager
def new_stage(work: WorkFolder, stage: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Make the folder of a stage, and put it in place if the block succeeds.

    Parameters
    ----------
    work : WorkFolder
        The work.
    stage : str
        Name of the folder.

    Yields
    ------
    folder : Path
        The folder to write to.
    noted : dict
        To be filled with what :meth:`WorkFolder.read` returns later.
    """
    noted: dict[str, Any] = {}
    with new_folder(work.path / stage) as place:
        yield place, noted
        write_stage(place, noted)


def write_stage(folder: Path, values: Mapping[str, Any]) -> None:
    """Note the results of a stage, as its last file."""
    with (folder / "stage.json").open("x", encoding="utf-8") as file:
        json.dump(_encoded(values), file)  # names of files may not be Unicode
        file.flush()
        os.fsync(file.fileno())


def fingerprint(source: Path) -> dict[str, Any]:
    """Describe a file or folder so that a change is noticed: names, sizes and times of files."""
    files = [source]
    if source.is_dir():
        files = sorted(Path(place) / name for place, _, names in os.walk(source) for name in names)
    digest = hashlib.blake2b(digest_size=16)
    size = 0
    for file in files:
        with suppress(OSError):
            status = file.stat()
            size += status.st_size
            name = file.relative_to(source).as_posix()
            digest.update(
                f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0".encode(errors="replace")
            )
    return {"path": str(source), "bytes": size, "files": len(files), "digest": digest.hexdigest()}


def _plain(value: Any) -> Any:
    """Return an option as plain values that JSON keeps."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(one) for one in value]
    if isinstance(value, Path):
        return fingerprint(value)
    return getattr(value, "__qualname__", repr(value))


def _encoded(value: Any) -> Any:
    if isinstance(value, Message):
        return {"message": value.code, "values": _encoded(value.values)}
    if isinstance(value, Mapping):
        return {key: _encoded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_encoded(one) for one in value]
    return value.item() if hasattr(value, "item") else value


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        values = {key: _decoded(one) for key, one in value.items() if key != "message"}
        if "message" in value:
            return Message(value["message"], **values["values"])
        return values
    return [_decoded(one) for one in value] if isinstance(value, list) else value
