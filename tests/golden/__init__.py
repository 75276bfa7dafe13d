"""Models that must not change: what the package gives for many configurations, kept as numbers and as model files.

:mod:`rows` makes data and hands them over in memory, from files or by Dask; :mod:`configurations` lists what is fitted;
:mod:`facts` says what is looked at. The numbers that :mod:`committed` keeps in the repository hold on every machine, to
rounding. The digests that :mod:`digests` keeps outside of it hold on one machine, to the bit.
"""
