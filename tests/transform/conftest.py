import pytest

from isrht.transform import hadamard


@pytest.fixture
def always_threads(monkeypatch):
    """Let threads share even the smallest arrays."""
    monkeypatch.setattr(hadamard, "WORTH_A_THREAD", 1)
