"""Sums in one order, whoever adds what: the sums of numbered blocks are added in a binary tree over their numbers.

Floating-point sums depend on their order. Here it follows from the numbers of the blocks alone: blocks 0 and 1 are
added, 2 and 3, then these two sums, and so on. Whoever has some of the blocks adds up what the tree allows and hands on
the rest, which is little where the blocks are consecutive.
"""

from __future__ import annotations


class TreeSum:
    """The sum of some numbered blocks, as far as the tree allows to add them up.

    ``nodes`` has sums by level and number: level 0 has single blocks, and a node of level k has 2^k of them.
    """

    def __init__(self):
        self.nodes = {}

    def add(self, number, value, level=0):
        """Take up the sum of a block, or of a node of the tree; None is the sum of no rows."""
        while (level, number ^ 1) in self.nodes:
            sibling = self.nodes.pop((level, number ^ 1))
            value = plus(sibling, value) if number & 1 else plus(value, sibling)
            level, number = level + 1, number >> 1
        self.nodes[level, number] = value

    @classmethod
    def merged(cls, sums):
        """Return the sum of all blocks that several sums have."""
        whole = cls()
        for one in sums:
            for (level, number), value in one.nodes.items():
                whole.add(number, value, level)
        return whole

    def result(self):
        """Return the sum of all blocks that were added: what is left in the tree is added from left to right."""
        total = None
        for _, value in sorted(self.nodes.items(), key=lambda node: node[0][1] << node[0][0]):
            total = plus(total, value)
        return total


def plus(left, right):
    """Return the sum of two sums, of tuples part by part, without writing to either. None adds nothing."""
    if left is None or right is None:
        return right if left is None else left
    if isinstance(left, tuple):
        return tuple(plus(one, other) for one, other in zip(left, right, strict=True))
    return left + right
