"""What rows of files can do whatever their format is, shown by a format that lies in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

from isrht.files.errors import FileError
from isrht.files.labels import Labels
from isrht.files.opening import open_rows
from isrht.files.rows import FileRows, GatheredRows, rows_per_block


class RowsInMemory(FileRows):
    """Rows whose blocks are given, by the name of their file."""

    def __init__(self, files, **options):
        super().__init__(list(files), "memory", **options)
        self.files = files

    def _blocks(self, label_type):
        for path in self._files():
            for X, texts in self.files[path]:
                yield (
                    np.array(X, dtype=float),
                    None if texts is None else Labels.of_different(texts, np.arange(len(texts)), False),
                )


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / name).touch()
    return {"one": [([[1, 0]], ["1"]), ([[0, 0], [2, 3]], ["2", "1"])], "two": [([[4, 5]], ["1"])]}


def test_blocks_again_and_again(files):
    rows = RowsInMemory(files)
    for _ in range(2):
        assert [y.tolist() for _, y in rows] == [[1], [2, 1], [1]]


def test_a_scan_and_a_read_find_the_same(files):
    X, y, facts = RowsInMemory(files).read()
    assert X.tolist() == [[1, 0], [0, 0], [2, 3], [4, 5]]
    assert y.tolist() == [1, 2, 1, 1]
    assert facts == RowsInMemory(files).scan()
    assert (facts.n_samples, facts.n_features, facts.nnz, facts.classes) == (4, 2, 5, {1.0: 3, 2.0: 1})


def test_only_one_scan_is_made(files):
    rows = RowsInMemory(files)
    facts = rows.scan()
    del rows.files["one"]
    assert rows.scan() is facts


def test_without_a_scan_the_first_label_decides_and_with_one_all_do(files):
    files["two"] = [([[4, 5]], ["spam"])]
    with pytest.raises(FileError, match="two: the label of row 1, 'spam', is no number, as the first is"):
        list(RowsInMemory(files))
    rows = RowsInMemory(files)
    rows.scan()
    assert [y.tolist() for _, y in rows] == [["1"], ["2", "1"], ["spam"]]


def test_an_error_counts_the_rows_of_its_file(files):
    files["one"][1] = ([[0, 0], [2, 3]], ["2", "spam"])
    with pytest.raises(FileError, match="one: the label of row 3, 'spam', is no number$"):
        RowsInMemory(files, label_type="number").scan()


def test_rows_without_labels(files):
    files = {name: [(X, None) for X, _ in blocks] for name, blocks in files.items()}
    assert [y for _, y in RowsInMemory(files)] == [None] * 3
    X, y, facts = RowsInMemory(files).read()
    assert (X.shape, y, facts.label_type, facts.classes) == ((4, 2), None, None, None)


def test_no_rows_are_an_error_where_all_are_asked_for(files):
    empty = dict.fromkeys(files, ())
    assert list(RowsInMemory(empty)) == []
    assert RowsInMemory(empty).scan().n_samples == 0
    with pytest.raises(FileError, match="one: there are no rows in it"):
        RowsInMemory(empty).read()


def test_a_pipe_is_read_only_once(files):
    rows = RowsInMemory({"-": files["one"]})
    list(rows)
    with pytest.raises(FileError, match="standard input: has been read already"):
        list(rows)


def test_gathered_rows_are_those_that_were_given(rng):
    blocks = [rng.standard_normal((n, 3)) for n in (1, 5, 2, 40)]
    dense, sparse = GatheredRows(), GatheredRows()
    for block in blocks:
        dense.append(block)
        sparse.append(sp.csr_matrix(block))
    np.testing.assert_array_equal(dense.whole(), np.concatenate(blocks))
    np.testing.assert_array_equal(sparse.whole().toarray(), np.concatenate(blocks))
    assert GatheredRows().whole() is None


def test_blocks_hold_the_rows_that_are_asked_for_or_a_few_megabytes():
    assert rows_per_block(10, 7) == 7
    assert 2**20 <= 8 * 10 * rows_per_block(10, None) <= 2**26
    assert rows_per_block(2**40, None) == 1


@pytest.mark.parametrize(("first", "message"), [(True, "b.npz: it has no labels"), (False, "b.npz: it has labels")])
def test_labels_that_only_some_files_have_are_an_error_that_names_the_file(tmp_path, first, message):
    for name, has_labels in (("a", first), ("b", not first)):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(3), **({"y": np.arange(3)} if has_labels else {}))
    paths = [str(tmp_path / "a.npz"), str(tmp_path / "b.npz")]
    with pytest.raises(FileError, match=f"{message}, unlike .*a.npz"):
        list(open_rows(paths))
    with pytest.raises(FileError, match=message):
        open_rows(paths).read()
