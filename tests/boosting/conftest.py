import pytest
from boosting_data import two_classes


@pytest.fixture
def data():
    return two_classes()
