"""The map in docs/architecture.md is that of the tree."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def the_tool():
    spec = importlib.util.spec_from_file_location("architecture_map", ROOT / "tools" / "architecture_map.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_rooms_is_that_of_the_tree():
    tool = the_tool()
    assert tool.PAGE.read_text(encoding="utf-8") == tool.page_with_table(), "run: python tools/architecture_map.py"


def test_every_file_that_the_page_names_is_there():
    tool = the_tool()
    words = tool.PAGE.read_text(encoding="utf-8").replace(tool.table(), "")
    named = set(re.findall(r"`([\w/]+\.(?:py|hpp|cpp|pyi|toml|md))`", words)) - {"files/_hdf5.py"}  # an example
    homes = [tool.PACKAGE, ROOT, ROOT / "tests", ROOT / "core"]
    assert [name for name in sorted(named) if not any((home / name).exists() for home in homes)] == []


def test_every_room_says_what_it_is_for_and_who_uses_it():
    tool = the_tool()
    for room in tool.rooms():
        if (tool.PACKAGE / room).is_dir():
            words = (tool.PACKAGE / room / "__init__.py").read_text(encoding="utf-8")
            assert "The room uses" in words, room


def test_every_module_has_a_twin_among_the_tests():
    tool = the_tool()
    lonely = []
    for path in tool.PACKAGE.rglob("*.py"):
        place = path.relative_to(tool.PACKAGE)
        if path.name in ("__init__.py", "__main__.py") or place.name.endswith("_codec.py"):
            continue  # codecs are tested together, by every way a model can be kept (tests/models)
        twin = ROOT / "tests" / place.parent / f"test_{path.stem.lstrip('_')}.py"
        if not twin.exists():
            lonely.append(place.as_posix())
    assert sorted(lonely) == []
