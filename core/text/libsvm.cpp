// The parser of LIBSVM text: see libsvm.hpp.
#include "text/libsvm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "text/decimal.hpp"

namespace isrht {
namespace {

constexpr ptrdiff_t kLongestLabel = 256;
constexpr ptrdiff_t kShown = 24;      // So many bytes of what was found are told with a fault.
constexpr size_t kShortestEntry = 4;  // "1:2" and a space.
constexpr size_t kWindow = 4096;      // So many bytes at a time are searched for line ends.

bool is_digit(char c) { return unsigned(c - '0') < 10; }
bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
// Every line has its end behind it, so these stop a token before it runs out of the line.
bool ends_row(char c) { return ends_line(c) || c == '#'; }
bool ends_token(char c) { return is_space(c) || ends_row(c); }

// Returns the first line end, or a null pointer. It looks window by window: else a text whose lines all end with CR
// would be searched for LF, to its very end, for every line.
const char* find_line_end(const char* begin, const char* end) {
    while (begin != end) {
        const size_t size = std::min(kWindow, size_t(end - begin));
        const auto* const feed = static_cast<const char*>(std::memchr(begin, '\n', size));
        const size_t before = feed ? size_t(feed - begin) : size;
        if (const void* const carriage_return = std::memchr(begin, '\r', before))
            return static_cast<const char*>(carriage_return);
        if (feed) return feed;
        begin += size;
    }
    return nullptr;
}

const char* skip_space(const char* p) {
    while (is_space(*p)) ++p;
    return p;
}

const char* token_end(const char* p) {
    while (!ends_token(*p)) ++p;
    return p;
}

// Returns whether the text is this word, in letters of either case.
bool is_word(const char* begin, const char* end, const char* word) {
    if (end - begin != ptrdiff_t(std::strlen(word))) return false;
    return std::equal(begin, end, word, [](char c, char of_word) { return (c | 0x20) == of_word; });
}

bool is_not_finite(const char* begin, const char* end) {
    if (begin != end && (*begin == '+' || *begin == '-')) ++begin;
    return is_word(begin, end, "nan") || is_word(begin, end, "inf") || is_word(begin, end, "infinity");
}

// Returns whether the text is UTF-8: every character in its shortest form, no surrogates, nothing past U+10FFFF.
bool is_utf8(const char* begin, const char* end) {
    const auto* p = reinterpret_cast<const unsigned char*>(begin);
    const auto* const stop = reinterpret_cast<const unsigned char*>(end);
    while (p != stop) {
        const unsigned lead = *p++;
        if (lead < 0x80) continue;
        if (lead < 0xc2 || lead > 0xf4) return false;
        const int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        if (stop - p < more) return false;
        const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (p[0] < low || p[0] > high) return false;
        for (int i = 1; i < more; ++i)
            if ((p[i] & 0xc0) != 0x80) return false;
        p += more;
    }
    return true;
}

// Returns the name of what is wrong with a label, or a null pointer. The value of a good label that is not a number is
// NaN.
const char* label_problem(const char* begin, const char* end, double& value) {
    if (end - begin > kLongestLabel) return "long_label";
    if (read_decimal(begin, value) == end) return std::isinf(value) ? "label_overflow" : nullptr;
    value = std::numeric_limits<double>::quiet_NaN();
    if (is_not_finite(begin, end)) return "label_not_finite";
    return is_utf8(begin, end) ? nullptr : "label_not_utf8";
}

// Returns the name of what is wrong with a value that is not a number.
const char* value_problem(const char* begin) {
    if (ends_row(*begin)) return "no_value";
    return is_not_finite(begin, token_end(begin)) ? "not_finite" : "not_a_number";
}

}  // namespace

size_t LibsvmParser::feed(const char* data, size_t size, size_t max_rows, size_t max_entries) {
    size_t used = 0;
    const auto take_feed_after_return = [&] {
        if (used < size && std::exchange(after_return_, false)) used += data[used] == '\n';
    };
    take_feed_after_return();
    while (used < size && !fault_.kind && n_rows() < max_rows && rows.values.size() < max_entries) {
        const char* const begin = data + used;
        const char* const line_end = find_line_end(begin, data + size);
        const size_t length = line_end ? size_t(line_end - begin) : size - used;
        if (length > max_line_ - unfinished_.size()) {
            fault_ = {"long_line", line_, int64_t(max_line_) + 1, ""};
            break;
        }
        used += length + (line_end != nullptr);
        if (!line_end) {
            unfinished_.append(begin, length);
            break;
        }
        bool good;
        if (unfinished_.empty()) {
            good = parse_line(begin, line_end);
        } else {
            unfinished_.append(begin, length + 1);
            good = parse_line(unfinished_.data(), unfinished_.data() + unfinished_.size() - 1);
            unfinished_.clear();
        }
        line_ += good;
        after_return_ = good && *line_end == '\r';
        take_feed_after_return();
    }
    return used;
}

void LibsvmParser::end_file() {
    if (fault_.kind) return;
    if (!unfinished_.empty()) {
        unfinished_.push_back('\n');
        const bool good = parse_line(unfinished_.data(), unfinished_.data() + unfinished_.size() - 1);
        unfinished_.clear();
        if (!good) return;
    }
    line_ = 1;
    file_begins_ = true;
    after_return_ = false;
}

// Parses one line, whose LF or CR is `*end`. Its row is kept only when it is whole.
bool LibsvmParser::parse_line(const char* begin, const char* end) {
    line_begin_ = begin;
    line_end_ = end;
    if (std::exchange(file_begins_, false) && end - begin >= 3 && std::memcmp(begin, "\xef\xbb\xbf", 3) == 0)
        begin += 3;
    const char* p = skip_space(begin);
    if (ends_row(*p)) return true;
    p = parse_label(p);
    if (!p) return false;
    p = skip_space(p);
    if (std::memcmp(p, "qid:", std::min<size_t>(4, size_t(end - p) + 1)) == 0) {
        p = parse_qid(p + 4);
        if (!p) return false;
    }
    const size_t most = size_t(end - p) / kShortestEntry + 1;
    rows.indices.make_room(most);
    rows.values.make_room(most);
    int32_t* const first_index = rows.indices.end();
    int32_t* index_out = first_index;
    double* value_out = rows.values.end();
    const int64_t shift = std::max(base_, 0);
    int64_t index = -1, first = -1;
    for (p = skip_space(p); !ends_row(*p); p = skip_space(p)) {
        double value;
        p = parse_entry(p, index, value);
        if (!p) return false;
        if (index_out == first_index) first = index;
        *index_out++ = int32_t(index - shift);
        *value_out++ = value;
    }
    if (index >= 0) {
        smallest_ = smallest_ < 0 ? first : std::min(smallest_, first);
        largest_ = std::max(largest_, index);
    }
    const size_t count = size_t(index_out - first_index);
    rows.indices.add(count);
    rows.values.add(count);
    rows.row_ends.push(int64_t(rows.values.size()));
    return true;
}

// Parses the label. A token with a colon is not a label, and is left to parse_entry.
const char* LibsvmParser::parse_label(const char* begin) {
    const char* p = begin;
    for (; !ends_token(*p) && *p != ':'; ++p) {
        if (*p == ',') return fail("several_labels", p);
        if (is_control(*p)) return fail("control_byte", p);
    }
    const int labelled = *p != ':';
    if (labelled_ >= 0 && labelled != labelled_) return fail(labelled ? "unexpected_label" : "no_label", begin);
    labelled_ = labelled;
    if (!labelled) return begin;
    double value;
    if (const char* problem = label_problem(begin, p, value)) return fail(problem, begin);
    if (std::isnan(value) && !may_be_text()) return fail("label_not_a_number", begin);
    keep_label(begin, p, value);
    return p;
}

bool LibsvmParser::may_be_text() const {
    return rule_ == LabelRule::any || (rule_ == LabelRule::as_the_first && !(any_labels_ && numbers_only_));
}

// Keeps a label before its row is known to be good. That does no harm: after a fault nothing is taken.
void LibsvmParser::keep_label(const char* begin, const char* end, double value) {
    const size_t length = size_t(end - begin);
    rows.labels.push(value);
    rows.texts.make_room(length);
    std::memcpy(rows.texts.end(), begin, length);
    rows.texts.add(length);
    rows.text_ends.push(int64_t(rows.texts.size()));
    any_labels_ = true;
    numbers_only_ &= !std::isnan(value);
}

const char* LibsvmParser::index_problem(int64_t index, int64_t previous) const {
    if (index > kLargestIndex) return "large_index";
    if (index > max_index_) return "many_features";
    if (index < base_) return "index_zero";
    if (index == previous) return "repeated_index";
    return index < previous ? "decreasing_index" : nullptr;
}

// Parses the number of a group of rows, which is not kept.
const char* LibsvmParser::parse_qid(const char* begin) {
    const char* p = skip_space(begin);
    p += *p == '-' || *p == '+';
    const char* const digits = p;
    while (is_digit(*p)) ++p;
    return p == digits || !ends_token(*p) ? fail("bad_qid", p) : p;
}

// Parses one entry. `index` is the index of the entry before, or -1, and becomes that of this one.
const char* LibsvmParser::parse_entry(const char* begin, int64_t& index, double& value) {
    const char* p = begin;
    int64_t number = 0;
    for (; is_digit(*p); ++p)
        if (number <= kLargestIndex) number = number * 10 + (*p - '0');
    if (p == begin) return fail(*p == '-' && is_digit(p[1]) ? "negative_index" : "no_index", p);
    if (*p != ':') return fail(ends_token(*p) ? "no_colon" : "bad_index", p);
    if (const char* problem = index_problem(number, index)) return fail(problem, begin);
    index = number;
    const char* const text = skip_space(p + 1);
    p = read_decimal(text, value);
    if (!p) return fail(value_problem(text), text);
    if (!ends_token(*p)) return fail("after_value", p);
    return std::isinf(value) ? fail("overflow", text) : p;
}

const char* LibsvmParser::fail(const char* kind, const char* at) {
    const char* stop = at;
    while (stop != line_end_ && !is_space(*stop) && stop - at < kShown) ++stop;
    fault_ = {kind, line_, at - line_begin_ + 1, std::string(at, stop)};
    return nullptr;
}

}  // namespace isrht
