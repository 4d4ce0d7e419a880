"""A labelled corpus of real text that every installation has: docstrings of scientific Python."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from types import ModuleType
from typing import Any

from momentree.readers.text.objects import Documents

__all__ = ["load_docstrings"]

# Named one by one, so that the corpus depends on nothing but the versions installed: no
# deprecated, experimental or test module. Left out on purpose are near-copies of others
# (numpy.ma and scipy.stats.mstats repeat their models word for word, scipy.fftpack is the old
# scipy.fft) and helpers without a subject (numpy.testing, numpy.dtypes, sklearn.exceptions).
_MODULES = """
numpy numpy.fft numpy.linalg numpy.random numpy.strings
numpy.polynomial numpy.polynomial.polynomial numpy.polynomial.chebyshev numpy.polynomial.hermite
numpy.polynomial.hermite_e numpy.polynomial.laguerre numpy.polynomial.legendre
scipy.cluster.hierarchy scipy.cluster.vq scipy.constants scipy.fft scipy.integrate
scipy.interpolate scipy.io scipy.io.arff scipy.io.wavfile scipy.linalg scipy.linalg.interpolative
scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows scipy.sparse scipy.sparse.csgraph
scipy.sparse.linalg scipy.spatial scipy.spatial.distance scipy.spatial.transform scipy.special
scipy.stats scipy.stats.contingency scipy.stats.qmc scipy.stats.sampling
sklearn.base sklearn.calibration sklearn.cluster sklearn.compose sklearn.covariance
sklearn.cross_decomposition sklearn.datasets sklearn.decomposition sklearn.discriminant_analysis
sklearn.dummy sklearn.ensemble sklearn.feature_extraction sklearn.feature_extraction.image
sklearn.feature_extraction.text sklearn.feature_selection sklearn.gaussian_process
sklearn.gaussian_process.kernels sklearn.impute sklearn.inspection sklearn.isotonic
sklearn.kernel_approximation sklearn.kernel_ridge sklearn.linear_model sklearn.manifold
sklearn.metrics sklearn.metrics.cluster sklearn.metrics.pairwise sklearn.mixture
sklearn.model_selection sklearn.multiclass sklearn.multioutput sklearn.naive_bayes
sklearn.neighbors sklearn.neural_network sklearn.pipeline sklearn.preprocessing
sklearn.random_projection sklearn.semi_supervised sklearn.svm sklearn.tree sklearn.utils
"""

# Public only after another module has been imported.
_EXPERIMENTAL = {"HalvingGridSearchCV", "HalvingRandomSearchCV", "IterativeImputer"}

# The lines of an example in a docstring, and the lines of output after them.
_OUTPUT = re.compile(r"((?:^[ ]*(?:>>>|\.\.\.).*\n)+)((?:^(?![ ]*>>>)[ ]*\S.*(?:\n|\Z))+)", re.M)
_SET = re.compile(r"\{('\w+'(?:, '\w+')+)\}")

_MIN_WORDS = 20  # a line such as "Alias of float64" says nothing about a subject


def load_docstrings() -> Documents:
    """Load the docstrings of NumPy, SciPy and scikit-learn, labelled by subpackage.

    About 2,700 documents of English text in some 45 classes, from "scipy.special" (more than
    300) to "sklearn.mixture" (2). No network is needed: the text is that of the versions
    installed.

    Returns
    -------
    Documents
        Ids are qualified names ("scipy.stats.ttest_ind"), labels the first two parts of
        the module ("scipy.stats"; "numpy" for NumPy's own functions), sorted by id within the
        modules.

    Notes
    -----
    Public functions, classes and distributions, each object and each text once: aliases and
    functions that a package shares with another count for the first. Docstrings of fewer than
    20 words are left out, and so are modules that repeat another (numpy.ma, scipy.fftpack,
    scipy.stats.mstats). Outputs of examples that are random are left out as well, so that the
    same versions give the same texts in every process. The modules are imported, which takes one
    or two seconds and stays in ``sys.modules``; parsing their sources takes longer and misses all
    that is compiled.

    Examples
    --------
    >>> from momentree.datasets import load_docstrings
    >>> documents = load_docstrings()
    >>> documents.labels[documents.ids.index("scipy.linalg.svd")]
    'scipy.linalg'
    """
    texts: list[str] = []
    ids: list[str] = []
    labels: list[str] = []
    seen_objects: set[int] = set()
    alive: list[Any] = []  # an id is that of one object only while the object lives
    seen_texts: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that the packages themselves deprecate
        for module_name in _MODULES.split():
            module = _module(module_name)
            if module is None:
                continue
            for name in _public_names(module):
                thing = _member(module, name)
                if not callable(thing) or id(thing) in seen_objects:
                    continue
                seen_objects.add(id(thing))
                alive.append(thing)
                text = _steady(inspect.getdoc(thing) or "")
                if len(text.split()) < _MIN_WORDS or text in seen_texts:
                    continue
                seen_texts.add(text)
                texts.append(text)
                ids.append(f"{module_name}.{name}")
                labels.append(".".join(module_name.split(".")[:2]))
    return Documents(texts, ids, labels, name="docstrings of NumPy, SciPy and scikit-learn")


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:  # another version of the package has it elsewhere or no more
        return None


def _member(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name, None)
    except ImportError:  # scikit-learn hides what is experimental behind an import
        return None


def _public_names(module: ModuleType) -> list[str]:
    names: Any = getattr(module, "__all__", None)
    if names is None:  # what the module itself defines
        names = [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
        ]
    return sorted(set(names) - _EXPERIMENTAL)


def _steady(text: str) -> str:
    """Take out what differs from one process to the next.

    SciPy writes some docstrings while it is imported: with random numbers in the outputs of
    examples, which it marks, and with sets of names, whose order is that of their hashes.
    """
    if "# may vary" in text:
        text = _OUTPUT.sub(lambda m: m[1] + ("" if "# may vary" in m[2] else m[2]), text)
    return _SET.sub(lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text)
