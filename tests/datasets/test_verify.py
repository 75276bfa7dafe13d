import numpy as np
import pytest
import scipy.sparse as sp

from isrht.datasets._verify import WrongData, check_digest, check_facts, read_verified, remember_digest
from isrht.datasets.registry import KnownFacts

X = sp.csr_matrix(np.array([[1.0, 0], [0, 2], [0, 3]]))
Y = np.array([1.0, -1, -1])


def test_the_facts_hold():
    check_facts(KnownFacts(3, 2, 3, {1.0: 1, -1.0: 2}), X, Y, "file")


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (KnownFacts(4, 2), "rows 3, expected 4"),
        (KnownFacts(3, 5), "features 2, expected 5"),
        (KnownFacts(3, 2, 4), "nonzeros 3, expected 4"),
        (KnownFacts(3, 2, 3, {1.0: 2, -1.0: 1}), "rows by label"),
    ],
)
def test_what_does_not_hold_is_named(facts, what):
    with pytest.raises(WrongData, match=f"set.bz2 is not the set it should be: {what}"):
        check_facts(facts, X, Y, "/somewhere/set.bz2")


def test_a_file_that_changed_since_its_download_is_noticed(tmp_path):
    path = tmp_path / "set"
    path.write_text("first")
    remember_digest(path, check_digest(KnownFacts(1, 1), path))
    check_digest(KnownFacts(1, 1), path)
    path.write_text("changed")
    with pytest.raises(WrongData, match="sha256"):
        check_digest(KnownFacts(1, 1), path)


def test_a_known_checksum_comes_first(tmp_path):
    path = tmp_path / "set"
    path.write_text("text")
    with pytest.raises(WrongData, match="expected 0000"):
        check_digest(KnownFacts(1, 1, sha256="0000"), path)


def test_a_set_is_read_and_verified(tmp_path):
    path = tmp_path / "set"
    path.write_text("1 1:1\n-1 2:2\n-1 2:3\n")
    found, labels = read_verified(KnownFacts(3, 2, 3, {1.0: 1, -1.0: 2}), path)
    np.testing.assert_array_equal(found.toarray(), X.toarray())
    np.testing.assert_array_equal(labels, Y)
    assert read_verified(KnownFacts(3, 4), path)[0].shape == (3, 4), "features that the last rows lack"


def test_features_past_the_known_ones_are_another_set(tmp_path):
    path = tmp_path / "set"
    path.write_text("1 1:1\n-1 9:2\n")
    with pytest.raises(WrongData, match="set is not the set it should be: features 9, expected 2"):
        read_verified(KnownFacts(2, 2), path)


def test_labels_of_a_set_are_numbers(tmp_path):
    path = tmp_path / "set"
    path.write_text("<html> 1:1\n")
    with pytest.raises(ValueError, match="set, line 1, column 1: the label '<html>' is no number"):
        read_verified(KnownFacts(1, 1), path)
