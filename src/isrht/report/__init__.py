"""Report: records become tables, figures and one page.

- :mod:`isrht.report.aggregate`: records -> means and deviations by set, method and r
- :mod:`isrht.report._published`: the paper's numbers, and whether ours differ
- :mod:`isrht.report._tables`, :mod:`isrht.report._figures`: what the page shows
- :mod:`isrht.report.chart`: axes, lines and points as inline SVG
- :mod:`isrht.report._page`: one self-contained HTML file
- :mod:`isrht.report.write`: the files
"""
