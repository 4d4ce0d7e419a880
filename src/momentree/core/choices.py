"""Choices that estimators, readers and the command share. Loads no library, unlike their rooms."""

from typing import Literal

ColumnKind = Literal["number", "yes_no", "category", "count"]
"""What a column of measurements contains."""
CovarianceType = Literal["spherical", "diag", "tied", "full"]
"""Covariances of Gaussians: a variance each, one per feature each, the same for all, any."""
Empty = Literal["missing", "zero"]
"""What an empty cell means in a column of 0 and 1."""
Form = Literal["auto", "codes", "measurements"]
"""What a table of `momentree clusters` contains."""
Growth = Literal["best_first", "depth"]
LogScaling = Literal["log1p"]
AutoLogScaling = Literal["auto", "log1p"]
Refine = Literal["em"]
Search = Literal["starts", "none"]
TopicModel = Literal["single-topic", "lda"]
Weighting = Literal["length", "uniform", "three_words"]

MAX_NGRAM = 5
"""Longer sequences of words hardly ever occur in several documents."""
