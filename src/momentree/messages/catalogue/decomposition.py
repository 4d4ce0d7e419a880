"""Wording of messages about decomposition."""

WORDS: dict[str, str] = {
    # --- arguments -------------------------------------------------------------------------------
    "whitening_too_small": (
        "{parameters.n_components:{requested}}, but the whitening has {found:~component}; compute "
        "a larger one with whiten(moments, {requested})"
    ),
    "m3_too_large": (
        "{parameters.of:'m3'} accepts at most {most} features, but the moments have {found}; use "
        "{parameters.of:'whitened'}"
    ),
    "no_dense_m3": (
        "{parameters.of:'m3'} requires moments with a method m3_dense, which {type} does not have; "
        "use {parameters.of:'whitened'}"
    ),
    "not_multiview_moments": (
        "moments is of type {type}; expected MultiviewMoments, such as "
        "MultiviewMoments.from_data((X1, X2, X3), n_components=8)"
    ),
    "multiview_moments_too_small": (
        "{parameters.n_components:{requested}}, but the moments were computed for "
        "{found:~component}; compute them for {requested}"
    ),
    "not_positive": "{parameter} must contain only finite numbers above zero",
    "als_failed": (
        "alternating least squares failed from every start, because some of the "
        "{n_components:~component} became collinear; request fewer components, or use another "
        "decomposition"
    ),
    "not_ica_moments": (
        "moments is of type {type}; expected ICAMoments, such as ICAMoments.from_data(X)"
    ),
    "no_components": "{parameter} has no columns; give at least one component",
    "not_symmetric": "{parameter} is not symmetric; average it over the orders of its axes",
    # --- identifiability -------------------------------------------------------------------------
    "component_without_moments": (
        "component {component} has a weight of zero or only zeros, so moments do not depend on it"
    ),
    "components_parallel": (
        "components {first} and {second} are parallel, so that moments determine only their sum"
    ),
    "components_independent": "the {k:~component} are linearly independent",
    "kruskal_holds": (
        "Kruskal's criterion holds: any {rank} of the {k} components are linearly independent, and "
        "3 x {rank} is at least 2 x {k} + 2"
    ),
    "kruskal_fails": (
        "Kruskal's criterion does not decide: only any {rank} of the {k} components are linearly "
        "independent, and 3 x {rank} is below 2 x {k} + 2"
    ),
    "too_many_subsets": (
        "undecided: any {rank} of the {k} components are linearly independent, and larger sets are "
        "too many to examine"
    ),
    # --- why there are fewer components than requested -------------------------------------------
    "component_without_weight": (
        "{found:~component} {found:?has/have} a weight of zero, because M1 has no projection onto "
        "{found:?it/them}"
    ),
    "tensor_has_fewer_components": (
        "the whitened third moment contains only {found} of the {requested} components requested"
    ),
    # --- why the total concentration is uncertain ------------------------------------------------
    "concentration_needs_components": (
        "estimating the total concentration requires at least {needed} components; the moments "
        "have {found}"
    ),
    "concentration_at_end": (
        "the estimate of the total concentration, {alpha0:g}, is at a limit of the search range"
    ),
    # --- warnings about a decomposition ----------------------------------------------------------
    "no_gap_in_m2": (
        "M2 has no clear gap after component {rank}: the next eigenvalue differs by only {gap:.1%} "
        "of the largest. Try fewer or more components, or use more samples."
    ),
    "third_moment_unexplained": (
        "The components leave {residual:.0%} of the whitened third moment unexplained: the number "
        "of components or the model does not fit the data, or there are too few samples. Refine "
        "the result with EM, or compare other numbers of components."
    ),
    "negative_components": (
        "{found:~component} {found:?has/have} more than {most:.0%} of {found:?its/their} mass "
        "below zero. Where parameters must be nonnegative, this part is clipped to zero: use more "
        "samples or fewer components, or refine the result with EM."
    ),
    "negative_weights": (
        "{found:~weight} {found:?was/were} negative and {found:?was/were} set to zero: use fewer "
        "components or more samples."
    ),
    "components_not_distinct": (
        "Even the best feature, {feature}, barely distinguishes two of the components "
        "(alpha_r = {alpha_r:.2g}): use sidiwo, which uses all features, or fewer components."
    ),
    "complex_eigenvectors": (
        "{found:~pair} of eigenvectors {found:?is/are} complex: noise has mixed their components. "
        "Use sidiwo or random_projections, which combine many contractions, or more samples."
    ),
    "complex_eigenvalues": (
        "At least {found} of {k} eigenvalues were complex in each of {draws} contractions: there "
        "are too few samples for three views, or too many components. Use another decomposition, "
        "or split the features into other views."
    ),
}
