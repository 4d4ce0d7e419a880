"""Built-in data: docstrings of installed packages, and made-up visits to a hospital."""

import importlib
import inspect
import re
import warnings
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from momentree._types import Int64s
from momentree.datasets._sampling import RandomState, check_sizes, draw_labels, generator
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


SLOTS = 12
"""Columns of codes, and so the maximum number of codes of a visit."""


@dataclass(frozen=True)
class _Group:
    """A kind of visit: its share, codes with their frequencies, and the patients."""

    share: float
    codes: str  # "I50.9 90, ...": percent of the visits with the code
    age: tuple[float, float]  # mean and standard deviation
    days: float  # median length of stay
    died: float
    female: float = 0.5


_GROUPS = {
    "heart failure": _Group(
        0.17,
        "I50.9 85, I48.91 48, N18.3 42, I25.10 46, I13.0 28, I10 25, E11.22 22, N17.9 30, "
        "J96.01 18, E78.5 38, Z95.0 14, Z79.01 35",
        (77, 9), 5, 0.07,
    ),
    "chronic lung disease": _Group(
        0.13,
        "J44.1 80, J18.9 38, J96.01 34, F17.210 45, Z99.81 26, I10 42, K21.9 24, J45.901 12, "
        "Z87.891 30, F41.9 18",
        (68, 11), 4, 0.04,
    ),
    "sepsis": _Group(
        0.12,
        "A41.9 88, N39.0 44, N17.9 48, R65.20 40, J18.9 30, E87.2 34, L89.154 16, D64.9 24, "
        "I10 30, B96.20 26, E86.0 22",
        (71, 15), 7, 0.18,
    ),
    "complicated diabetes": _Group(
        0.11,
        "E11.65 62, E11.621 30, L97.509 28, E11.42 44, I10 58, E78.5 50, Z79.4 60, E66.9 34, "
        "N18.3 18, I73.9 16",
        (61, 13), 5, 0.02,
    ),
    "newborns": _Group(
        0.15,
        "Z38.00 68, Z38.01 30, Z23 74, P59.9 26, P07.18 8, P22.1 7, P92.9 9, Q82.5 5",
        (0, 0), 2, 0.002,
    ),
    "deliveries": _Group(
        0.14,
        "Z37.0 97, O80 44, O34.211 18, O70.0 30, Z3A.39 52, Z3A.40 22, O99.824 12, D62 10, "
        "O62.0 14, O24.420 9",
        (29, 5.5), 2, 0.0005, 1.0,
    ),
    "joints and fractures": _Group(
        0.10,
        "M17.11 34, M17.12 30, Z96.651 22, S72.001A 20, W19.XXXA 24, I10 48, D62 26, E78.5 34, "
        "M81.0 18, K21.9 20, Z87.891 20",
        (70, 10), 3, 0.006, 0.62,
    ),
    "alcohol and mental health": _Group(
        0.08,
        "F10.230 56, F32.9 46, F41.9 36, F17.210 52, K70.30 18, E87.6 22, R45.851 26, G40.909 12, "
        "F11.20 14, Z59.0 16",
        (47, 13), 4, 0.004, 0.36,
    ),
}  # fmt: skip
_ANYWHERE = (
    *("K59.00", "R07.9", "R11.2", "R55", "E03.9", "D50.9", "M54.5", "G47.33", "E87.1", "R53.1"),
    *("Z88.0", "H40.9", "N40.0", "K57.30", "R51.9", "Z91.81", "G89.29", "E55.9", "L03.116", "R42"),
)
_ANYWHERE_RATE = 0.02


@dataclass(frozen=True)
class VisitSample:
    """Made-up hospital visits.

    Attributes
    ----------
    table : DataFrame
        One row per visit: visit_id, age, sex, length_of_stay (days), died ("yes" or "no"), and the
        ICD-10-CM codes in DX1, DX2, ..., "" where there are no more.
    labels : ndarray of int64, shape (n_samples,)
        Group of each visit.
    names : ndarray of str
        Name of each group.
    """

    table: pd.DataFrame
    labels: Int64s
    names: NDArray[np.str_]


def make_hospital_visits(
    n_samples: int = 2_000, *, random_state: RandomState = None
) -> VisitSample:
    """Draw made-up hospital visits with ICD-10 codes, from eight groups of patients.

    The codes of a visit are independent given its group. Their frequencies were chosen to look
    familiar; they are not estimates from patients.

    Parameters
    ----------
    n_samples : int, >= 1, default=2_000
        Number of visits.
    random_state : int, Generator or None, default=None
        Seed; None draws a different sample on each call.

    Returns
    -------
    VisitSample
        The table, as a hospital would export it, with the group of each visit.

    Raises
    ------
    InvalidParameterError
        If a parameter is out of range.

    Examples
    --------
    >>> from momentree.datasets import make_hospital_visits
    >>> sample = make_hospital_visits(1000, random_state=0)
    >>> sample.table.columns[:6].tolist()
    ['visit_id', 'age', 'sex', 'length_of_stay', 'died', 'DX1']
    >>> newborn = sample.labels == sample.names.tolist().index("newborns")
    >>> int(sample.table["age"][newborn].max())
    0
    """
    (n,) = check_sizes(n_samples=n_samples)
    rng = generator(random_state)
    groups = list(_GROUPS.values())
    labels = draw_labels(np.array([group.share for group in groups]), n, rng)
    pairs = [dict(_pair(text) for text in group.codes.split(", ")) for group in groups]
    codes = sorted({code for frequencies in pairs for code in frequencies} | set(_ANYWHERE))
    means = np.array(
        [
            [frequencies.get(code, _ANYWHERE_RATE * (code in _ANYWHERE)) for code in codes]
            for frequencies in pairs
        ]
    )
    has = rng.random((n, len(codes))) < means[labels]
    # The most typical codes of the group first, as the main diagnoses are; each visit has one.
    order = np.argsort(-(has + means[labels]), axis=1, kind="stable")[:, :SLOTS]
    held = np.take_along_axis(has, order, axis=1)
    held[:, 0] = True
    slots = np.where(held, np.array(codes, dtype=object)[order], "")
    patients = [(*group.age, group.days, group.died, group.female) for group in groups]
    age, spread, days, died, female = np.array(patients)[labels].T
    years = np.clip(np.rint(age + spread * rng.standard_normal(n)), 0, 99).astype(np.int64)
    stay = np.maximum(1, np.rint(days * np.exp(0.5 * rng.standard_normal(n)))).astype(np.int64)
    table = pd.DataFrame(
        {
            "visit_id": [f"V{i:05d}" for i in range(1, n + 1)],
            "age": years,
            "sex": np.where(rng.random(n) < female, "female", "male"),
            "length_of_stay": stay,
            "died": np.where(rng.random(n) < died, "yes", "no"),
            **{f"DX{j + 1}": slots[:, j] for j in range(slots.shape[1])},
        }
    )
    return VisitSample(table, labels, np.array(list(_GROUPS)))


def _pair(text: str) -> tuple[str, float]:
    code, _, percent = text.partition(" ")
    return code, float(percent) / 100.0
