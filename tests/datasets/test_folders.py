from isrht.datasets import folders
from isrht.datasets.registry import describe


def test_the_folder_given_comes_before_the_variable_before_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("ISRHT_DATA", "/variable")
    cache = tmp_path / "isrht" / "data"
    assert [str(folder) for folder in folders.folders("/given")] == ["/given", str(cache)]
    assert [str(folder) for folder in folders.folders()] == ["/variable", str(cache)]
    monkeypatch.delenv("ISRHT_DATA")
    assert folders.folders() == [cache]


def test_all_files_of_a_set_must_be_there(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    usps = describe("usps-b")
    (tmp_path / "usps.xz").write_text("x")
    assert folders.find_files(usps, tmp_path) is None
    (tmp_path / "usps.t").write_text("y")
    assert [path.name for path in folders.find_files(usps, tmp_path)] == ["usps.xz", "usps.t"]


def test_the_digest_depends_on_every_file_and_their_order(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    assert len({folders.digest([one, two]), folders.digest([two, one]), folders.digest([one])}) == 3
