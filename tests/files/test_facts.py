from isrht.files.facts import merged
from isrht.files.opening import open_rows


def scan(path, text, **options):
    path.write_text(text)
    return open_rows(path, **options).scan()


def test_the_facts_of_files_together_are_those_of_one(tmp_path):
    texts = ["1 1:2 3:4\n-1 2:1\n", "1 0:1\n", "2 7:1 9:5\n1 1:1\n"]
    apart = [scan(tmp_path / f"{k}.svm", text) for k, text in enumerate(texts)]
    together = scan(tmp_path / "all.svm", "".join(texts))
    assert merged(apart) == together
    assert together.index_base == 0
    assert together.n_features == 10


def test_labels_are_texts_if_one_is(tmp_path):
    facts = merged([scan(tmp_path / "a.svm", "1 1:2\n"), scan(tmp_path / "b.svm", "spam 1:2\n")])
    assert facts.label_type == "text"
    assert facts.classes == {"1": 1, "spam": 1}


def test_a_given_width_stays(tmp_path):
    facts = [scan(tmp_path / f"{k}.svm", "1 1:2 9:1\n", n_features=4) for k in range(2)]
    assert merged(facts).n_features == 4
    assert merged(facts).n_unseen == 2
