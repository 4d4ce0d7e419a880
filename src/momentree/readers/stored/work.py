"""Keep finished stages of long work in a folder, to continue after an interruption.

The manifest ``run.json`` says what the work was asked to do, and which stages are finished, with
what each has noted. A stage is a folder; it counts once it is in the manifest.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from momentree._files import atomic_write
from momentree._version import __version__
from momentree.exceptions import InvalidParameterError, MomentreeError, ReadError
from momentree.messages import Message, wording
from momentree.readers.stored.counts import new_folder

_NOT_A_WORK_FOLDER = (
    "[not_a_work_folder] the folder {path} was not made by momentree; give another name, or remove "
    "it"
)


_MANIFEST, _LOCK, _FORMAT = "run.json", "lock", "momentree.work"


_locks: dict[str, IO[str]] = {}
"""Open files that keep other processes out of folders; the system closes those of a killed one."""


def _lock(folder: Path) -> None:
    key = str(folder.resolve())
    if key in _locks and (folder / _LOCK).exists():
        return
    _unlock(folder)
    file = (folder / _LOCK).open("a")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise
    except (ImportError, OSError):
        pass  # not on every system, nor in every file system
    _locks[key] = file


def _unlock(folder: Path) -> None:
    if file := _locks.pop(str(folder.resolve()), None):
        file.close()


class WorkFolder:
    """A folder with the finished stages of a run, and what the run was asked to do.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def is_new(self) -> bool:
        """Whether no stage is finished."""
        return not ((self.path / _MANIFEST).is_file() and self._manifest()["stages"])

    def hold(self) -> None:
        """Make the folder if needed, and keep other processes out until it is removed.

        Raises
        ------
        InvalidParameterError
            If it contains something else, or another process works there.
        MomentreeError
            If it cannot be made.
        """
        names = {file.name for file in self.path.iterdir()} if self.path.exists() else set()
        if names - {_LOCK} and _MANIFEST not in names:
            raise InvalidParameterError(_NOT_A_WORK_FOLDER, path=str(self.path))
        try:
            self.path.mkdir(exist_ok=True)
            _lock(self.path)
        except BlockingIOError:
            raise InvalidParameterError(
                "[work_in_use] another process works in the folder {path}; wait until it has "
                "ended, or give another name",
                path=str(self.path),
            ) from None
        except OSError as error:
            raise self._not_stored(error) from error

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
                "[work_inside_input] the folder {path} would be inside the input {folder} and be "
                "read too; give an output, or a folder, outside of it",
                path=str(self.path),
                folder=str(source),
            )
        manifest = {
            "format": _FORMAT,
            "momentree": __version__,
            "input": fingerprint(source),
            "options": {name: _plain(value) for name, value in sorted(options.items())},
            "stages": {},
        }
        self.hold()
        if (self.path / _MANIFEST).is_file():
            before = self._manifest()
            if not resume and before["stages"]:
                raise InvalidParameterError(
                    "[unfinished_work] the folder {path} has unfinished work of an earlier run; "
                    "continue with {parameters.resume:=value}, or remove the folder to begin anew",
                    path=str(self.path),
                    value=True,
                )
            if resume:
                self._check(before, manifest)
                manifest["stages"] = before["stages"]
        self._write(manifest)

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
            if error.code == "work_damaged" or not path.is_relative_to(self.path):
                raise
            raise self._damaged(str(path.relative_to(self.path))) from error

    @contextmanager
    def stage(self, name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Make the folder of a stage, and put it in place if the block succeeds.

        Parameters
        ----------
        name : str
            Name of the folder.

        Yields
        ------
        folder : Path
            The folder to write to.
        noted : dict
            To be filled with what :meth:`read` returns later.
        """
        self.remove_stage(name)  # of a run that was stopped before it was in the manifest
        noted: dict[str, Any] = {}
        with new_folder(self.path / name) as folder:
            yield folder, noted
        manifest = self._manifest()
        manifest["stages"][name] = _encode(noted)
        self._write(manifest)

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
            If the manifest is damaged, or the stage is not finished.
        """
        try:
            return dict(_decode(self._manifest()["stages"][stage]))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged(_MANIFEST) from error

    def has(self, stage: str) -> bool:
        """Return whether a stage is finished.

        Parameters
        ----------
        stage : str
            Name of its folder.

        Returns
        -------
        bool
            True if it is in the manifest.
        """
        return stage in self._manifest()["stages"]

    def remove(self) -> None:
        """Remove the folder with all stages."""
        _unlock(self.path)
        shutil.rmtree(self.path, ignore_errors=True)

    def remove_if_new(self) -> bool:
        """Remove the folder if no stage is finished.

        Returns
        -------
        bool
            Whether it was removed.
        """
        with suppress(ReadError):
            if self.is_new:
                self.remove()
                return True
        return False

    def remove_stage(self, stage: str) -> None:
        """Remove the files of a stage that are no longer needed; what it has noted stays.

        Parameters
        ----------
        stage : str
            Name of its folder.
        """
        shutil.rmtree(self.path / stage, ignore_errors=True)

    def _manifest(self) -> dict[str, Any]:
        try:
            content = json.loads((self.path / _MANIFEST).read_text(encoding="utf-8"))
            return {**content, "stages": dict(content.get("stages", {}))}
        except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
            raise self._damaged(_MANIFEST) from error

    def _write(self, manifest: Mapping[str, Any]) -> None:
        try:
            with atomic_write(self.path / _MANIFEST) as file:
                file.write(json.dumps(manifest, indent=1).encode())
        except OSError as error:
            raise self._not_stored(error) from error

    def _check(self, before: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
        if before.get("format") != _FORMAT:
            raise InvalidParameterError(_NOT_A_WORK_FOLDER, path=str(self.path))
        changed = []
        if before.get("input") != manifest["input"]:
            changed.append(
                Message(
                    "[input_changed] the files of {path} have changed",
                    path=manifest["input"]["path"],
                )
            )
        if before.get("momentree") != manifest["momentree"]:
            changed.append(
                Message(
                    "[version_changed] it was begun with momentree {before}",
                    before=before.get("momentree"),
                )
            )
        old, new = before.get("options", {}), manifest["options"]
        changed += [
            Message(
                "[option_changed] {parameter} was {before}",
                parameter=name,
                before=repr(old.get(name)),
            )
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        ]
        if changed:
            raise InvalidParameterError(
                "[resume_changed] cannot continue the work in {path}: {changes:list}. Undo this, "
                "or remove the folder to begin anew",
                path=str(self.path),
                changes=changed,
            )

    def _damaged(self, name: str) -> ReadError:
        return ReadError(
            "[work_damaged] cannot continue the work in {path}: {name} is missing, cut off or "
            "changed. Remove the folder to begin anew",
            path=str(self.path),
            name=name,
        )

    def _not_stored(self, error: OSError) -> MomentreeError:
        self.remove_if_new()
        reason = error.strerror or str(error)
        return MomentreeError(wording.CANNOT_STORE, path=str(self.path), reason=reason)


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
    if isinstance(value, Path) or (isinstance(value, str) and os.path.isfile(value)):
        return fingerprint(Path(value))  # so that a change of its content is found
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in value]
    return getattr(value, "__qualname__", repr(value))


def _encode(value: Any) -> Any:
    if isinstance(value, Message):
        return {"message": value.template, "values": _encode(value.values)}
    if isinstance(value, Mapping):
        return {key: _encode(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_encode(part) for part in value]
    return value.item() if hasattr(value, "item") else value


def _decode(value: Any) -> Any:
    if isinstance(value, dict):
        values = {key: _decode(part) for key, part in value.items() if key != "message"}
        if "message" in value:
            return Message(value["message"], **values["values"])
        return values
    return [_decode(part) for part in value] if isinstance(value, list) else value
