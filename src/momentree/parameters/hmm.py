"""Parameters of hidden Markov models from decomposed moments."""

from __future__ import annotations

import numpy as np

from momentree.moments import HMMMoments
from momentree.objects import Decomposition
from momentree.objects.hidden_markov import CategoricalEmissions, HMMParameters
from momentree.parameters.simplex import project_to_simplex


def hmm_parameters(found: Decomposition, moments: HMMMoments) -> HMMParameters:
    """Solve for the start and the transitions of a hidden Markov model with symbols.

    With O the centers of a decomposition, P = E[x_t x_(t+1)^T] and f = E[x_1],

        diag(v) A = O^+ P (O^+)^T,   pi = O^+ f.

    Parameters
    ----------
    found : Decomposition
        Decomposition of `moments` with at least one component.
    moments : HMMMoments
        Moments of triples of symbols.

    Returns
    -------
    HMMParameters
        Emissions, transitions and start, projected onto the simplex; states in the order of the
        decomposition.
    """
    k = found.n_components
    back = np.linalg.pinv(found.centers)
    joint = back @ (moments.pairs @ back.T)
    rows = joint.sum(axis=1, keepdims=True)
    transmat = np.divide(joint, rows, out=np.full((k, k), 1.0 / k), where=rows > 0)
    return HMMParameters(
        project_to_simplex((back @ moments.first)[:, None])[:, 0],
        project_to_simplex(transmat.T).T,
        CategoricalEmissions(project_to_simplex(found.centers).T.copy()),
    )
