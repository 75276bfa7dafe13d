"""A framed page is whole, has its style, and shows its title without obeying it."""

from isrht.report._frame import framed, style_file


def test_a_page_has_its_parts_in_order():
    page = framed("a <b>", "<p>header</p>", "<p>main</p>", "<p>after</p>\n")
    places = [page.index(part) for part in ("<title>a &lt;b&gt; · isrht", "<p>header", "<main>", "<p>main", "<p>after")]
    assert places == sorted(places)
    assert page.startswith("<!DOCTYPE html>")
    assert page.endswith("</html>\n")
    assert style_file("page.css") in page
    assert "<b>" not in page
