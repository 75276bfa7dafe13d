import numpy as np
import pytest
import scipy.sparse as sp

from isrht.datasets import _embedded as embedded


def test_digits_are_odd_or_even():
    X, y, is_test = embedded.digits()
    assert X.shape == (1797, 64)
    assert set(y) == {0, 1}
    assert is_test is None


def test_patches_of_train_and_test_share_no_pixel(monkeypatch):
    """The value of each pixel in a made-up photograph is its place, and no place may both train and test."""
    pytest.importorskip("PIL")
    places = np.arange(427 * 640 * 3).reshape(427, 640, 3)
    images = type("Images", (), {"images": [places, places]})
    monkeypatch.setattr("sklearn.datasets.load_sample_images", lambda: images)
    X, y, is_test = embedded.photographs()
    places_of = np.round(X * 255).astype(int)
    assert X.shape[1] == 3072
    assert 0.2 < is_test.mean() < 0.4
    for label in (0, 1):
        train, test = (np.unique(places_of[(y == label) & (is_test == side)]) for side in (False, True))
        assert len(np.intersect1d(train, test)) == 0


def test_zipf_is_sparse_wide_and_the_same_every_time():
    X, y, _ = embedded.zipf(n_documents=50)
    again, y_again, _ = embedded.zipf(n_documents=50)
    assert sp.issparse(X)
    assert X.shape == (50, 100_000)
    assert X.nnz < 50 * 200
    np.testing.assert_allclose(sp.linalg.norm(X, axis=1), 1)
    assert (again != X).nnz == 0
    np.testing.assert_array_equal(y, y_again)


def test_zipf_words_follow_their_frequencies():
    X, _, _ = embedded.zipf(n_documents=400)
    documents = np.diff(X.tocsc().indptr)
    assert documents[:10].mean() > 3 * documents[100:110].mean() > 9 * documents[10_000:10_010].mean()


def test_the_covariance_of_figure_1_does_not_exist():
    """The covariance that is drawn instead does exist, and has the same larger eigenvalue (errata 10)."""
    np.testing.assert_allclose(np.linalg.eigvalsh([[1, 1.75], [1.75, 1]]), [-0.75, 2.75])
    np.testing.assert_allclose(np.linalg.eigvalsh([[1.75, 1], [1, 1.75]]), [0.75, 2.75])
    X, y, _ = embedded.blobs(n_points=20_000)
    np.testing.assert_allclose(X[y == 1].mean(axis=0), [3, 3], atol=0.1)
    np.testing.assert_allclose(np.cov(X[y == 0].T), [[1.75, 1], [1, 1.75]], atol=0.1)
