"""Run the paper: methods by name, a plan of runs, one run -> one record, a journal that survives anything.

- :mod:`isrht.experiments.methods`: each compared method is one small object with a name
- :mod:`isrht.experiments.plan`: which runs make up which table and figure
- :mod:`isrht.experiments.run`: one run: project, tune, train, predict, with the seconds of each
- :mod:`isrht.experiments.journal`: finished runs, one checked line each
- :mod:`isrht.experiments._workers`: processes that run them
- :mod:`isrht.experiments.reproduce`: all of it together
"""
