"""What the user decides: names, edits of groups, and an old model whose numbers new topics get."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentree import models, naming
from momentree.cli._run import Run
from momentree.cli.options import Options
from momentree.cli.tables import decimals
from momentree.estimators.changes import ModelChanges, compare_models
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.tree import ClusterTree, TopicTree

_EDIT_FAILED = "[edit_failed] {parameters.edit:=value}: {reason}"
_EDITS = (
    re.compile(r"merge(?P<groups>( \d+){2,})"),
    re.compile(r"split (?P<groups>\d+)( into (?P<n_parts>\d+))?"),
)

Names = Mapping[str, str]
"""Names by the numbers of groups, or of the leaves of a node."""


def read_names(values: Iterable[str] | None) -> Names:
    """Read the values of ``--rename``: names, which take precedence, and tables of names."""
    tables = [value for value in values or () if Path(value).is_file()]
    typed = naming.parse_names(value for value in values or () if value not in tables)
    return {key: name for table in tables for key, name in naming.read_names(table).items()} | typed


def rename(estimator: Any, names: Names) -> Any:
    """Return an estimator with names given by hand."""
    if not names:
        return estimator
    try:
        return estimator.rename(names)
    except InvalidParameterError as error:
        # For the user, the names are those of an option.
        raise InvalidParameterError(error.message.replace(parameter="rename")) from error


@dataclass(frozen=True)
class Edit:
    """One edit of the groups: a merge, or a split into `n_parts`."""

    value: str
    groups: tuple[int, ...]
    n_parts: int | None

    @classmethod
    def parse(cls, value: str) -> Edit:
        """Parse "merge 2 5", "split 3" or "split 3 into 4"."""
        text = " ".join(value.split())
        merge, split = (pattern.fullmatch(text) for pattern in _EDITS)
        groups = tuple(map(int, (merge or split or {"groups": ""})["groups"].split()))
        n_parts = int(split["n_parts"] or 2) if split else None
        if not groups or len(set(groups)) < len(groups) or n_parts in (0, 1):
            raise InvalidParameterError(
                "[not_an_edit] {parameters.edit:=value}; expected the numbers of two or more "
                "different groups, as in 'merge 2 5', or of one, as in 'split 3' or 'split 3 into "
                "4'",
                value=value,
            )
        return cls(text, groups, n_parts)


def apply_edits(run: Run, estimator: Any, X: Any, edits: Iterable[Edit], min_cell: int) -> Any:
    """Return an estimator with the edits applied; a group below `min_cell` is not split."""
    for edit in edits:
        k, group = _n_groups(estimator, X), max(edit.groups)
        if group >= k:
            raise InvalidParameterError(
                "[no_group] {parameters.edit:=value}: group {group} does not exist; without this "
                "edit, the groups are numbered 0 to {last}",
                value=edit.value,
                group=group,
                last=k - 1,
            )
        if edit.n_parts is None:
            estimator = estimator.merge_groups(X, list(edit.groups))
            continue
        if (estimator.labels_ == group).sum() < min_cell:
            # The reason why so few records cannot be split would disclose their number.
            reason = Message(
                "[small_group] group {group} has fewer records than "
                "{parameters.min_cell:{min_cell}}, so its parts could not be shown",
                group=group,
                min_cell=min_cell,
            )
            raise InvalidDataError(_EDIT_FAILED, value=edit.value, reason=reason)
        try:
            estimator = estimator.split_group(X, group, n_groups=edit.n_parts)
        except InvalidDataError as error:
            raise InvalidDataError(_EDIT_FAILED, value=edit.value, reason=error.message) from error
        n_parts = _n_groups(estimator, X) - k + 1
        if n_parts < edit.n_parts:
            run.note(
                "[fewer_parts] {parameters.edit:=value} made {found:~group}; no more could be "
                "distinguished",
                value=edit.value,
                found=n_parts,
            )
    return estimator


def _n_groups(estimator: Any, X: Any) -> int:
    return int(estimator.predict_proba(X[:1]).shape[1])


@dataclass(frozen=True)
class OldModel:
    """A saved model of topics, and the name of its file."""

    model: Any
    name: str

    @classmethod
    def read(cls, options: Options) -> OldModel | None:
        """Read the model of ``--like``, which must be of the same kind as the new one."""
        path = options.like
        if path is None:
            return None
        model = models.load(path)
        kind: type = TopicTree if options.embeddings is None else ClusterTree
        if options.flat:
            lda = options.model == "lda"
            kind = models.LatentDirichletAllocation if lda else models.SingleTopicModel
        of_records = (getattr(model, "vectorizer_config_", None) or {}).get("kind") is not None
        if (
            type(model) is not kind
            or of_records
            or getattr(model, "data_", "directions") != "directions"
        ):
            raise InvalidDataError(
                "[like_other_kind] {path} has a {kind}, and the new model is a {expected} of "
                "documents; add or leave out {parameters.flat}, {parameters.model} and "
                "{parameters.embeddings} as for that model, or leave out {parameters.like}",
                path=str(path),
                kind=type(model).__name__,
                expected=kind.__name__,
            )
        return cls(model, path.name)

    @property
    def n_groups(self) -> int:
        """Number of leaves or topics."""
        return len(self.model.names_)


@dataclass(frozen=True)
class Named:
    """A model with its final names, and what changed since an old one if there is one."""

    model: Any
    changes: ModelChanges | None = None
    since: str = ""

    @classmethod
    def of(cls, model: Any, like: OldModel | None, names: Names) -> Named:
        """Take over the numbers and names of an old model, then apply those given by hand."""
        if like is None:
            return cls(rename(model, names))
        model = rename(model.relabeled(like.model), names)
        return cls(model, compare_models(like.model, model), like.name)

    @property
    def messages(self) -> list[Message]:
        """What changed, one sentence each."""
        if self.changes is None:
            return []
        counts, *groups = self.changes.messages
        messages = [
            Message(
                "[compared_with] Compared with {path}: {changes}", path=self.since, changes=counts
            ),
            *groups,
        ]
        pairs = [
            f"{group.new} was {group.old}"
            for group in self.changes
            if None not in (group.new, group.old) and group.new != group.old
        ]
        if pairs:
            messages.append(
                Message(
                    "[leaves_renumbered] The numbers of leaves follow the branches of the tree, so "
                    "some are not those in {path}: {pairs:all}.",
                    path=self.since,
                    pairs=pairs,
                )
            )
        return messages

    def content(self) -> dict[str, Any]:
        """Return what changed, as an entry of a JSON file."""
        if self.changes is None:
            return {}
        groups = [
            {
                "old": group.old,
                "new": group.new,
                "name": group.name,
                "status": group.status,
                "old_weight": float(decimals(group.old_weight)),
                "new_weight": float(decimals(group.new_weight)),
                "distance": None
                if group.distance != group.distance
                else float(decimals(group.distance)),
                "rose": list(group.rose),
                "fell": list(group.fell),
            }
            for group in self.changes
        ]
        return {"changes": {"like": self.since, "groups": groups}}
