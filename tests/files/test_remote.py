"""Files at URLs: in fsspec's memory, on a server with ranges that breaks off, and in a bucket of a real S3 server."""

import io
import logging
import os
import pickle
import socket

import numpy as np
import pytest
from http_server import serving
from numpy.testing import assert_array_equal

from isrht import ISRHTClassifier, RowSource
from isrht.files import FileError, _trouble, open_rows, read_rows, write_rows
from isrht.files._trouble import RemoteError
from isrht.files.remote import RemoteFile

fsspec = pytest.importorskip("fsspec")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    monkeypatch.setattr(_trouble, "PAUSE", 0.001)


@pytest.fixture
def rows(rng):
    X = rng.standard_normal((500, 6))
    return X, (X[:, 0] > 0).astype(float)


@pytest.fixture
def files(tmp_path, rows):
    """The same rows in every format, as bytes."""
    X, y = rows
    for name in ("rows.svm", "rows.svm.gz", "rows.csv", "rows.tsv.xz", "rows.parquet"):
        write_rows(tmp_path / name, X, y)
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    return {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def options(name):
    return {"label": -1} if name.endswith(".npy") else {"label": "label"} if name[5:8] in ("csv", "tsv", "par") else {}


@pytest.fixture
def memory(files):
    system = fsspec.filesystem("memory")
    for name, data in files.items():
        system.pipe(f"/isrht/{name}", data)
    yield "memory://isrht"
    system.rm("/isrht", recursive=True)


NAMES = ["rows.svm", "rows.svm.gz", "rows.csv", "rows.tsv.xz", "rows.parquet", "rows.npy", "rows.npz"]


def assert_rows(found, expected):
    X, y, _ = found
    X = X.toarray() if hasattr(X, "toarray") else X
    assert_array_equal(X, expected[0])
    assert_array_equal(y.astype(float), expected[1])


@pytest.mark.parametrize("name", NAMES)
def test_every_format_from_memory_and_from_a_server(name, memory, files, rows):
    pytest.importorskip("aiohttp")
    if name not in files:
        pytest.fail(f"{name} was not written: {sorted(files)}")
    assert_rows(read_rows(f"{memory}/{name}", **options(name)), rows)
    with serving(files) as (url, site):
        assert_rows(read_rows(f"{url}/{name}", **options(name)), rows)
        site.with_ranges = False
        assert_rows(read_rows(f"{url}/{name}", **options(name)), rows)


def test_patterns_and_folders_are_read_as_one(rows):
    X, y = rows
    system = fsspec.filesystem("memory")
    buffers = [io.BytesIO(), io.BytesIO()]
    for buffer, part in zip(buffers, (slice(0, 200), slice(200, 500)), strict=True):
        np.savez(buffer, X=X[part], y=y[part])
    for number, buffer in enumerate(buffers):
        system.pipe(f"/parts/day={number}/part.npz", buffer.getvalue())
    system.pipe("/parts/_SUCCESS", b"")
    try:
        for url in ("memory://parts", "memory://parts/*/part.npz"):
            assert_rows(read_rows(url), rows)
        with pytest.raises(FileNotFoundError, match=r"no file matches memory://parts/\*.csv"):
            open_rows("memory://parts/*.csv")
    finally:
        system.rm("/parts", recursive=True)


def test_folders_of_parquet_tell_columns(tmp_path, rows):
    pytest.importorskip("pyarrow")
    X, y = rows
    for kind in (0, 1):
        (tmp_path / f"year=20{kind}" / f"kind=k{kind}").mkdir(parents=True)
        write_rows(tmp_path / f"year=20{kind}" / f"kind=k{kind}" / "part.parquet", X[y == kind])
    (tmp_path / "_SUCCESS").touch()
    found, labels, _ = read_rows(tmp_path, label="kind")
    assert_array_equal(labels, np.repeat(["k0", "k1"], [int((y == kind).sum()) for kind in (0, 1)]))
    assert_array_equal(found[:, :-1], np.concatenate([X[y == 0], X[y == 1]]))
    assert_array_equal(np.unique(found[:, -1]), [200, 201])
    with pytest.raises(FileError, match="column 'kind' is of type string, not of numbers"):
        read_rows(tmp_path)


def test_a_model_is_that_of_the_same_rows_in_memory(memory, rows):
    model = ISRHTClassifier(4, selection="supervised", C=1.0, random_state=0).fit(RowSource(f"{memory}/rows.svm.gz"))
    expected = ISRHTClassifier(4, selection="supervised", C=1.0, random_state=0).fit(*rows)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-8)


def test_large_files_are_read_in_ranges(rng):
    pytest.importorskip("aiohttp")
    pytest.importorskip("pyarrow")
    buffer, X = io.BytesIO(), rng.standard_normal((400_000, 4))
    np.save(buffer, X)
    with serving({"x.npy": buffer.getvalue()}) as (url, site):
        found = np.concatenate([block for block, _ in open_rows(f"{url}/x.npy")])
        assert_array_equal(found, X)
        sizes = [stop - start for start, stop in site.ranges]
        assert max(sizes) < X.nbytes
        assert len(sizes) > 1


@pytest.mark.parametrize("name", NAMES)
def test_a_connection_that_breaks_is_made_again(name, files, rows):
    pytest.importorskip("aiohttp")
    with serving(files) as (url, site):
        site.breaks = 2
        assert_rows(read_rows(f"{url}/{name}", **options(name)), rows)
        assert site.breaks == 0


@pytest.mark.parametrize("name", NAMES)
def test_a_connection_that_breaks_again_and_again_is_named(name, files):
    pytest.importorskip("aiohttp")
    with serving(files) as (url, site):
        site.breaks = 10**6
        problem = rf"{url}/{name}: the connection broke at byte [01], 4 times"
        with pytest.raises(RemoteError, match=problem):
            read_rows(f"{url}/{name}", **options(name))
        # The layout of Parquet is looked at before the first block is read.
        block = "" if name == "rows.parquet" else r"block 0 \(from row 0\): "
        with pytest.raises(OSError, match=f"^{block}{problem}"):
            RowSource(open_rows(f"{url}/{name}", **options(name))).shape  # noqa: B018 -- the first pass is made here


def test_a_file_that_ends_too_early_is_named():
    class Short(RemoteFile):
        size = 100

        def open_raw(self):
            return io.BytesIO(b"1 1:1\n")

    with pytest.raises(FileError, match="memory://short.svm: it ended after 6 of 100 bytes"):
        Short("memory://short.svm").open().read()


def test_secrets_are_not_in_the_names_of_files():
    file = RemoteFile("https://me:hunter2@host/rows.csv.gz?signature=hunter2")
    assert str(file) == "https://host/rows.csv.gz"
    assert str(FileError(file, "it is wrong")) == "https://host/rows.csv.gz: it is wrong"
    assert pickle.loads(pickle.dumps(file)).url == file.url


def test_a_question_mark_in_a_local_url_is_a_pattern(tmp_path, rows):
    for number, part in enumerate((slice(0, 200), slice(200, 500))):
        write_rows(tmp_path / f"part-{number}.svm", rows[0][part], rows[1][part])
    write_rows(tmp_path / "part-10#.svm", *rows)
    folder = tmp_path.as_uri()
    for url in (f"{folder}/part-?.svm", f"{folder.replace('file:', 'local:')}/part-?.svm", f"{folder}/part-10#.svm"):
        assert_rows(read_rows(url), rows)
    with pytest.raises(FileNotFoundError, match=r"no file matches .*/p-\?.svm"):
        open_rows(f"{folder}/p-?.svm")
    with pytest.raises(FileNotFoundError, match=r"no file matches memory://nowhere/p-\?.svm"):
        open_rows("memory://nowhere/p-?.svm")


@pytest.mark.parametrize("name", ["rows.parquet", "rows.svm.gz", "rows.npy"])
def test_a_file_that_is_gone_in_the_next_pass_is_named(name, files):
    pytest.importorskip("aiohttp")
    with serving(dict(files)) as (url, site):
        rows = open_rows(f"{url}/{name}", **options(name))
        list(rows)
        del site.files[name]
        with pytest.raises(FileNotFoundError, match=f"^there is no file {url}/{name}$"):
            list(rows)


@pytest.fixture(scope="module")
def bucket():
    """A bucket of moto's S3 server on the loopback."""
    pytest.importorskip("s3fs")
    server_module = pytest.importorskip("moto.server")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    settings = {
        "AWS_ACCESS_KEY_ID": "someone",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as environment:
        for name, value in settings.items():
            environment.setenv(name, value)
        system = fsspec.filesystem("s3", skip_instance_cache=True)
        system.mkdir("rows-of-ours")
        yield system
    server.stop()


def test_a_bucket_of_s3(bucket, files, rows):
    for name, data in files.items():
        bucket.pipe(f"rows-of-ours/{name}", data)
    for name in ("rows.svm.gz", "rows.parquet", "rows.npy"):
        assert_rows(read_rows(f"s3://rows-of-ours/{name}", **options(name)), rows)
    assert RowSource("s3://rows-of-ours/rows.sv*[m]").shape == (500, 6)
    with pytest.raises(FileNotFoundError, match="there is no file s3://no-such-bucket/rows.csv"):
        open_rows("s3://no-such-bucket/rows.csv")
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "hunter2"


def test_botocore_does_not_tell_secrets(bucket):
    with pytest.raises(RemoteError, match='s3://bkt/x.svm cannot be reached .*\n.* "[*]{3}@bkt"') as caught:
        open_rows("s3://KEY:hunter2@bkt/x.svm")
    assert "KEY" not in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.fixture(scope="module")
def google_bucket():
    """A bucket of an emulator of Google's storage on the loopback."""
    pytest.importorskip("gcsfs")
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (
        emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket="rows-of-ours"),
        pytest.MonkeyPatch.context() as environment,
    ):
        environment.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{port}")
        yield fsspec.filesystem("gs", skip_instance_cache=True)


def test_a_bucket_of_google(google_bucket, files, rows):
    for name, data in files.items():
        google_bucket.pipe(f"rows-of-ours/days/{name}", data)
    for name in ("rows.svm.gz", "rows.parquet", "rows.npy"):
        assert_rows(read_rows(f"gs://rows-of-ours/days/{name}", **options(name)), rows)
    assert RowSource("gs://rows-of-ours/days/rows.sv*[m]").shape == (500, 6)
    with pytest.raises(FileNotFoundError, match="there is no file gs://no-such-bucket/rows.csv"):
        open_rows("gs://no-such-bucket/rows.csv")


def test_parts_that_do_not_match_are_named(rows):
    pytest.importorskip("pyarrow")
    X, y = rows
    system = fsspec.filesystem("memory")

    def put(name, part, labels):
        buffer = io.BytesIO()
        np.savez(buffer, X=part, **({} if labels is None else {"y": labels}))
        system.pipe(f"/uneven/{name}", buffer.getvalue())

    try:
        put("a.npz", X[:200], y[:200])
        put("b.npz", X[200:], None)
        with pytest.raises(ValueError, match="b.npz: it has no labels, unlike memory:///uneven/a.npz"):
            RowSource("memory://uneven").shape  # noqa: B018 -- the first pass is made here
        put("b.npz", X[200:, :3], y[200:])
        with pytest.raises(FileError, match="memory:///?uneven/b.npz: there are 3 features in a row, not 6"):
            RowSource("memory://uneven").shape  # noqa: B018
    finally:
        system.rm("/uneven", recursive=True)


def test_tables_whose_columns_change_are_named(tmp_path, rows):
    pytest.importorskip("pyarrow")
    X, _ = rows
    write_rows(tmp_path / "a.parquet", X)
    write_rows(tmp_path / "b.parquet", X[:, :4])
    with pytest.raises(FileError, match=r"b.parquet: its columns are not those of .*a.parquet: it lacks 'x5'"):
        RowSource(tmp_path).shape  # noqa: B018 -- the first pass is made here
    os.remove(tmp_path / "b.parquet")
    write_rows(tmp_path / "0.parquet", X[:, :4])
    with pytest.raises(FileError, match=r"a.parquet: its columns are not those of .*0.parquet: it has 'x5'"):
        RowSource(tmp_path).shape  # noqa: B018


def test_tables_of_another_order_or_without_labels_are_named(tmp_path):
    columns = {"a": "1,2", "b": "3,4", "label": "0,1"}
    for name, wrong, problem in (
        ("order", ["b", "a", "label"], "its columns are not those of .*a.csv: their order is another"),
        ("labels", ["a", "b"], "there is no column 'label'"),
        ("both", ["a", "c", "label"], "its columns are not those of .*a.csv: it lacks 'b' and has 'c'"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        for file, names in (("a.csv", list(columns)), ("b.csv", wrong)):
            (folder / file).write_text("\n".join([",".join(names), "1," * (len(names) - 1) + "0\n"]))
        with pytest.raises(FileError, match=rf"b.csv: {problem}"):
            RowSource(open_rows(folder, label="label")).shape  # noqa: B018 -- the first pass is made here


def test_a_truncated_file_is_named(files):
    system = fsspec.filesystem("memory")
    try:
        for name, problem in (
            ("rows.parquet", "it is no Parquet file"),
            ("rows.svm.gz", "the archive is truncated"),
            ("rows.npy", "shorter than its header says"),
        ):
            system.pipe(f"/cut/{name}", files[name][: len(files[name]) // 2])
            with pytest.raises(FileError, match=f"memory://cut/{name}.*{problem}"):
                read_rows(f"memory://cut/{name}", **options(name))
    finally:
        system.rm("/cut", recursive=True)


def test_what_is_no_npy_file_is_named():
    system = fsspec.filesystem("memory")
    try:
        system.pipe("/wrong/rows.npy", b"1 1:1\n" * 100)
        with pytest.raises(FileError, match=r"memory://wrong/rows.npy: it is no NPY file of numbers \(.*magic"):
            read_rows("memory://wrong/rows.npy")
    finally:
        system.rm("/wrong", recursive=True)
