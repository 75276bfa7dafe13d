"""URLs: which texts are one, and that nothing that is secret in one is shown, whatever signs it has."""

import pytest
from http_server import free_port

from isrht.files import _trouble, open_rows, read_rows
from isrht.files._trouble import RemoteError
from isrht.files.opening import format_of
from isrht.files.remote import RemoteFile
from isrht.files.urls import is_url, shown, told

pytest.importorskip("fsspec")


def test_a_file_url_is_a_path(tmp_path):
    path = tmp_path / "rows x.svm"
    path.write_text("1 1:2\n")
    X, y, _ = read_rows(path.as_uri())
    assert (X.toarray().tolist(), y.tolist()) == ([[2.0]], [1.0])


def test_what_is_no_url_stays_as_it_is():
    assert shown("a b") == "a b"
    assert not is_url("-")


SECRETS = [
    "http://{host}/data(1).csv?sig=SECRET",
    "http://{host}/it's.csv?sig=SECRET",
    'http://{host}/"a b".csv?sig=SECRET',
    "http://{host}/a.csv?f=(1)&sig=SECRET",
    "http://{host}/a.csv?f='1'&g=\"2\"&sig=SECRET",
    "http://{host}/a.csv?sig=SECRET and more of the SECRET",
    "http://{host}/a.csv#sig=SECRET",
    "http://{host}/a.csv?a=::SECRET",
    "http://me:SEC@RET@{host}/a.csv",
    "http://me:SEC/RET@{host}/a.csv",
    "http://me:SEC?RET@{host}/a.csv",
    "http://me:SEC#RET@{host}/a.csv?sig=SECRET",
    "http://SECRET@{host}/a.csv",
    "simplecache::http://me:SECRET@{host}/a.csv?sig=(SECRET)",
]


@pytest.mark.parametrize("url", SECRETS)
def test_no_secret_is_shown_whatever_signs_a_url_has(url, monkeypatch):
    pytest.importorskip("aiohttp")
    monkeypatch.setattr(_trouble, "PAUSE", 0.001)
    file = RemoteFile(url.format(host="host"))
    assert not any(secret in str(file) for secret in ("SEC", "RET"))
    assert "host/" in str(file)
    assert format_of([file]) == "csv"
    with pytest.raises(RemoteError, match="cannot be reached") as caught:
        open_rows(url.format(host=f"127.0.0.1:{free_port()}"))
    assert not any(secret in str(caught.value) for secret in ("SEC", "RET"))


def test_what_is_no_secret_is_shown():
    for url in (
        "memory://parts/part-?.csv",
        "s3://bucket/run#1/a@b.csv",
        "https://host:80/@scope/a@1.csv",
        "https://[::1]:80/a.csv",
        "zip://a.csv::simplecache::https://host/a.zip",
    ):
        assert shown(url) == url


def test_secrets_are_taken_out_of_what_others_say():
    url = "https://me:SEC%20RET@host/a b.csv?sig=SEC(R)&x=1"
    for words in (
        f"{url} is wrong",
        "'https://me:SEC%20RET@host/a%20b.csv?sig=SEC(R)&x=1' is wrong",
        "it is wrong: the user me:SEC RET, sig=SEC(R)",
        "SEC%28R%29, SEC(R), SEC+RET",
    ):
        assert not any(secret in told(ValueError(words), url) for secret in ("SEC", "RET", "me:")), words
    assert told(ValueError("no name of mine"), url) == "no name of mine"
    assert told(ValueError(), url) == "ValueError"
