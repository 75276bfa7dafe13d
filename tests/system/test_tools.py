"""The tools of maintainers say what is so: which lines have not run, which mutants there are, what became slower."""

import importlib.util
import json
import os
import sys
import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


def tool(path):
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_lines_that_have_not_run_are_listed_with_their_reasons():
    page = tool("tools/coverage_page.py")
    functions = {"": {"missing_lines": [3]}, "Lock.take": {"missing_lines": [4, 7, 8]}, "run": {"missing_lines": []}}
    python = page.of_python(
        {
            "files": {
                "a/site-packages/isrht/x.py": {
                    "executed_lines": [1, 2], "missing_lines": [3, 4, 7, 8], "functions": functions,
                },
                "src/isrht/y.py": {"executed_lines": [1, 2], "missing_lines": [], "functions": {}},
            }
        }
    )  # fmt: skip
    cpp = page.of_cpp({"files": [{"file": "core/z.hpp", "lines": [_line(5, 0), _line(5, 2), _line(6, 0)]}]})
    assert python == {"isrht/x.py": (6, {"module": [3], "Lock.take": [4, 7, 8]}), "isrht/y.py": (2, {})}
    assert cpp == {"core/z.hpp": (2, {"module": [6]})}
    reasons = page.Reasons({"isrht/x.py": {"Lock.*": "Windows only", "run": "gone"}, "core/z.hpp": "a copy"})
    text = page.page(python, cpp, reasons)
    assert "- Python: 50.0 % (4 of 8 lines)" in text
    assert "| `isrht/x.py` | `Lock.take` | 4, 7-8 | Windows only |" in text
    assert f"| `isrht/x.py` |  | 3 | {page.NO_REASON} |" in text
    assert "| `core/z.hpp` |  | 6 | a copy |" in text
    assert "isrht/y.py" not in text
    assert reasons.idle() == [("isrht/x.py", "run")]


def _line(number, count):
    return {"line_number": number, "count": count}


SOURCE = """
def clip(x: float = 1) -> float:
    '''Words are not changed.'''
    if x < 0 and not x == -5:
        raise ValueError("3 is a word here")
    return x * 2 if x else 7


def nothing():
    return None
"""


def test_mutants_change_one_thing_each_and_no_words():
    mutants = tool("tools/mutants.py")
    found = mutants.mutants_of(SOURCE)
    changes = [mutant.change for mutant in found]
    assert "x < 0  ->  x <= 0" in changes
    assert "x * 2  ->  x / 2" in changes
    assert not any("Words" in change or "3 is" in change for change in changes)
    texts = {mutants.ast.unparse(mutants.mutated(SOURCE, mutant)) for mutant in found}
    assert len(texts) == len(found) > 10
    assert mutants.ast.unparse(mutants.ast.parse(SOURCE)) not in texts


def test_a_mutant_is_what_the_tests_import():
    mutants = tool("tools/mutants.py")
    tree = mutants.ast.parse("def answer():\n    return 41\n")
    finder = mutants.MutatedModule("isrht.no_such_module", ROOT / "no_such_module.py", tree)
    sys.meta_path.insert(0, finder)
    try:
        from isrht.no_such_module import answer
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop("isrht.no_such_module", None)
    assert answer() == 41


@pytest.mark.skipif(not hasattr(os, "fork"), reason="every mutant is a fork")
@pytest.mark.parametrize(
    ("test", "seconds", "survives"),
    [
        ("def test(): pass", 60, True),
        ("def test(): assert False", 60, False),
        ("def test():\n    while True: pass", 2, False),
    ],
)
def test_a_mutant_survives_if_its_tests_pass_in_time(test, seconds, survives, tmp_path):
    path = tmp_path / "test_it.py"
    path.write_text(test + "\n")
    assert tool("tools/mutants.py").survives("support/visible", None, [str(path)], seconds) == survives


def test_wheels_are_tested_without_polars_where_it_has_none():
    wheels = tool("tools/wheels.py")
    packages = [wheels.test_packages(wheels.Interpreter((3, 14), free, "python")) for free in (False, True)]
    assert [any(package.startswith("polars") for package in one) for one in packages] == [True, False]


def test_a_commit_that_is_slower_is_marked():
    history = tool("benchmarks/history.py")
    name = next(iter(history._descriptions()))
    entries = [
        {"commit": f"{k}" * 40, "day": "2026-11-17", "subject": "a | b", "machine": "M", "ratios": {name: ratio}}
        for k, ratio in enumerate((2.0, 2.1, 1.9, 2.2, 2.5))
    ]
    rows = [line for line in history.page(entries).splitlines() if "2026-11-17" in line]
    assert [("slower" in row) for row in rows] == [False, False, False, False, True]
    assert "a / b" in rows[0]


def test_what_was_measured_in_few_turns_is_measured_anew(tmp_path, monkeypatch):
    history = tool("benchmarks/history.py")
    name = next(iter(history._descriptions()))

    def entry(commit, turns, ratio):
        return {"commit": commit, "day": "2026-11-17", "subject": commit, "machine": "M", "turns": turns,
                "ratios": {name: ratio}}  # fmt: skip

    records = tmp_path / "history.jsonl"
    records.write_text("".join(json.dumps(entry(*one)) + "\n" for one in (("a", 3, 1.0), ("b", 1, 9.0), ("c", 1, 9.0))))
    replaced = {
        "RECORDS": records, "PAGE": tmp_path / "page.md", "WORK": tmp_path, "machine": lambda: "M",
        "last_commits": lambda count: ["a", "b"], "measured": lambda commits, turns: {c: {name: 2.0} for c in commits},
        "record": lambda commit, ratios, turns: entry(commit, turns, ratios[name]),
    }  # fmt: skip
    for attribute, value in replaced.items():
        monkeypatch.setattr(history, attribute, value)
    monkeypatch.setattr(sys, "argv", ["history.py"])
    history.main()
    assert [(one["commit"], one["ratios"][name]) for one in history.known()] == [("a", 1.0), ("b", 2.0)]
    assert "(9" not in (tmp_path / "page.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("version", "free", "tag"),
    [((3, 11), False, "cp311-cp311"), ((3, 12), False, "cp312-abi3"), ((3, 14), False, "cp312-abi3"),
     ((3, 14), True, "cp314-cp314t")],
)  # fmt: skip
def test_every_python_knows_its_wheel(version, free, tag):
    assert tool("tools/wheels.py").Interpreter(version, free, "python").tag == tag


def test_a_packed_wheel_has_what_it_had(tmp_path, monkeypatch):
    def deflate_compress(data, level):
        assert level == 12
        packer = zlib.compressobj(9, wbits=-15)
        return packer.compress(data) + packer.flush()

    monkeypatch.setitem(sys.modules, "deflate", SimpleNamespace(deflate_compress=deflate_compress))
    pack_wheel = tool("tools/pack_wheel.py")
    path = tmp_path / "isrht-1.whl"
    contents = {"isrht/tür.py": b"x = 1\n" * 1000, "isrht/empty": b"", "isrht/noise": os.urandom(100)}
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in contents.items():
            member = zipfile.ZipInfo(name, (2026, 11, 18, 20, 30, 58))
            member.external_attr = 0o100755 << 16
            wheel.writestr(member, data)
    before, after = pack_wheel.pack(path)
    first = path.read_bytes()
    assert before > 6000 > 1000 > after == len(first)
    with zipfile.ZipFile(path) as wheel:
        assert {name: wheel.read(name) for name in wheel.namelist()} == contents
        assert {member.date_time for member in wheel.infolist()} == {(2026, 11, 18, 20, 30, 58)}
        assert {member.external_attr >> 16 for member in wheel.infolist()} == {0o100755}
        assert [member.compress_type for member in wheel.infolist()] == [8, 0, 0]
    pack_wheel.main(tmp_path)
    assert path.read_bytes() == first
    monkeypatch.setattr(pack_wheel, "LARGEST", after)
    with pytest.raises(SystemExit, match="more than"):
        pack_wheel.main(tmp_path)
    monkeypatch.setattr(pack_wheel, "smallest", lambda data: (0, data[::-1]))
    with pytest.raises((SystemExit, zipfile.BadZipFile)):
        pack_wheel.pack(path)
    assert path.read_bytes() == first
    path.unlink()
    with pytest.raises(SystemExit, match="no wheel"):
        pack_wheel.main(tmp_path)
