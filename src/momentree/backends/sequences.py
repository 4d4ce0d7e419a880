"""Sequences in blocks, ordered by time, so that one step of a recursion serves many at once."""

import numpy as np

from momentree._types import Floats, Ints

BLOCK_VALUES = 1 << 20
"""Values per array of a block, observations times states: 8 MB."""
STEP_COST = 10_000
"""Multiplications that take as long as the call of one step of a recursion."""


class SequenceBlock:
    """Some sequences, longest first, with all observations of one time next to each other.

    A recursion over few long sequences would consist of many small steps. Such sequences are cut
    into pieces, which a recursion treats like sequences with a given start and end.

    Parameters
    ----------
    starts, lengths : ndarray of int of shape (n_sequences,)
        First observation and length >= 1 of each sequence, by descending length.
    n_states : int >= 1
        Number of states k, on which the best size of a piece depends.

    Attributes
    ----------
    at : ndarray of int of shape (n,)
        Original position of each observation of the block.
    offsets : list of int of length n_steps + 1
        Position in the block of the first observation of each time. The longer pieces come first,
        so that observation t of piece p is at ``offsets[t] + p``.
    last : ndarray of int of shape (n_pieces,)
        Position in the block of the last observation of each piece.
    links : list of (ndarray, ndarray)
        Pieces that are the first of their sequence and the pieces that follow them; those that
        are the second and the pieces that follow them; and so on.
    heads, tails : ndarray of int of shape (n_sequences,)
        First and last piece of each sequence.
    owner : ndarray of int of shape (n,)
        Sequence of each observation.
    """

    def __init__(self, starts: Ints, lengths: Ints, n_states: int) -> None:
        longest, n = int(lengths[0]), int(lengths.sum())
        size = longest
        if n * n_states**3 < STEP_COST * longest:  # steps would cost more than products of pieces
            size = max(2, int(np.sqrt(longest / 3)))
        counts = -(-lengths // size)
        sequence = np.repeat(np.arange(len(lengths)), counts)
        level = np.arange(len(sequence)) - np.repeat(np.cumsum(counts) - counts, counts)
        sizes = np.minimum(size, lengths[sequence] - level * size)
        order = np.lexsort((sequence, level, -sizes))
        first = (starts[sequence] + level * size)[order]
        sequence, sizes = sequence[order], sizes[order]

        active = np.searchsorted(-sizes, -np.arange(sizes[0]), side="left")
        offsets = np.concatenate(([0], np.cumsum(active)))
        time = np.repeat(np.arange(len(active)), active)
        piece = np.arange(n) - offsets[time]
        self.at: Ints = first[piece] + time
        self.owner: Ints = sequence[piece]
        self.offsets: list[int] = offsets.tolist()
        self.last: Ints = offsets[sizes - 1] + np.arange(len(sizes))

        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        begin = np.cumsum(counts) - counts  # piece i of sequence s is at place[begin[s] + i]
        self.heads: Ints = place[begin]
        self.tails: Ints = place[begin + counts - 1]
        self.links: list[tuple[Ints, Ints]] = []
        for i in range(1, int(counts.max())):
            at = begin[counts > i] + i
            self.links.append((place[at - 1], place[at]))


def sequence_blocks(lengths: Ints, keys: Floats, n_states: int) -> list[SequenceBlock]:
    """Divide sequences into blocks, by descending length and then by `keys`.

    Parameters
    ----------
    lengths : ndarray of int of shape (n_sequences,)
        Number of observations >= 1 of each sequence; they follow each other in the data.
    keys : ndarray of shape (n_sequences,)
        Numbers that depend on the content of a sequence only, so that its position in the data
        has no effect.
    n_states : int >= 1
        Number of states.

    Returns
    -------
    list of SequenceBlock
        Blocks of whole sequences.
    """
    order = np.lexsort((keys, -lengths))
    starts = (np.cumsum(lengths) - lengths)[order]
    lengths = lengths[order]
    block = np.cumsum(lengths) // max(1, BLOCK_VALUES // n_states)
    cuts = np.flatnonzero(np.diff(block)) + 1
    return [
        SequenceBlock(s, n, n_states)
        for s, n in zip(np.split(starts, cuts), np.split(lengths, cuts), strict=True)
    ]
