"""A table of the page: rows of cells that know their records, rendered as HTML or Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape


@dataclass(frozen=True)
class Cell:
    """A text to show, a value to sort by, and the group of records from which they were computed."""

    text: str
    value: float | str | None = None
    group: str = ""
    title: str = ""
    strong: bool = False


@dataclass
class Table:
    """A table with a title, the names of its fields, rows of cells, and notes for the reader below it."""

    name: str
    title: str
    fields: list
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    def without_empty_fields(self):
        """Leave out fields in which no row has anything, as "published" for a set that the paper does not have."""
        kept = [k for k in range(len(self.fields)) if any(row[k] is not NOTHING for row in self.rows)]
        self.fields = [self.fields[k] for k in kept]
        self.rows = [[row[k] for k in kept] for row in self.rows]
        return self

    def html(self):
        head = "".join(f'<th scope="col"><button type="button">{escape(name)}</button></th>' for name in self.fields)
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f'<figure class="table" id="{escape(self.name)}"><figcaption>{escape(self.title)}</figcaption>'
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}">'
            f'<table class="sortable"><thead><tr>{head}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
            f"{f'<ul class=notes>{notes}</ul>' if notes else ''}</figure>"
        )

    def markdown(self):
        lines = [f"### {self.title}", "", _markdown_row(self.fields), _markdown_row(["---"] * len(self.fields))]
        lines += [_markdown_row([_markdown_cell(cell) for cell in row]) for row in self.rows]
        if self.notes:
            lines += ["", *(f"- {note}" for note in self.notes)]
        return "\n".join(lines) + "\n"


NOTHING = Cell("–")


def _html_cell(cell):
    value = "" if cell.value is None else f' data-value="{escape(str(cell.value))}"'
    group = f' data-group="{escape(cell.group)}"' if cell.group else ""
    title = f' title="{escape(cell.title)}"' if cell.title else ""
    text = f"<strong>{escape(cell.text)}</strong>" if cell.strong else escape(cell.text)
    return f"<td{value}{group}{title}>{text}</td>"


def _markdown_row(texts):
    return f"| {' | '.join(texts)} |"


def _markdown_cell(cell):
    text = cell.text.replace("|", "\\|").replace("*", "\\*")
    return f"**{text}**" if cell.strong else text
