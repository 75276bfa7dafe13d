from isrht.experiments.methods import METHODS
from isrht.report.styles import style_of


def test_every_method_has_a_style_of_its_own():
    styles = {name: style_of(name) for name in METHODS}
    assert len(set(styles.values())) == len(METHODS)
    assert style_of("SRHT, sketch 2r").color == style_of("SRHT").color
    assert style_of("something new").dash == ""
