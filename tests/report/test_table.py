from isrht.report._table import NOTHING, Cell, Table


def test_html_and_markdown_escape_what_must_be():
    table = Table("t", "a < b", ["x|y"], [[Cell("1 | <2>*", 1.5, "g|1", "t", True)]], ["n & m"])
    assert '<td data-value="1.5" data-group="g|1" title="t"><strong>1 | &lt;2&gt;*</strong></td>' in table.html()
    assert "n &amp; m" in table.html()
    assert "| **1 \\| <2>\\*** |" in table.markdown()


def test_fields_without_anything_are_left_out():
    rows = [[Cell("a"), NOTHING, NOTHING], [Cell("b"), NOTHING, Cell("1")]]
    table = Table("t", "title", ["name", "published", "ours"], rows).without_empty_fields()
    assert table.fields == ["name", "ours"]
    assert [[cell.text for cell in row] for row in table.rows] == [["a", "–"], ["b", "1"]]
