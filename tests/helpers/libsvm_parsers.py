"""The parsers of LIBSVM text, what they make of a text, and the texts that all of them refuse."""

from itertools import pairwise

from isrht import kernels
from isrht.kernels import _reference

TWIN = _reference.LibsvmParser
PARSERS = [TWIN, *([kernels._core.LibsvmParser] if kernels._core else [])]
COMPILED = PARSERS[-1]
ANY, AS_THE_FIRST, NUMBERS = range(3)
MANY = 2**62


def outcome(parser, text, cuts=(), base=1, rule=ANY, max_line=2**20, max_index=2**31 - 1):
    """Return what a parser makes of a text that is fed in the pieces between ``cuts``: the fault, or the rows."""
    parser = parser(base, rule, max_line, max_index)
    for start, stop in pairwise([0, *sorted(cuts), len(text)]):
        parser.feed(text[start:stop], MANY, MANY)
    parser.end_file()
    if parser.fault:
        return parser.fault
    arrays = [array.tobytes() for array in parser.take()]
    return arrays, parser.labelled, parser.numbers_only, parser.smallest_index, parser.largest_index


REFUSED = {
    b"1 2 3:4": ("no_colon", 1, 4),
    b"1 1:2\n1 3": ("no_colon", 2, 4),
    b"1 3 :4": ("no_colon", 1, 4),
    b"1,2 3:4": ("several_labels", 1, 2),
    b"a,b 3:4": ("several_labels", 1, 2),
    b"1 0:3": ("index_zero", 1, 3),
    b"1 -3:4": ("negative_index", 1, 3),
    b"1 two:1": ("no_index", 1, 3),
    b"1 +3:4": ("no_index", 1, 3),
    b"1 :4": ("no_index", 1, 3),
    b"1 3x:4": ("bad_index", 1, 4),
    b"1 3.0:4": ("bad_index", 1, 4),
    b"1 2:1 qid:3": ("no_index", 1, 7),
    b"1 qid:x": ("bad_qid", 1, 7),
    b"1 qid:3.5": ("bad_qid", 1, 8),
    b"1 qid:": ("bad_qid", 1, 7),
    b"1 3:4 3:5": ("repeated_index", 1, 7),
    b"1 3:4 2:5": ("decreasing_index", 1, 7),
    b"1 2147483648:3": ("large_index", 1, 3),
    b"1 " + b"9" * 5000 + b":3": ("large_index", 1, 3),
    b"1 3:": ("no_value", 1, 5),
    b"1 3: # x": ("no_value", 1, 6),
    b"1 3:nan": ("not_finite", 1, 5),
    b"1 3:-Inf": ("not_finite", 1, 5),
    b"1 3:+infinity 4:1": ("not_finite", 1, 5),
    b"1 3:nano": ("not_a_number", 1, 5),
    b"1 3:.": ("not_a_number", 1, 5),
    b"1 3:--1": ("not_a_number", 1, 5),
    b"1 3:4x": ("after_value", 1, 6),
    b"1 3:4:5": ("after_value", 1, 6),
    b"1 3:4,5": ("after_value", 1, 6),
    b"1 3:1e": ("after_value", 1, 6),
    b"1 3:0x10": ("after_value", 1, 6),
    b"1 3:1_0": ("after_value", 1, 6),
    b"1 3:1e309": ("overflow", 1, 5),
    b"1 3:-1.7976931348623159e308": ("overflow", 1, 5),
    b"1 3:" + b"9" * 400: ("overflow", 1, 5),
    b"\x00\x01garbage": ("control_byte", 1, 1),
    b"\x1f\x8b\x08\x00": ("control_byte", 1, 1),
    b"a\x7fb": ("control_byte", 1, 2),
    b"\xff\xfe1 1:2": ("label_not_utf8", 1, 1),
    b"\xed\xa0\x80 1:2": ("label_not_utf8", 1, 1),
    b"\xc0\xaf 1:2": ("label_not_utf8", 1, 1),
    b"\xf4\x90\x80\x80 1:2": ("label_not_utf8", 1, 1),
    b"\xe2\x82 1:2": ("label_not_utf8", 1, 1),
    b"nan 1:2": ("label_not_finite", 1, 1),
    b"1e999 1:2": ("label_overflow", 1, 1),
    b"x" * 257 + b" 1:2": ("long_label", 1, 1),
    b"1 1:2\n\n 3:4": ("no_label", 3, 2),
    b"1:2\n1 3:4": ("unexpected_label", 2, 1),
    b"1 \x001:2": ("no_index", 1, 3),
    b"1 1:2\r1 3": ("no_colon", 2, 4),
    b"1 1:2\r\n\r\n1 3\r\n": ("no_colon", 3, 4),
    b"1 1:2\r3:4": ("no_label", 2, 1),
    b"1 1:\x002": ("not_a_number", 1, 5),
}
