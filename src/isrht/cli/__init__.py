"""The command line: one file per command, and beside them, with an underscore, what commands share.

:mod:`~isrht.cli.app` puts the commands together. Every command ends as :mod:`~isrht.cli._messages` says, and reads
files by the options of :mod:`~isrht.cli._reading`. ``isrht train`` takes its rows from :mod:`~isrht.cli._training_rows`
(those on a cluster from :mod:`~isrht.cli._cluster`) and fits its model in :mod:`~isrht.cli._learning`. Predictions are
judged by :mod:`~isrht.cli._judgement`, and long work is shown by :mod:`~isrht.cli._progress`, with a
:mod:`~isrht.cli._forecast` of how long it will take. Modules that take long to import are imported inside the commands,
so that ``--help`` is instant.

The room uses all others; ``__main__`` uses it.
"""
