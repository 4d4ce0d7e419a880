"""Give new topics the numbers and names of an old model: ``--like old.mt``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from momentree import models
from momentree.cli._names import GivenNames
from momentree.cli._run import Run
from momentree.cli.tables import decimals
from momentree.core.choices import TopicModel
from momentree.estimators.changes import ModelChanges, compare_models
from momentree.exceptions import InvalidDataError
from momentree.messages import Message
from momentree.report.text import for_readers
from momentree.tree import ClusterTree, TopicTree

_FLAT: dict[type, TopicModel] = {
    models.SingleTopicModel: "single-topic",
    models.LatentDirichletAllocation: "lda",
}


@dataclass(frozen=True)
class OldModel:
    """A saved model of topics, and the name of its file."""

    model: Any
    name: str

    @classmethod
    def read(cls, path: Path, *, flat: bool, kind: TopicModel | None, embeddings: bool) -> OldModel:
        """Read a model, which must be of the same kind as the new one."""
        model = models.load(path)
        found = {"path": str(path), "parameter": "like"}
        of_documents = (getattr(model, "vectorizer_config_", None) or {}).get("kind") is None
        if isinstance(model, TopicTree) and of_documents:
            if flat or embeddings:
                raise InvalidDataError("like_tree", **found)
        elif isinstance(model, ClusterTree) and model.data_ in ("directions", "embeddings"):
            if not embeddings:
                raise InvalidDataError("like_embeddings", **found)
        elif type(model) in _FLAT and of_documents:
            if not flat or _FLAT[type(model)] != (kind or "single-topic"):
                raise InvalidDataError("like_flat", kind=_FLAT[type(model)], **found)
        else:
            raise InvalidDataError("like_other", kind=type(model).__name__, **found)
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
        found = [Message("compared_with", path=self.since, changes=counts), *groups]
        pairs = [
            f"{group.new} was {group.old}"
            for group in self.changes
            if None not in (group.new, group.old) and group.new != group.old
        ]
        if pairs:
            found.append(Message("leaves_renumbered", path=self.since, pairs=pairs))
        return found

    def remarks(self, run: Run) -> list[str]:
        """Return what changed, for the screen."""
        return [run.words(message) for message in self.messages]

    def in_report(self) -> dict[str, Any]:
        """Return what changed, as an entry of a summary."""
        return {"changes": list(map(for_readers, self.messages))}

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
