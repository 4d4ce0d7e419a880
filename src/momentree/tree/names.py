"""The names of the groups of an estimator: chosen from words and texts, or given by hand."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from momentree._types import Ints
from momentree._validation import check_feature_names
from momentree.exceptions import InvalidDataError, InvalidParameterError
from momentree.messages import Message
from momentree.naming import check_names, find_phrases
from momentree.tree.naming import name_by_words, nodes_by_number
from momentree.tree.node import TreeNode

if TYPE_CHECKING:
    from momentree.readers import Corpus


class NamedGroups:
    """Estimators whose leaves or components have names."""

    vocabulary_: NDArray[Any]
    labels_: Ints

    _given_names: dict[str, str]  # only after `rename`

    def _copied_root(self) -> TreeNode:
        """Return a copy of the tree, or the components as a tree of one level, with names."""
        raise NotImplementedError

    def _set_names(self, root: TreeNode) -> None:
        """Replace the names by those of a copied tree."""
        raise NotImplementedError

    @property
    def names_(self) -> list[str]:
        """Name of each leaf or component, by number."""
        check_is_fitted(self, "labels_")
        leaves = sorted(self._copied_root().leaves(), key=lambda leaf: leaf.leaf_id or 0)
        return [leaf.name for leaf in leaves]

    @property
    def given_names_(self) -> dict[str, str]:
        """Names given by :meth:`rename`, by number: "3", or "0-3" for the node above leaves 0-3."""
        check_is_fitted(self, "vocabulary_")
        return dict(vars(self).get("_given_names", {}))

    def rename(self, names: Mapping[int, str] | Mapping[str, str] | int, name: str = "") -> Self:
        """Give names to groups.

        Tables, figures, the report and a saved file show them in place of the names that were
        chosen from words or codes.

        Parameters
        ----------
        names : mapping of int or str to str, or int
            Name by number of a leaf or component; "0-3" is the inner node above leaves 0 to 3.
            Or the number of one.
        name : str, default=""
            The name, if `names` is a number.

        Returns
        -------
        estimator
            A new fitted estimator with these names; this one is unchanged. :meth:`fit` discards
            them; ``split_group`` and ``merge_groups`` keep those of all other groups.

        Raises
        ------
        InvalidParameterError
            If a number does not exist; if a name is empty, longer than 120 characters or contains
            control characters; if two groups get the same name.

        Examples
        --------
        >>> import numpy as np
        >>> from momentree import TopicTree
        >>> X = np.repeat(np.kron(np.eye(2), np.ones(5)), [30, 20], axis=0)
        >>> tree = TopicTree(2).fit(X).rename(0, "Trade")
        >>> tree.names_[0], tree.rename({1: "Sport"}).names_
        ('Trade', ['Trade', 'Sport'])
        """
        check_is_fitted(self, "labels_")
        root = self._copied_root()
        nodes = nodes_by_number(root)
        given = check_names({names: name} if isinstance(names, Integral) else names, nodes)
        given = check_names({**self.given_names_, **given}, nodes)
        out = copy.copy(self)
        out._given_names = given
        for key, text in given.items():
            nodes[key].name = text
        out._set_names(root)
        return out

    def _keep_names(self, before: NamedGroups) -> None:
        """After an edit, keep names given by hand of all groups with the same samples as before."""
        for name in ("_given_names", "_names"):
            vars(self).pop(name, None)
        given = before.given_names_
        if not given:
            return
        old = nodes_by_number(before._copied_root())
        root = self._copied_root()
        kept = {}
        for key, node in nodes_by_number(root).items():
            same = (k for k in given if k in old and _same(old[k].samples, node.samples))
            if (found := next(same, None)) is not None:
                node.name = kept[key] = given[found]
        if kept:
            self._given_names = kept
            self._set_names(root)

    def _forget_names(self) -> None:
        """Discard names before a fit."""
        for name in ("_given_names", "_names", "_languages"):
            vars(self).pop(name, None)

    def _check_names(self) -> None:
        """Raise an error if names from a file do not match the groups."""
        given: Any = vars(self).get("_given_names", {})
        try:
            checked = check_names(given, nodes_by_number(self._copied_root()))
        except InvalidParameterError as error:
            raise InvalidDataError("bad_entry", name="_given_names", value=given) from error
        if checked != given:
            raise InvalidDataError("bad_entry", name="_given_names", value=given)


class NamedTopics(NamedGroups):
    """Estimators whose names can be chosen from the texts of a corpus."""

    notes_: list[Message]

    _languages: list[str]  # only after `name_topics`

    @property
    def languages_(self) -> tuple[str, ...]:
        """Languages whose inflections the names join; English before :meth:`name_topics`."""
        check_is_fitted(self, "vocabulary_")
        return tuple(vars(self).get("_languages", ("en",)))

    def _check_names(self) -> None:
        super()._check_names()
        languages: Any = vars(self).get("_languages", [])
        if not (isinstance(languages, list) and all(isinstance(code, str) for code in languages)):
            raise InvalidDataError("bad_entry", name="_languages", value=languages)

    def name_topics(
        self,
        corpus: Corpus | None = None,
        *,
        language: str | Sequence[str] | None = None,
        feature_names: Sequence[str] | NDArray[Any] | None = None,
    ) -> Self:
        """Choose the names anew, from the texts of the corpus and with regard to its language.

        A ``fit`` to counts knows only words, and joins inflections by English rules. With the
        texts, names also have phrases of two words ("climate change"), and with the language, its
        inflections are joined. A ``fit`` to texts or to a corpus does this by itself.

        Parameters
        ----------
        corpus : Corpus, default=None
            The corpus whose counts were used in ``fit``, in the same order.
        language : str, sequence of str or None, default=None
            ISO 639-1 code of the language, or several, also as "en,fr". None means that of
            ``corpus.vectorizer``, or English for a corpus without texts.
        feature_names : sequence of str of shape (n_features,), default=None
            In place of a corpus: the words of the columns, which ``fit`` did not know, as in a
            pipeline, ``pipeline[-1].name_topics(feature_names=\
pipeline[:-1].get_feature_names_out())``.

        Returns
        -------
        estimator
            A new fitted estimator with these names, and with those given by :meth:`rename`; this
            one is unchanged.

        Raises
        ------
        InvalidDataError
            If it is not a corpus, or does not have the documents and words of ``fit``; or if the
            number of names is wrong.
        InvalidParameterError
            If there are both a corpus and names.

        Examples
        --------
        >>> from momentree import TopicTree
        >>> from momentree.datasets import vectorize
        >>> texts = ["Climate change is real", "A climate change report", "Trade law"]
        >>> corpus = vectorize(texts * 5, min_df=1, max_df=1.0)
        >>> tree = TopicTree(2).fit(corpus.X, feature_names=corpus.vocabulary)
        >>> sorted(tree.name_topics(corpus).names_)
        ['climate change, real, report', 'trade law']
        """
        check_is_fitted(self, "labels_")
        out = copy.copy(self)
        if feature_names is not None:
            if corpus is not None:
                raise InvalidParameterError("names_and_corpus", parameter="feature_names")
            out.vocabulary_ = check_feature_names(feature_names, len(self.vocabulary_))
            out.notes_ = [note for note in self.notes_ if note.code != "columns_without_names"]
        elif corpus is None or not (hasattr(corpus, "vocabulary") and hasattr(corpus, "texts")):
            raise InvalidDataError("not_a_corpus", type=type(corpus).__name__)
        elif len(corpus) != len(self.labels_) or list(corpus.vocabulary) != list(self.vocabulary_):
            raise InvalidDataError("corpus_not_of_fit", n_rows=len(corpus))
        root = self._copied_root()
        nodes = list(root.nodes())
        find = None
        if corpus is not None and corpus.texts is not None and corpus.vectorizer is not None:
            find = partial(
                find_phrases,
                corpus.texts,
                self.labels_,
                [[leaf.leaf_id or 0 for leaf in node.leaves()] for node in nodes],
                corpus.vectorizer.splitter(),
                weights=corpus.weights,
            )
        languages = _languages(corpus, language)
        name_by_words(root, out.vocabulary_, languages=languages, find=find)
        by_number = nodes_by_number(root)
        for key, text in self.given_names_.items():
            by_number[key].name = text
        out._languages = languages
        out._set_names(root)
        return out


def _same(one: Ints, other: Ints) -> bool:
    return len(one) > 0 and np.array_equal(one, other)


def _languages(corpus: Corpus | None, language: str | Sequence[str] | None) -> list[str]:
    if language is None:
        vectorizer = None if corpus is None else corpus.vectorizer
        language = "en" if vectorizer is None else vectorizer.language
    if language is None:  # all words were kept
        return []
    codes = language.split(",") if isinstance(language, str) else language
    return [str(code).strip() for code in codes]
