// A parser of LIBSVM text that is fed bytes and gives rows.
//
// A line is `[label] [qid:N] index:value ... [# comment]` and ends with LF, CRLF or CR; docs/files.md tells what is
// accepted and what is not. Bytes come in pieces of any size: a line that a piece leaves unfinished is kept until the
// rest of it comes, so nothing depends on where pieces end. The first fault ends the parsing and says where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <utility>

namespace isrht {

// What grows at its end and is then given away. realloc moves the pages of large blocks rather than their bytes.
template <class T> class Growing {
  public:
    Growing() = default;
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { std::free(data_); }

    size_t size() const { return size_; }
    T* end() { return data_ + size_; }
    void add(size_t count) { size_ += count; }  // of what was written from end() on

    void make_room(size_t count) {
        if (count > room_ - size_) resize_room(size_ + count + room_ / 2);
    }
    void push(T value) {
        make_room(1);
        data_[size_++] = value;
    }
    // To be freed by the receiver.
    T* give() {
        if (size_ < room_ || !data_) resize_room(size_ ? size_ : 1);
        size_ = room_ = 0;
        return std::exchange(data_, nullptr);
    }

  private:
    void resize_room(size_t count) {
        void* moved = count <= SIZE_MAX / sizeof(T) ? std::realloc(data_, count * sizeof(T)) : nullptr;
        if (!moved) throw std::bad_alloc();
        data_ = static_cast<T*>(moved);
        room_ = count;
    }

    T* data_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

struct LibsvmFault {
    const char* kind = nullptr;  // none while all is well; files/_libsvm.py has a sentence for each
    int64_t line = 0, column = 0;
    std::string found;
};

struct LibsvmRows {
    Growing<double> labels;      // NaN for a label that is no number
    Growing<char> texts;         // the labels as they are written, one after the other
    Growing<int64_t> text_ends;  // where each of them ends
    Growing<int32_t> indices;
    Growing<double> values;
    Growing<int64_t> row_ends;   // CSR's indptr but for its first 0
};

// Which labels may be no numbers: any, any if the first is none, or none.
enum class LabelRule { any, as_the_first, numbers };

class LibsvmParser {
  public:
    static constexpr int64_t kLargestIndex = std::numeric_limits<int32_t>::max();

    // The base is 0 or 1, and is subtracted from the indices, or is negative: then nothing is. An index past max_index,
    // as it is written, is a fault.
    LibsvmParser(int base, LabelRule rule, int64_t max_line, int64_t max_index = kLargestIndex)
        : base_(base), rule_(rule), max_line_(size_t(max_line)), max_index_(max_index) {}

    // Parses until a fault, the end of the data, or until so many rows or entries wait to be taken. Returns how many
    // bytes it used.
    size_t feed(const char* data, size_t size, size_t max_rows, size_t max_entries);
    // The file ends here; what is fed next is another file.
    void end_file();

    LibsvmRows rows;  // what has been parsed and not been taken yet

    const LibsvmFault& fault() const { return fault_; }
    int64_t line() const { return line_; }
    int64_t column() const { return int64_t(unfinished_.size()) + 1; }
    size_t n_rows() const { return rows.row_ends.size(); }
    bool any_rows() const { return labelled_ >= 0; }
    bool labelled() const { return labelled_ == 1; }
    bool numbers_only() const { return numbers_only_; }      // all labels so far
    int64_t smallest_index() const { return smallest_; }     // as written, so far; -1 before the first
    int64_t largest_index() const { return largest_; }

  private:
    bool parse_line(const char* begin, const char* end);
    const char* index_problem(int64_t index, int64_t previous) const;
    // Each gives where it ended, or a null pointer after a fault.
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
    bool after_return_ = false;  // the last byte was a CR: if the next is LF, it belongs to the same line end
    const char *line_begin_ = nullptr, *line_end_ = nullptr;
    int64_t line_ = 1;
    bool file_begins_ = true;
    int labelled_ = -1;
    bool any_labels_ = false, numbers_only_ = true;
    int64_t smallest_ = -1, largest_ = -1;
    LibsvmFault fault_;
};

}  // namespace isrht
