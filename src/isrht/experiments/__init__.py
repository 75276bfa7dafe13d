"""Run the experiments of the paper: methods by name, a plan of runs, one record for each run, and a journal of records.

:mod:`~isrht.experiments.reproduce` puts everything together. :mod:`~isrht.experiments.plan` says which runs make up
which table and figure, and the methods that they compare have names (:mod:`~isrht.experiments.methods`). Processes
(:mod:`~isrht.experiments._workers`) make the runs: one run projects, tunes, trains and predicts
(:mod:`~isrht.experiments.run`, with the SVMs of :mod:`~isrht.experiments.solvers`), or measures how long a projection
takes (:mod:`~isrht.experiments._complexity`). Its record goes into a journal that survives being killed
(:mod:`~isrht.experiments.journal`), with the machine that made it (:mod:`~isrht.experiments._environment`).

The room uses ``datasets``, the estimators of ``boosting``, ``linear`` and ``projections``, ``kernels`` and ``support``;
``report`` and ``cli`` use it.
"""
