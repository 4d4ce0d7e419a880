"""Keep the answers of passes over rows in files, to continue after an interruption."""

import logging
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from tokenize import TokenError

import numpy as np

from momentree._files import atomic_write
from momentree._types import Floats
from momentree.backends.base import Kernel, count_pass
from momentree.core import container, pages
from momentree.exceptions import MomentreeError
from momentree.messages import wording

log = logging.getLogger("momentree.backends")


class Answers:
    """The answers to the questions of a computation, in order, one file each.

    A computation is deterministic, so that it asks the same questions again if it is repeated. The
    name of a file depends on its question, with the rows and row arrays, and on all before it: if
    one of them differs, the rows are asked. A file ends with a digest of the answer.

    Parameters
    ----------
    folder : Path
        The folder, which must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._asked = b""
        self._n = self._n_known = 0

    def of(
        self,
        kernel: Kernel | tuple[Kernel, ...],
        shape: tuple[int, int],
        named: Callable[[], bytes],
        ask: Callable[[], Floats],
    ) -> Floats:
        """Return the answer from its file, or else ask, and write it.

        Parameters
        ----------
        kernel : callable, or tuple of these
            The question; one that cannot be pickled is always asked.
        shape : tuple of int
            Shape of the rows.
        named : callable
            Returns a digest of the rows, and of the row arrays that the kernel receives.
        ask : callable
            Reads the rows.

        Returns
        -------
        ndarray
            The answer.
        """
        try:
            question = pickle.dumps((kernel, shape))
        except (pickle.PicklingError, AttributeError, TypeError):
            return ask()
        self._asked = blake2b(self._asked + named() + question, digest_size=16).digest()
        self._n += 1
        path = self._folder / f"{self._n:06d}-{self._asked.hex()}.npy"
        # There is none, or it is damaged.
        with suppress(OSError, *container.DAMAGE, SyntaxError, TokenError), path.open("rb") as file:
            found: Floats = np.load(file)
            if file.read() == pages.digest(found):
                self._n_known += 1
                count_pass(shape[0])  # the number of passes is part of the result
                return found
        if self._n == self._n_known + 1 > 1:
            log.info("continuing after %d passes of an earlier run", self._n_known)
        answer = ask()
        try:
            with atomic_write(path) as file:
                np.save(file, answer)
                file.write(pages.digest(answer))
        except OSError as error:
            reason = error.strerror or str(error)
            raise MomentreeError(wording.CANNOT_STORE, path=str(path), reason=reason) from error
        return answer


_kept: ContextVar[Answers | None] = ContextVar("momentree_answers", default=None)


@contextmanager
def answers_kept(folder: str | PathLike[str]) -> Iterator[None]:
    """Keep the sums over rows in files that are asked for in a ``with`` block.

    If the process is killed and the block is repeated with the same folder, it continues after its
    last sum, with the same result. Values of single rows are computed again.

    Parameters
    ----------
    folder : path-like
        The folder, which is made if needed. Sums over other rows, or with other sample weights or
        parameters, are computed, not read; momentree must be of the same version.

    Yields
    ------
    None
        The block runs.

    Raises
    ------
    MomentreeError
        If the folder cannot be written, for instance because the disk is full.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import scipy.sparse as sp
    >>> from momentree.backends import FileRows, answers_kept
    >>> from momentree.backends.products import stored_values
    >>> rows = FileRows(sp.eye_array(4, format="csr"))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = Path(place) / "answers"
    ...     with answers_kept(folder):
    ...         first = rows.sum(stored_values)
    ...     with answers_kept(folder):  # reads the file
    ...         again = rows.sum(stored_values)
    ...     len(list(folder.iterdir())), int(again[0])
    (1, 4)
    """
    place = Path(folder)
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise MomentreeError(wording.CANNOT_STORE, path=str(place), reason=reason) from error
    before = _kept.set(Answers(place))
    try:
        yield
    finally:
        _kept.reset(before)


def kept_answer(
    kernel: Kernel | tuple[Kernel, ...],
    shape: tuple[int, int],
    named: Callable[[], bytes],
    ask: Callable[[], Floats],
) -> Floats:
    """Return the answer to a question, from a file within ``answers_kept``."""
    answers = _kept.get()
    return ask() if answers is None else answers.of(kernel, shape, named, ask)
