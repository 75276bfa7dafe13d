// A parser of LIBSVM text that is fed bytes and gives rows.
//
// A line is `[label] [qid:N] index:value ... [# comment]` and ends with LF, CRLF or CR; docs/files.md tells what is
// accepted and what is not. Bytes come in pieces of any size. A line that a piece leaves unfinished is kept until the
// rest of it comes, so nothing depends on where pieces end. The first fault ends the parsing, and the parser says what
// and where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "text/growing.hpp"

namespace isrht {

// What is wrong with a text, and where. `kind` is null while all is well; isrht/files/_libsvm.py has a sentence for
// each kind.
struct LibsvmFault {
    const char* kind = nullptr;
    int64_t line = 0, column = 0;
    std::string found;
};

// Rows as the parser gives them: their labels, and their entries as CSR.
struct LibsvmRows {
    Growing<double> labels;      // A label that is not a number is NaN.
    Growing<char> texts;         // The labels as they are written, one after another.
    Growing<int64_t> text_ends;  // Where each of these texts ends.
    Growing<int32_t> indices;
    Growing<double> values;
    Growing<int64_t> row_ends;  // The indptr of CSR without its first 0.
};

// Which labels may be texts instead of numbers: any of them; any of them if the first label is one; none.
enum class LabelRule { any, as_the_first, numbers };

class LibsvmParser {
  public:
    static constexpr int64_t kLargestIndex = std::numeric_limits<int32_t>::max();

    // The base, 0 or 1, is subtracted from the indices; if it is negative, the base is not known, and nothing is
    // subtracted. An index that is larger than max_index, as it is written, is a fault.
    LibsvmParser(int base, LabelRule rule, int64_t max_line, int64_t max_index = kLargestIndex)
        : base_(base), rule_(rule), max_line_(size_t(max_line)), max_index_(max_index) {}

    // Parses until there is a fault, the data end, or so many rows or entries wait to be taken. Returns how many bytes
    // it used.
    size_t feed(const char* data, size_t size, size_t max_rows, size_t max_entries);
    // Tells that the file ends here; what is fed next is another file.
    void end_file();

    LibsvmRows rows;  // What has been parsed and has not been taken yet.

    const LibsvmFault& fault() const { return fault_; }
    int64_t line() const { return line_; }
    int64_t column() const { return int64_t(unfinished_.size()) + 1; }
    size_t n_rows() const { return rows.row_ends.size(); }
    bool any_rows() const { return labelled_ >= 0; }
    bool labelled() const { return labelled_ == 1; }
    // Returns whether all labels so far are numbers.
    bool numbers_only() const { return numbers_only_; }
    // These two return indices as they are written, or -1 before the first one.
    int64_t smallest_index() const { return smallest_; }
    int64_t largest_index() const { return largest_; }

  private:
    bool parse_line(const char* begin, const char* end);
    const char* index_problem(int64_t index, int64_t previous) const;
    // Each of these returns where it ended, or a null pointer after a fault.
    const char* parse_label(const char* begin);
    const char* parse_qid(const char* begin);
    const char* parse_entry(const char* begin, int64_t& index, double& value);
    const char* fail(const char* kind, const char* at);
    bool may_be_text() const;
    void keep_label(const char* begin, const char* end, double value);

    int base_;
    LabelRule rule_;
    size_t max_line_;
    int64_t max_index_;
    std::string unfinished_;
    bool after_return_ = false;  // The last byte was a CR: if the next one is LF, it belongs to the same line end.
    const char *line_begin_ = nullptr, *line_end_ = nullptr;
    int64_t line_ = 1;
    bool file_begins_ = true;
    int labelled_ = -1;  // Whether rows have labels; -1 before the first row.
    bool any_labels_ = false, numbers_only_ = true;
    int64_t smallest_ = -1, largest_ = -1;
    LibsvmFault fault_;
};

}  // namespace isrht
