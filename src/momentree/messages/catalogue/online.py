"""Wording of messages about learning from batches, and about changes between models."""

WORDS: dict[str, str] = {
    # --- partial_fit -----------------------------------------------------------------------------
    "samples_kept": (
        "not fitted yet: {reason}; the {samples} are kept and fitted together with those of the "
        "next batches"
    ),
    "names_of_other_batch": (
        "{parameters.feature_names} differ from those of the first batch; all batches have the "
        "same columns, in the same order"
    ),
    "batch_unlike_groups": (
        "{fraction:.0%} of the {samples} of this batch are unlike all {n_groups:~group}, none of "
        "which has vanished to make room; fit() a new model with more groups"
    ),
    "batch_unlike_leaves": (
        "{fraction:.0%} of the {samples} of this batch are unlike all {n_groups:~leaf/leaves}, and "
        "the branches of a tree remain; fit() a new tree"
    ),
    "no_sums_without_em": (
        "{kind} learns from batches by expected statistics of EM, which "
        "{parameters.refine:=refine} does not compute; use {parameters.refine:=instead}, or fit() "
        "all {samples} together"
    ),
    "no_partial_fit": (
        "{kind} has no partial_fit(): fit() it to all {samples} together; SingleTopicModel, "
        "PoissonMixture, LatentDirichletAllocation, BernoulliMixture, TopicTree and ClusterTree "
        "learn from batches"
    ),
    "no_sums_of_fit": (
        "this model cannot be continued, because its last fit kept no sums (it was edited, saved "
        "by an older version, or fitted with other parameters); fit() it again"
    ),
    "no_sums_of_kind": (
        "trees of {kind} data, or described by counts, and edited trees cannot learn from batches; "
        "fit() all {samples} together"
    ),
    "missing_in_batch": (
        "this batch has missing values, but the first one had none; fit() all {samples} together, "
        "or begin with a batch that has missing values"
    ),
    "unknown_words": (
        "{n_unknown:,} of {n_words:~word} in the last batch {n_unknown:?is/are} not among the "
        "words of the first batch and {n_unknown:?does/do} not count (most frequent: "
        "{examples:list}); fit() again if they are important"
    ),
    # --- changes between models ------------------------------------------------------------------
    "groups_changed": "{stayed} stayed, {moved} moved, {appeared} appeared, {vanished} vanished.",
    "group_stayed": "{number} {name}: stayed ({old_weight:.1%} before, {new_weight:.1%} now).",
    "group_moved": (
        "{number} {name}: moved ({old_weight:.1%} before, {new_weight:.1%} now); more frequent: "
        "{rose:list}; less frequent: {fell:list}."
    ),
    "group_appeared": "{number} {name}: appeared ({new_weight:.1%}).",
    "group_vanished": "{number} {name}: vanished ({old_weight:.1%} before, {new_weight:.1%} now).",
    "no_groups_to_compare": (
        "{type} has no groups with profiles; compare flat models of counts or measurements, or "
        "trees"
    ),
    "no_common_columns": (
        "the models have no column in common; compare models of the same words, codes or columns"
    ),
    "relabeled_like_other": (
        "numbers cannot be taken over from a {found}; expected a fitted {expected}"
    ),
}
