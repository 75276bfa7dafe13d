"""What the fuzzer (``tests/fuzz``) found to be different paths through the compiled parser, against its twin in Python.

``make fuzz`` looks for more, and then runs this file on all it has: ``python tests/system/test_fuzz.py FOLDER``.
"""

import sys
from pathlib import Path

import pytest
from libsvm_parsers import COMPILED, PARSERS, TWIN, outcome

from isrht import kernels

CORPUS = Path(__file__).parents[1] / "fuzz" / "corpus" / "libsvm"


def setting(content):
    """The text of an input and how to parse it, as ``fuzz/libsvm.cpp`` reads them."""
    first, second = content[:2]
    text = content[2:]
    cuts = range(0, len(text), 1 + second % 32)
    return text, cuts, first % 3 - 1, first // 3 % 3, 16 if first & 0x80 else 2**20


def disagreements(folder):
    """The number of inputs, and the names of those on which the parsers differ."""
    files = [path for path in sorted(Path(folder).iterdir()) if path.stat().st_size >= 2]
    return len(files), [path.name for path in files if not agree(path.read_bytes())]


def agree(content):
    text, cuts, *options = setting(content)
    return outcome(COMPILED, text, cuts, *options) == outcome(TWIN, text, (), *options)


@pytest.mark.skipif(kernels._core is None, reason="no compiled parser")
def test_the_parsers_agree_on_the_corpus():
    count, differing = disagreements(CORPUS)
    assert count > 50
    assert differing == []


@pytest.mark.skipif(kernels._core is None, reason="no compiled parser")
def test_a_disagreement_would_be_seen(monkeypatch):
    class Wrong(PARSERS[0]):
        def take(self):
            return [array[:-1] for array in super().take()]

    monkeypatch.setattr(sys.modules[__name__], "TWIN", Wrong)
    assert disagreements(CORPUS)[1] != []


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        count, differing = disagreements(folder)
        print(f"{folder}: {count} inputs, {len(differing)} disagreements with the twin {' '.join(differing)}")
        if differing:
            sys.exit(1)
