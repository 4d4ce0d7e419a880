"""Tables: files of rows and columns, read as columns of strings for texts and for records."""

from momentree.readers.tables.reader import EXCEL, JSON_LINES, PARQUET, SEPARATED, open_table
from momentree.readers.tables.table import Source, Table

__all__ = ["EXCEL", "JSON_LINES", "PARQUET", "SEPARATED", "Source", "Table", "open_table"]
