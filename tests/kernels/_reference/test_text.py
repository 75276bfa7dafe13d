"""The compiled parser of LIBSVM text, its twin in Python, and scikit-learn's, on the same texts."""

import io
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from libsvm_parsers import ANY, AS_THE_FIRST, COMPILED, MANY, NUMBERS, PARSERS, REFUSED, TWIN, outcome
from sklearn.datasets import load_svmlight_file

from isrht import kernels

every_parser = pytest.mark.parametrize("parser", PARSERS, ids=["twin", "compiled"][: len(PARSERS)])


def rows(parser, text, **options):
    parser = parser(options.pop("base", 1), options.pop("rule", ANY), 2**20)
    parser.feed(text, MANY, MANY)
    parser.end_file()
    assert parser.fault is None
    labels, texts, text_ends, indices, values, row_ends = parser.take()
    texts = [part.tobytes().decode() for part in np.split(texts, text_ends[:-1])] if len(labels) else []
    entries = np.split(np.stack([indices, values], axis=1), row_ends[:-1]) if len(row_ends) else []
    return labels.tolist(), texts, [[tuple(entry) for entry in row.tolist()] for row in entries]


ACCEPTED = {
    "plain": (b"1 1:0.5 3:2\n-1 2:1\n", ["1", "-1"], [[(0, 0.5), (2, 2)], [(1, 1)]]),
    "no line end": (b"1 1:2", ["1"], [[(0, 2)]]),
    "CRLF": (b"1 1:2\r\n\r\n2 3:4\r\n", ["1", "2"], [[(0, 2)], [(2, 4)]]),
    "CR, as Macintoshes had it": (b"1 1:2 # x\r\r2 3:4\r3", ["1", "2", "3"], [[(0, 2)], [(2, 4)], []]),
    "CR CR LF": (b"1:2\r\r\n2:3\r\r\n", [], [[(0, 2)], [(1, 3)]]),
    "all line ends": (b"1 1:2\n2\r3\r\n4\n\r5", ["1", "2", "3", "4", "5"], [[(0, 2)], [], [], [], []]),
    "tabs and spaces": (b" \t+1\t1:2  \t 3:4 \t\n", ["+1"], [[(0, 2), (2, 4)]]),
    "comments": (b"# head\n1 1:2 # tail\n2#x\n3 4:5#\xff\x00\n   # end", ["1", "2", "3"], [[(0, 2)], [], [(3, 5)]]),
    "qid": (b"1 qid:3 1:2\n2 qid:-17\n3 qid: 5 2:1", ["1", "2", "3"], [[(0, 2)], [], [(1, 1)]]),
    "numbers": (b"0 1:1e-3 2:.5 3:+1 4:-0 5:1.E+2 6:00012", ["0"],
                [[(0, 1e-3), (1, 0.5), (2, 1), (3, 0), (4, 100), (5, 12)]]),
    "a space after the colon": (b"1 2: 3 4:\t5", ["1"], [[(1, 3), (3, 5)]]),
    "texts": (b"spam 1:2\n1 1:3\nna\xc3\xafve 1:4\n", ["spam", "1", "naïve"], [[(0, 2)], [(0, 3)], [(0, 4)]]),
    "no labels": (b"1:2 3:4\n qid:7 2:5\n\n3: 1", [], [[(0, 2), (2, 4)], [(1, 5)], [(2, 1)]]),
    "blank": (b"\n \r\n\t\n# nothing", [], []),
    "nothing": (b"", [], []),
    "a byte order mark": (b"\xef\xbb\xbf1 1:2", ["1"], [[(0, 2)]]),
    "zeros are kept": (b"1 1:0 2:0.0", ["1"], [[(0, 0), (1, 0)]]),
    "the largest index": (b"1 2147483647:1", ["1"], [[(2147483646, 1)]]),
    "underflow": (b"1 1:1e-400 2:4e-324 3:1e-310", ["1"], [[(0, 0), (1, 5e-324), (2, 1e-310)]]),
}  # fmt: skip


@every_parser
@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(parser, case):
    text, texts, entries = ACCEPTED[case]
    labels, found_texts, found_entries = rows(parser, text)
    assert (found_texts, found_entries) == (texts, entries)
    numbers = [np.nan if text in ("spam", "naïve") else float(text) for text in texts]
    np.testing.assert_array_equal(labels, numbers)


@every_parser
@pytest.mark.parametrize("text", REFUSED)
def test_refused_with_the_place(parser, text):
    assert outcome(parser, text)[:3] == REFUSED[text]


@every_parser
def test_what_was_found_is_shown_shortly(parser):
    assert outcome(parser, b"1 abc:1 2:3\n")[3] == b"abc:1"
    assert outcome(parser, b"1 " + b"x" * 100)[3] == b"x" * 24


@every_parser
def test_the_base_is_subtracted_or_left(parser):
    text = b"1 1:2 5:3"
    assert rows(parser, text, base=0)[2] == [[(1, 2), (5, 3)]]
    assert rows(parser, text, base=1)[2] == [[(0, 2), (4, 3)]]
    assert rows(parser, text, base=-1)[2] == [[(1, 2), (5, 3)]]
    for base in (0, -1):
        assert outcome(parser, b"1 7:1\n1 0:2", base=base)[3:] == (0, 7)


@every_parser
def test_which_labels_may_be_texts(parser):
    mixed, texts = b"1 1:2\nspam 1:3\n", b"spam 1:2\n1 1:3\n"
    assert outcome(parser, mixed, rule=ANY)[1:3] == (True, False)
    assert outcome(parser, mixed, rule=AS_THE_FIRST)[:3] == ("label_not_a_number", 2, 1)
    assert outcome(parser, texts, rule=AS_THE_FIRST)[1:3] == (True, False)
    assert outcome(parser, texts, rule=NUMBERS)[:3] == ("label_not_a_number", 1, 1)


@every_parser
def test_lines_may_not_be_endless(parser):
    assert outcome(parser, b"1 1:2\n12 1:2\n", max_line=5)[:3] == ("long_line", 2, 6)
    endless = parser(1, ANY, 1000)
    while not endless.fault:
        endless.feed(bytes(64), MANY, MANY)
    assert endless.fault == ("long_line", 1, 1001, b"")


@every_parser
def test_indices_may_not_pass_the_most_that_is_allowed(parser):
    assert outcome(parser, b"1 1:2 10:3", max_index=10)[3:] == (1, 10)
    assert outcome(parser, b"1 1:2\n1 11:3", max_index=10) == ("many_features", 2, 3, b"11:3")
    assert outcome(parser, b"1 2147483648:3", max_index=10)[:3] == ("large_index", 1, 3)


@every_parser
def test_a_line_feed_at_the_beginning_of_a_file_is_no_part_of_a_line_end_before(parser):
    parser = parser(1, ANY, 100)
    parser.feed(b"1 1:2\r", MANY, MANY)
    parser.end_file()
    parser.feed(b"\n1 x", MANY, MANY)
    parser.end_file()
    assert parser.fault == ("no_index", 2, 3, b"x")


@every_parser
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_block_takes_the_whole_of_its_last_line_end(parser, line_end):
    parser = parser(1, ANY, 100)
    text = b"1 1:2" + line_end
    assert parser.feed(text + text, 1, MANY) == len(text)
    assert parser.line == 2


@every_parser
def test_files_follow_one_another(parser):
    parser = parser(1, ANY, 100)
    parser.feed(b"\xef\xbb\xbf1 1:2\n2 1:3", MANY, MANY)
    assert (parser.line, parser.column, parser.n_rows) == (2, 6, 1)
    parser.end_file()
    assert (parser.line, parser.column, parser.n_rows) == (1, 1, 2)
    parser.feed(b"\xef\xbb\xbf1 1:4\nx", MANY, MANY)
    parser.end_file()
    assert parser.take()[3].tolist() == [0, 0, 0]
    parser.feed(b"3:4", MANY, MANY)
    parser.end_file()
    assert parser.fault == ("no_label", 1, 1, b"3:4")
    parser.end_file()
    assert parser.feed(b"1 1:2\n", MANY, MANY) == 0, "after a fault nothing more is parsed"
    with pytest.raises(ValueError, match="nothing can be taken after a fault"):
        parser.take()


@every_parser
@pytest.mark.parametrize("arguments", [(2, ANY, 10), (-2, ANY, 10), (1, 3, 10), (1, -1, 10), (1, ANY, -1)])
def test_wrong_arguments(parser, arguments):
    with pytest.raises(ValueError, match="must"):
        parser(*arguments)


@pytest.mark.skipif(kernels._core is None, reason="no compiled parser")
@pytest.mark.parametrize("data", ["1 1:2", np.zeros(3), np.zeros((2, 2), np.uint8), np.zeros(9, np.uint8)[::2], None])
def test_the_compiled_parser_takes_bytes_only(data):
    with pytest.raises(TypeError):
        COMPILED(1, ANY, 10).feed(data, MANY, MANY)


@pytest.mark.skipif(kernels._core is None, reason="no compiled parser")
def test_threads_that_share_a_parser_take_turns():
    parser = COMPILED(1, ANY, 100)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: parser.feed(b"1 1:2 3:4\n" * 1000, MANY, MANY), range(40)))
    assert parser.fault is None
    assert len(parser.take()[-1]) == 40_000


ALL_AT_ONCE = (
    b"\xef\xbb\xbf# head\r\n+1 qid:3 1:0.25\t7: -1e-3 # x\n\n-1 2:123456789012345678 2147483647:.5\r\r"
    b"na\xc3\xafve\n0.5 3:1\r\n1e3 1:1e-310"
)


@every_parser
@pytest.mark.parametrize("text", [ALL_AT_ONCE, *REFUSED])
def test_nothing_depends_on_where_pieces_end(parser, text):
    if len(text) > 200:
        text = text[:3] + text[-300:]
    whole = outcome(parser, text)
    assert outcome(parser, text, range(1, len(text))) == whole
    for cut in range(len(text) + 1):
        assert outcome(parser, text, [cut]) == whole


def in_blocks(parser, text, piece, max_rows, max_entries):
    parser, blocks = parser(1, ANY, 2**20), []
    for start in range(0, len(text), piece):
        rest = text[start : start + piece]
        while rest := rest[parser.feed(rest, max_rows, max_entries) :]:
            blocks.append(parser.take())
    parser.end_file()
    blocks.append(parser.take())
    return blocks


@every_parser
@pytest.mark.parametrize("piece", [1, 7, 10_000])
def test_blocks_depend_on_the_rows_only(parser, piece, rng):
    lines = [b" ".join([b"%d" % row, *(b"%d:%d" % (i + 1, row) for i in range(rng.integers(9)))]) for row in range(50)]
    text = b"\n".join(lines)
    whole = [array.tolist() for array in in_blocks(parser, text, len(text), MANY, MANY)[0]]
    by_rows = in_blocks(parser, text, piece, 8, MANY)
    assert [len(block[0]) for block in by_rows if len(block[0])] == [8] * 6 + [2]
    by_entries = in_blocks(parser, text, piece, MANY, 20)
    sizes = [len(block[4]) for block in by_entries]
    assert all(20 <= size < 28 for size in sizes[:-1])
    for blocks in (by_rows, by_entries):
        for place in (0, 1, 3, 4):
            assert np.concatenate([block[place] for block in blocks]).tolist() == whole[place]
        assert all(block[5].tolist()[-1:] in ([], [len(block[4])]) for block in blocks)


def bits(parser, text):
    parser = parser(1, ANY, 2**20)
    parser.feed(b"0 1:" + text.encode(), MANY, MANY)
    parser.end_file()
    if parser.fault:
        return parser.fault[0]
    return parser.take()[4].tobytes()


def expected_bits(text):
    return "overflow" if np.isinf(float(text)) else np.float64(text).tobytes()


digits = st.text("0123456789", min_size=1, max_size=40)
exponents = st.one_of(st.just(""), st.integers(-400, 400).map("e{}".format), st.integers(-30, 30).map("E{:+}".format))


@given(st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.builds(lambda value, n: f"{value:.{n}e}", st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 30)),
    st.builds("{}{}{}{}".format, st.sampled_from(["", "-", "+"]), digits,
              st.one_of(st.just(""), digits.map(".{}".format)), exponents),
))  # fmt: skip
@example("9007199254740993")  # half way between two doubles
@example("9007199254740993.0000000000000000000000000000001")
@example("2.2250738585072011e-308")
@example("1.7976931348623158e308")
@example("2.4703282292062327208e-324")
@example("2.4703282292062328e-324")
@example("0." + "0" * 400 + "1e400")
@example("1e99999999999999999999")
@example("0e99999999999999999999")
@example("1e-99999999999999999999")
@example("12345678901234567890123")
@settings(max_examples=500, deadline=None)
def test_numbers_are_correctly_rounded(text):
    for parser in PARSERS:
        assert bits(parser, text) == expected_bits(text)


PIECES = [
    b"1", b"0", b"5", b"23", b"-", b"+", b".", b"e", b"E-3", b":", b": ", b" ", b" ", b" ", b"\t", b"\r", b"\n", b"\n",
    b"#", b",", b"qid:", b"nan", b"inf", b"2147483647", b"2147483648", b"1e308", b"1e309", b"1e-320",
    b"12345678901234567", b"\x00", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf", b"a", b"\x1f\x8b", b"1:1", b"2:.5", b"7:1e3",
    b"\n-1 1:2 3:4\n",
]  # fmt: skip

scraps = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join)
labels = st.sampled_from([b"1", b"-1", b"+1", b"0.5", b"1e3", b"2"])
values = st.floats(allow_nan=False, allow_infinity=False).map(lambda value: repr(value).encode())
entries = st.dictionaries(st.integers(1, 10**9), values, max_size=6)
lines = st.builds(
    lambda label, entries, tail: b" ".join([label, *(b"%d:%b" % entry for entry in sorted(entries.items()))]) + tail,
    labels, entries, st.sampled_from([b"\n", b"\n", b"\r\n", b" \n", b" # comment 1:2\n", b"\n\n", b""]),
)  # fmt: skip
good_texts = st.lists(lines, max_size=6).map(b"".join)


@st.composite
def damaged(draw):
    """A good text in which some bytes have been replaced, removed or inserted."""
    text = bytearray(draw(good_texts))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=2)))
    return bytes(text)


texts = st.one_of(scraps, good_texts, damaged(), st.binary(max_size=60))


@pytest.mark.skipif(kernels._core is None, reason="no compiled parser")
@given(texts, st.data())
@settings(max_examples=600, deadline=None)
def test_the_compiled_parser_agrees_with_its_twin(text, data):
    base, rule = data.draw(st.integers(-1, 1)), data.draw(st.integers(0, 2))
    limits = data.draw(st.sampled_from([2**20, 40, 5])), data.draw(st.sampled_from([2**31 - 1, 22]))
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    expected = outcome(TWIN, text, (), base, rule, *limits)
    assert outcome(COMPILED, text, cuts, base, rule, *limits) == expected
    assert outcome(COMPILED, text, range(1, len(text)), base, rule, *limits) == expected


@given(texts)
@settings(max_examples=300, deadline=None)
def test_what_scikit_learn_accepts_too_is_the_same(text):
    text = re.sub(rb"\r(?!\n)", b"\n", text)  # to scikit-learn, a CR alone is a space
    parser = COMPILED(1, ANY, 2**20)
    parser.feed(text, MANY, MANY)
    parser.end_file()
    if parser.fault or parser.labelled is None or not (parser.labelled and parser.numbers_only):
        return
    try:
        X, y = load_svmlight_file(io.BytesIO(text), zero_based=False)
    except ValueError:
        assert b": " in text or b":\t" in text or b":\r" in text or b"qid" in text or b"\xef\xbb\xbf" in text
        return
    labels, _, _, indices, values, row_ends = parser.take()
    assert labels.tobytes() == y.tobytes()
    assert indices.tolist() == X.indices.tolist()
    assert values.tobytes() == X.data.tobytes()
    assert [0, *row_ends.tolist()] == X.indptr.tolist()
