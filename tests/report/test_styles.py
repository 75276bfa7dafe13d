import re
from importlib.resources import files

from isrht.experiments.methods import METHODS
from isrht.report.styles import BASES, PLAIN, plain_color, style_of


def test_every_method_has_a_style_of_its_own():
    styles = {name: style_of(name) for name in METHODS}
    assert len(set(styles.values())) == len(METHODS)
    assert style_of("SRHT, sketch 2r").color == style_of("SRHT").color
    assert style_of("something new").dash == ""


def test_plain_colours_are_those_of_the_light_page():
    text = files("isrht.report").joinpath("page.css").read_text()
    light = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", text[: text.index("@media")]))
    assert {name: light[name] for name in PLAIN} == PLAIN
    for style in BASES.values():
        assert plain_color(style.color).startswith("#")
