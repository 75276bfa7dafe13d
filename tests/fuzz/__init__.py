"""Odd calls of everything public, in search of crashes, silent faults and misleading errors.

What is given to a call is drawn by Hypothesis as a *recipe*: a small frozen dataclass whose ``make()`` gives the object
and whose ``repr`` is the code that makes it again (:mod:`fuzz.dense`, :mod:`fuzz.sparse`, :mod:`fuzz.blocks`,
:mod:`fuzz.targets`, :mod:`fuzz.parameters`, :mod:`fuzz.single_rows`). A *session* (:mod:`fuzz.sessions`,
:mod:`fuzz.estimators`) calls one part of the package with such things. Every call is *watched* (:mod:`fuzz.watch`): it
must return what it promises or raise an error of a documented kind, leave what it was given as it was, and warn of
nothing but what users should know.

``python -m fuzz`` (:mod:`fuzz.__main__`) runs sessions in processes of their own, which note each call before they make
it, so that a crash or a hang names its call. ``fuzz/libsvm.cpp`` is another fuzzer: libFuzzer on the compiled parser.
"""
