"""Checks of parameters, arrays and tables, shared by the whole package."""

from momentree._validation.arrays import (
    are_labels,
    as_floats,
    check_distribution,
    check_lengths,
    check_map,
    check_means,
    check_parameters,
    check_sample_weight,
    check_shape,
)
from momentree._validation.parameters import (
    check_choice,
    check_flag,
    check_integer,
    check_number,
    generator,
)
from momentree._validation.sequences import check_sequence_lengths, check_symbols
from momentree._validation.tables import (
    check_canonical,
    check_counts,
    check_feature_names,
    check_features,
    check_missing,
    check_ones,
    check_real,
    check_real_features,
    check_something,
    check_table,
    check_values,
    first_cell,
)
from momentree._validation.texts import check_texts, texts_of

__all__ = [
    "are_labels",
    "as_floats",
    "check_canonical",
    "check_choice",
    "check_counts",
    "check_distribution",
    "check_feature_names",
    "check_features",
    "check_flag",
    "check_integer",
    "check_lengths",
    "check_map",
    "check_means",
    "check_missing",
    "check_number",
    "check_ones",
    "check_parameters",
    "check_real",
    "check_real_features",
    "check_sample_weight",
    "check_sequence_lengths",
    "check_shape",
    "check_something",
    "check_symbols",
    "check_table",
    "check_texts",
    "check_values",
    "first_cell",
    "generator",
    "texts_of",
]
