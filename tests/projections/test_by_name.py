import numpy as np
import pytest

from isrht import make_projection
from isrht.projections.by_name import PROJECTIONS

PAPER = "Gaussian, Achlioptas, Sparse Embedding, SRHT, ISRHT-nps, ISRHT-top-r, ISRHT-supervised, PCA, DLSS"


def test_the_nine_of_the_paper():
    assert set(PROJECTIONS) == set(PAPER.split(", "))


@pytest.mark.parametrize("name", PROJECTIONS)
def test_each_projects_to_the_wanted_size_and_is_seeded(name, rng):
    X, y = rng.standard_normal((40, 20)), rng.integers(0, 2, 40)
    first, second = (np.asarray(make_projection(name, 5, random_state=7).fit_transform(X, y)) for _ in range(2))
    assert first.shape == (40, 5)
    np.testing.assert_array_equal(first, second)


def test_other_names_are_refused():
    with pytest.raises(ValueError, match="unknown projection 'LDA'.*'Gaussian'"):
        make_projection("LDA", 5)
