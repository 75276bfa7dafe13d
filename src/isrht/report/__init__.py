"""Make a report of the records of a journal: tables, figures and one page.

:mod:`~isrht.report.write` writes the files of a report. :mod:`~isrht.report.aggregate` makes means of the records, by
set, method and r, and :mod:`~isrht.report._published` compares them with the paper's numbers. They become tables
(:mod:`~isrht.report._tables`, each of them a :mod:`~isrht.report._table`) and figures (:mod:`~isrht.report._figures`,
drawn by :mod:`~isrht.report.chart` in the :mod:`~isrht.report.styles` of the methods) on one HTML page
(:mod:`~isrht.report._page`).

The room uses ``experiments``, ``datasets``, ``linear`` and ``support``; ``cli`` uses it.
"""
