// A libFuzzer target for the parser of LIBSVM text: `make fuzz`.
//
// The first byte of an input chooses the base, the rule for labels and the longest line, the second where the text is
// cut. The text is parsed in one piece and in many, which must come to the same; rows must be sound; and values must be
// those that strtod reads. tests/system/test_fuzz.py compares the parser with its twin in Python on the same inputs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "text/decimal.hpp"
#include "text/libsvm.hpp"

namespace {

using isrht::LabelRule;
using isrht::LibsvmParser;

constexpr size_t kMany = size_t(1) << 60;

void demand(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

template <class T> std::vector<T> given(isrht::Growing<T>& array) {
    const size_t size = array.size();
    T* data = array.give();
    std::vector<T> copy(data, data + size);
    std::free(data);
    return copy;
}

struct Outcome {
    std::string fault;
    std::vector<double> labels, values;
    std::vector<char> texts;
    std::vector<int64_t> text_ends, row_ends;
    std::vector<int32_t> indices;

    void append(LibsvmParser& parser) {
        const int64_t texts_before = int64_t(texts.size()), entries_before = int64_t(values.size());
        auto extend = [](auto& whole, const auto& part) { whole.insert(whole.end(), part.begin(), part.end()); };
        auto ends = given(parser.rows.text_ends);
        for (auto& end : ends) end += texts_before;
        extend(text_ends, ends);
        ends = given(parser.rows.row_ends);
        for (auto& end : ends) end += entries_before;
        extend(row_ends, ends);
        extend(labels, given(parser.rows.labels));
        extend(texts, given(parser.rows.texts));
        extend(indices, given(parser.rows.indices));
        extend(values, given(parser.rows.values));
    }
};

template <class T> bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

bool same(const Outcome& a, const Outcome& b) {
    if (a.fault != b.fault) return false;
    if (!a.fault.empty()) return true;
    return same_bytes(a.labels, b.labels) && same_bytes(a.values, b.values) && same_bytes(a.texts, b.texts) &&
           same_bytes(a.text_ends, b.text_ends) && same_bytes(a.row_ends, b.row_ends) &&
           same_bytes(a.indices, b.indices);
}

struct Setting {
    int base;
    LabelRule rule;
    int64_t max_line;
};

// Pieces are copied to memory of exactly their size, so that reading past their end is seen.
Outcome parse(const std::string& text, const Setting& setting, size_t piece, size_t max_rows, size_t max_entries) {
    LibsvmParser parser(setting.base, setting.rule, setting.max_line);
    Outcome outcome;
    for (size_t start = 0; start < text.size() && !parser.fault().kind; start += piece) {
        std::vector<char> rest(text.begin() + start, text.begin() + std::min(text.size(), start + piece));
        while (!rest.empty() && !parser.fault().kind) {
            const size_t used = parser.feed(rest.data(), rest.size(), max_rows, max_entries);
            rest = std::vector<char>(rest.begin() + used, rest.end());
            if (!rest.empty() && !parser.fault().kind) outcome.append(parser);
        }
    }
    parser.end_file();
    const auto& fault = parser.fault();
    if (fault.kind) {
        outcome.fault = std::string(fault.kind) + " " + std::to_string(fault.line) + " " +
                        std::to_string(fault.column) + " " + fault.found;
        demand(fault.line >= 1 && fault.column >= 1 && fault.found.size() <= 24, "a fault is nowhere");
    } else {
        outcome.append(parser);
    }
    return outcome;
}

void check_rows(const Outcome& rows) {
    demand(rows.labels.empty() || rows.labels.size() == rows.row_ends.size(), "labels and rows differ in number");
    demand(rows.labels.size() == rows.text_ends.size(), "labels and texts differ in number");
    demand(rows.indices.size() == rows.values.size(), "indices and values differ in number");
    int64_t start = 0;
    for (const int64_t end : rows.row_ends) {
        demand(start <= end && end <= int64_t(rows.values.size()), "a row ends where it cannot");
        for (int64_t i = start; i < end; ++i) {
            demand(std::isfinite(rows.values[i]), "a value is not finite");
            demand(rows.indices[i] >= 0, "an index is negative");
            demand(i == start || rows.indices[i - 1] < rows.indices[i], "indices do not increase");
        }
        start = end;
    }
    demand(start == int64_t(rows.values.size()), "values belong to no row");
}

void check_number(const std::string& text) {
    double value;
    const char* end = isrht::read_decimal(text.c_str(), value);
    if (!end) return;
    const double expected = std::strtod(std::string(text.c_str(), end).c_str(), nullptr);
    demand(std::memcmp(&value, &expected, sizeof value) == 0, "a number is not what strtod reads");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) return 0;
    const Setting setting{int(data[0] % 3) - 1, LabelRule(data[0] / 3 % 3), data[0] & 0x80 ? 16 : 1 << 20};
    const std::string text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const Outcome whole = parse(text, setting, kMany, kMany, kMany);
    if (whole.fault.empty()) check_rows(whole);
    demand(same(whole, parse(text, setting, 1, kMany, kMany)), "byte by byte it is something else");
    demand(same(whole, parse(text, setting, 1 + data[1] % 32, 1 + data[1] / 32, kMany)),
           "in blocks it is something else");
    demand(same(whole, parse(text, setting, kMany, kMany, 1 + data[1] % 7)), "by entries it is something else");
    check_number(text);
    return 0;
}
