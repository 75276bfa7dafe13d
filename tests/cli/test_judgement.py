import numpy as np
import pytest
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix

from isrht.cli._judgement import Judgement


def test_as_scikit_learn_counts_them(rng):
    classes = np.array(["a", "b", "c"])
    codes = rng.integers(0, 3, (2, 200))
    y, predicted = classes[codes]
    judgement = Judgement(classes)
    for part in np.array_split(np.arange(200), 7):
        judgement.add(y[part], codes[1][part])
    told, expected = judgement.as_json(), classification_report(y, predicted, output_dict=True)
    assert told["accuracy"] == pytest.approx(accuracy_score(y, predicted))
    assert told["confusion"] == confusion_matrix(y, predicted).tolist()
    for label in classes.tolist():
        assert told["classes"][label]["f1"] == pytest.approx(expected[label]["f1-score"])
        assert told["classes"][label]["precision"] == pytest.approx(expected[label]["precision"])
        assert told["classes"][label]["recall"] == pytest.approx(expected[label]["recall"])


def test_rows_without_labels_are_only_counted():
    judgement = Judgement([0.0, 1.0])
    judgement.add(None, np.array([0, 1]))
    assert judgement.n_rows == 2
    assert judgement.accuracy is None
    assert list(judgement.lines()) == []


def test_unknown_labels_are_wrong_and_said():
    judgement = Judgement([0.0, 1.0])
    judgement.add(np.array(["0", "0.5", "spam", "-1"]), np.array([0, 1, 1, 0]))
    assert judgement.accuracy == 0.25
    text = "\n".join(judgement.lines())
    assert "3 rows have labels that the model was not trained on" in text
    assert "(unknown)" in text


def test_very_many_classes_are_no_table():
    judgement = Judgement(np.arange(30.0))
    judgement.add(np.arange(30).astype(str), np.arange(30))
    assert len(list(judgement.lines())) == 1


def test_numbers_are_the_same_however_they_are_written():
    judgement = Judgement([-1.0, 1.0, 2.5])
    judgement.add(np.array(["-1", "-1.0", "+1", "1e0", "2.50"]), np.array([0, 0, 1, 1, 2]))
    assert judgement.accuracy == 1
