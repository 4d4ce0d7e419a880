"""A built-in labeled corpus of real text: docstrings of NumPy, SciPy and scikit-learn."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from types import ModuleType
from typing import Any

from momentree.readers.text.objects import Documents

# Listed explicitly, so that the corpus depends only on the installed versions; without deprecated,
# experimental and test modules, near-copies of others (numpy.ma, scipy.stats.mstats,
# scipy.fftpack) and helpers without a subject (numpy.testing, numpy.dtypes, sklearn.exceptions).
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

_MIN_WORDS = 20  # a line such as "Alias of float64" has no subject


def load_docstrings() -> Documents:
    """Load the docstrings of NumPy, SciPy and scikit-learn, labeled by subpackage.

    These are about 2,700 English documents in 56 classes, from "numpy" (more than 400) to
    "sklearn.mixture" (2), read from the installed packages without a network connection.

    Returns
    -------
    Documents
        Ids are qualified names ("scipy.stats.ttest_ind"); labels are the first two parts of the
        module ("scipy.stats", or "numpy" for functions of NumPy itself). Sorted by id within each
        module.

    Notes
    -----
    Public functions, classes and distributions, each object and each text once: an object shared
    by several modules belongs to the first. Docstrings of fewer than 20 words are omitted, and so
    are modules that repeat others (numpy.ma, scipy.fftpack, scipy.stats.mstats) and random outputs
    of examples, so that the same versions give the same texts. The modules are imported, which
    takes one or two seconds.

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
    alive: list[Any] = []  # keeps the ids of seen objects unique
    seen_texts: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about deprecated names
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
                text = _reproducible(inspect.getdoc(thing) or "")
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
    except ImportError:  # absent from this version of the package
        return None


def _member(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name, None)
    except ImportError:  # scikit-learn requires an import for experimental names
        return None


def _public_names(module: ModuleType) -> list[str]:
    names: Any = getattr(module, "__all__", None)
    if names is None:  # names defined in the module
        names = [
            name
            for name, thing in vars(module).items()
            if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
        ]
    return sorted(set(names) - _EXPERIMENTAL)


def _reproducible(text: str) -> str:
    """Remove differences between processes.

    SciPy generates some docstrings on import, with random numbers in the outputs of examples, which
    it marks, and with sets of names, whose order depends on hash values.
    """
    if "# may vary" in text:
        text = _OUTPUT.sub(lambda m: m[1] + ("" if "# may vary" in m[2] else m[2]), text)
    return _SET.sub(lambda m: "{" + ", ".join(sorted(m[1].split(", "))) + "}", text)
