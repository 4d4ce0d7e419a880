"""UCI bag-of-words: the numbers of documents, words and counts, then ``document word count``."""

from __future__ import annotations

from pathlib import Path

import scipy.sparse as sp

from momentree.messages import Message
from momentree.readers.counts._raw import RawCounts, fault_in_line, quoted
from momentree.readers.counts._triples import BOM, Header, read_lines, read_sizes
from momentree.readers.tables.files import open_bytes


def read_bag_of_words(path: Path) -> RawCounts:
    """Read a bag-of-words file."""
    with open_bytes(path) as file:
        sizes: list[int] = []
        for number in (1, 2, 3):
            line = file.readline().removeprefix(BOM)
            found = read_sizes(line, 1)
            if found is None:
                problem = Message("bag_of_words_header", found=quoted(line))
                raise fault_in_line(path, number, problem)
            sizes += found
        n, d, n_lines = sizes
        header = Header(n, d, n_lines, last_line=3)
        rows, columns, counts = read_lines(path, file, header)
    return RawCounts(sp.coo_array((counts, (rows - 1, columns - 1)), shape=(n, d)))
