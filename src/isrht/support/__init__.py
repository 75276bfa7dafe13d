"""Tools that know nothing of the method: threads, views of matrices, checks of input, files that vanish or are whole.

The room uses no other; every room uses it.
"""
