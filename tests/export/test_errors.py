import numpy as np
import pytest

from isrht.export import ExportError, export_model
from isrht.linear.classifier import FixedModel


@pytest.mark.parametrize("to", ["liblinear", "c"])
def test_a_refusal_is_an_error_of_the_value_and_leaves_no_file(to, tmp_path):
    assert issubclass(ExportError, ValueError)
    model = FixedModel.of(np.array([0.5, 1.5]), np.ones((1, 2)), np.zeros(1))
    with pytest.raises(ExportError, match="labels"):
        export_model(model, tmp_path / "model", to)
    assert list(tmp_path.iterdir()) == []
