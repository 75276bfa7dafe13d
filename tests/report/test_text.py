import pytest

from isrht.report._text import bytes_text, seconds_text


@pytest.mark.parametrize(("count", "text"), [(12, "12 B"), (1200, "1.2 kB"), (3.1e6, "3.1 MB"), (2.77e9, "2.77 GB")])
def test_bytes(count, text):
    assert bytes_text(count) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.01234, "0.0123"), (0.5, "0.50"), (123.456, "123.46")])
def test_seconds(seconds, text):
    assert seconds_text(seconds) == text
