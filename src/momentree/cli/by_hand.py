"""What the user decides: names, edits of groups, and an old model whose numbers new topics get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from momentree import models, naming
from momentree.cli._run import Run
from momentree.cli.options import Options
from momentree.cli.tables import decimals
from momentree.core.choices import TopicModel
from momentree.estimators.changes import ModelChanges, compare_models
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message, wording
from momentree.tree import ClusterTree, TopicTree

_EDIT_FAILED = "[edit_failed] {parameter:{value}}: {reason}"


_FLAT: dict[type, TopicModel] = {
    models.SingleTopicModel: "single-topic",
    models.LatentDirichletAllocation: "lda",
}


@dataclass(frozen=True)
class GivenNames:
    """Names by number, as given on the command line and in a file."""

    typed: Mapping[str, str] = field(default_factory=dict)
    in_file: Mapping[str, str] = field(default_factory=dict)
    file: Path | None = None

    @classmethod
    def read(cls, rename: Sequence[str] | None, file: Path | None) -> GivenNames:
        """Read the values of ``--rename``, and a file of names if any."""
        typed = naming.parse_names(rename or ())
        return cls(typed, {} if file is None else naming.read_names(file), file)

    def apply(self, estimator: Any) -> Any:
        """Return an estimator with these names; those on the command line take precedence."""
        numbers = self.typed.keys() & self.in_file.keys()
        kept = {key: name for key, name in self.in_file.items() if key not in numbers}
        estimator = _rename(estimator, kept, parameter="names", source=str(self.file))
        return _rename(estimator, self.typed, parameter="rename", source="")

    def of_states(self, n_states: int) -> dict[str, str]:
        """Return checked names of states, by number; those typed take precedence."""
        numbers = {str(j): None for j in range(n_states)}
        kept = {key: name for key, name in self.in_file.items() if key not in self.typed}
        return {
            **naming.check_names(kept, numbers, parameter="names", source=str(self.file)),
            **naming.check_names(self.typed, numbers, parameter="rename"),
        }

    def __str__(self) -> str:
        return ", ".join(dict.fromkeys([*self.typed, *self.in_file]))


NO_NAMES = GivenNames()


def _rename(estimator: Any, names: Mapping[str, str], **shown: str) -> Any:
    if not names:
        return estimator
    try:
        return estimator.rename(names)
    except InvalidParameterError as error:
        # For the user, the names are those of an option.
        named = {**error.message.values, **shown}
        raise InvalidParameterError(error.message.replace(**named)) from error


def sort_names(values: Sequence[str] | None) -> tuple[str | None, Path | None]:
    """Return the value of ``--names`` that names codes, and the file that names groups."""
    values = values or ()
    if "" in values:  # as from an unset variable
        raise InvalidParameterError(wording.EMPTY_PATH)
    of_groups = [value for value in values if Path(value).is_file() and naming.holds_names(value)]
    of_codes = [value for value in values if value not in of_groups]
    if len(of_codes) > 1:
        raise InvalidParameterError(
            "{parameters.names} was given {values:and}, which all name codes; give one. A table "
            "that names groups has the columns number and name",
            values=of_codes,
        )
    if len(of_groups) > 1:
        raise InvalidParameterError(
            "{parameters.names} was given {values:and}, which all name groups; give one",
            values=of_groups,
        )
    return next(iter(of_codes), None), Path(of_groups[0]) if of_groups else None


@dataclass(frozen=True)
class Edit:
    """One edit of the groups."""

    option: str
    value: str
    groups: tuple[int, ...]
    n_groups: int = 1

    def __str__(self) -> str:
        return f"--{self.option} {self.value}"


def read_edits(options: Options) -> list[Edit]:
    """Read ``--merge`` and ``--split``, in the order on the command line."""
    values = {name: iter(options.by_name[name] or ()) for name in ("merge", "split")}
    parse = {"merge": _parse_merge, "split": _parse_split}
    return [parse[name](next(values[name])) for name in options.typed if name in parse]


def _parse_merge(value: str) -> Edit:
    groups = [_number(part) for part in value.split(",")]
    if len(groups) < 2 or -1 in groups or len(set(groups)) < len(groups):
        raise InvalidParameterError(
            "[not_a_merge] {parameters.merge:{value}}; expected two or more different group "
            "numbers, such as {parameters.merge:2,5}",
            value=value,
        )
    return Edit("merge", value, tuple(groups))


def _parse_split(value: str) -> Edit:
    group, colon, parts = value.partition(":")
    n_groups = _number(parts) if colon else 2
    if _number(group) < 0 or n_groups < 2:
        raise InvalidParameterError(
            "[not_a_split] {parameters.split:{value}}; expected a group number, optionally "
            "followed by a colon and the number of parts (default 2), such as {parameters.split:3} "
            "or {parameters.split:3:4}",
            value=value,
        )
    return Edit("split", value, (_number(group),), n_groups)


def _number(text: str) -> int:
    return int(text) if text.strip().isdecimal() else -1


def apply_edits(run: Run, estimator: Any, X: Any, edits: Iterable[Edit], min_cell: int) -> Any:
    """Return an estimator with the edits applied; a group below `min_cell` is not split."""
    for edit in edits:
        k = _n_groups(estimator, X)
        written = {"parameter": edit.option, "value": edit.value}
        if max(edit.groups) >= k:
            raise InvalidParameterError(
                "[no_group] {parameter:{value}}: group {group} does not exist; without this "
                "option, the groups are numbered 0 to {last}",
                **written,
                group=max(edit.groups),
                last=k - 1,
            )
        if edit.option == "merge":
            estimator = estimator.merge_groups(X, list(edit.groups))
            continue
        if (estimator.labels_ == edit.groups[0]).sum() < min_cell:
            # The reason why so few records cannot be split would disclose their number.
            reason = Message(
                "[small_group] group {group} has fewer records than "
                "{parameters.min_cell:{min_cell}}, so its parts could not be shown",
                group=edit.groups[0],
                min_cell=min_cell,
            )
            raise InvalidDataError(_EDIT_FAILED, **written, reason=reason)
        try:
            estimator = estimator.split_group(X, edit.groups[0], n_groups=edit.n_groups)
        except InvalidDataError as error:
            raise InvalidDataError(_EDIT_FAILED, **written, reason=error.message) from error
        n_parts = _n_groups(estimator, X) - k + 1
        if n_parts < edit.n_groups:
            run.note(
                "[fewer_parts] {parameter:{value}} made {found:~group}; no more could be "
                "distinguished",
                **written,
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
    def read(cls, path: Path, *, flat: bool, kind: TopicModel | None, embeddings: bool) -> OldModel:
        """Read a model, which must be of the same kind as the new one."""
        model = models.load(path)
        shown = {"path": str(path), "parameter": "like"}
        of_documents = (getattr(model, "vectorizer_config_", None) or {}).get("kind") is None
        if isinstance(model, TopicTree) and of_documents:
            if flat or embeddings:
                raise InvalidDataError(
                    "[like_tree] {path} has a tree of topics; leave out {parameters.flat} and "
                    "{parameters.embeddings}, or {parameter}",
                    **shown,
                )
        elif isinstance(model, ClusterTree) and model.data_ == "directions":
            if not embeddings:
                raise InvalidDataError(
                    "{path} has a tree of embeddings; add {parameters.embeddings:FILE.npy}, or "
                    "leave out {parameter}",
                    **shown,
                )
        elif type(model) in _FLAT and of_documents:
            if not flat or _FLAT[type(model)] != (kind or "single-topic"):
                raise InvalidDataError(
                    "{path} has flat topics; add {parameters.flat} {parameters.model:=kind}, or "
                    "leave out {parameter}",
                    kind=_FLAT[type(model)],
                    **shown,
                )
        else:
            raise InvalidDataError(
                "{path} is a {kind}, not a model of documents; give a file of momentree topics "
                "{parameters.save}, or leave out {parameter}",
                kind=type(model).__name__,
                **shown,
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
    def of(cls, model: Any, like: OldModel | None, given: GivenNames) -> Named:
        """Take over the numbers and names of an old model, then apply those given by hand."""
        if like is None:
            return cls(given.apply(model))
        model = given.apply(model.relabeled(like.model))
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
