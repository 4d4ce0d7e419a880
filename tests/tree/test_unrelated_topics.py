"""Eight unrelated topics: where a tree of fixed depth wastes leaves and best-first growth does not.

Counts as long as those of the NIPS corpus of the papers, of fewer documents and words.
"""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from momentree import TopicTree
from momentree.datasets import make_single_topic


@pytest.fixture(scope="module")
def sample():
    lengths = np.random.default_rng(0).poisson(1_450, size=500)
    return make_single_topic(500, 1_000, 8, length=lengths, random_state=0)


@pytest.mark.parametrize("options", [{}, {"log_scaling": None}], ids=["defaults", "whole counts"])
def test_all_topics_are_found(sample, options):
    tree = TopicTree(max_leaf_nodes=8, **options).fit(sample.X)
    assert tree.n_leaves_ == 8
    assert adjusted_rand_score(sample.labels, tree.labels_) >= 0.99


@pytest.mark.long
def test_growth_by_depth_wastes_leaves_that_best_first_growth_does_not(sample):
    score = {
        growth: adjusted_rand_score(
            sample.labels,
            TopicTree(8, growth=growth, refine=None, log_scaling=None).fit(sample.X).labels_,
        )
        for growth in ("best_first", "depth")
    }
    # Two topics that share a leaf of eight cost about 0.1 (ARI); growth by depth merges several.
    assert score["depth"] <= score["best_first"] - 0.2
