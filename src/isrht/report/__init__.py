"""Report: records become tables, figures and one page.

- :mod:`isrht.report.aggregate`: records -> means and deviations by set, method and r
- :mod:`isrht.report.published`: the paper's numbers, and whether ours differ
- :mod:`isrht.report.tables`, :mod:`isrht.report.figures`: what the page shows
- :mod:`isrht.report.chart`: axes, lines and points as inline SVG
- :mod:`isrht.report.page`: one self-contained HTML file
- :mod:`isrht.report.write`: the files
"""
