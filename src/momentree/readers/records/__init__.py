"""Coded records: who has which code."""

from momentree.readers.records.coder import RecordCoder
from momentree.readers.records.codes import roll_up
from momentree.readers.records.objects import Records
from momentree.readers.records.records import read_records

__all__ = ["RecordCoder", "Records", "read_records", "roll_up"]
