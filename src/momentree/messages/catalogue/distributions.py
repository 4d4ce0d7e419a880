"""Wording of messages about fits of distributions."""

WORDS: dict[str, str] = {
    "no_values": "{parameter} is empty; give at least two different values",
    "values_not_usable": (
        "{parameter} contains missing, infinite or huge values; expected numbers from -{largest:g} "
        "to {largest:g}: remove the others"
    ),
    "all_values_equal": "all values of {parameter} are equal; at least two must differ",
    "not_counts": (
        "{parameter} contains {value:g}; a {distribution} distribution requires whole numbers of "
        "zero or more"
    ),
    "not_positive_values": (
        "{parameter} contains {value:g}; a {distribution} distribution requires numbers above zero"
    ),
    "no_variance": (
        "the variance is {variance:g}, and must be positive; m2 must exceed the square of m1"
    ),
    "mean_not_positive": (
        "the mean is {mean:g}; a {distribution} distribution requires a positive mean"
    ),
    "not_underdispersed": (
        "the variance, {variance:.4g}, is not below the mean, {mean:.4g}, as in a binomial "
        "distribution: the number of trials would be negative or infinite. Fit a Poisson "
        "distribution if they are about equal; a larger variance suggests a mixture"
    ),
    "trials_below_largest": (
        "the estimated number of trials, {n:.2f}, is below the largest value, {largest:g}: the "
        "number of trials is at least that, or the data are not binomial"
    ),
    "samples_outside": (
        "{n_rows:~sample} {n_rows:?lies/lie} outside the estimated limits; the smallest and "
        "largest values are the most likely limits of a uniform distribution"
    ),
    "not_poisson": (
        "the variance is {dispersion:.2f} times the mean, so the data are not Poisson; the "
        "standard error allows for this"
    ),
}
