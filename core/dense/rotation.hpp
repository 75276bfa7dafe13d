// How one row is rotated: it is multiplied by the diagonal on its way into a buffer, and transformed there. What it is
// short of a power of two are zeros in the buffer; the row itself is only read.
//
// A long row is rotated in two. Let d be the least power of two that is not less than its width. Its first d/2 values,
// the head, and the rest, the tail, are transformed apart, the tail padded to a power of two of its own. That leaves
// out most of the padding. The stage of stride d/2, which combines them, is the last one then, and is done only for
// what is wanted.
#pragma once

#include "dense/stages.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// The signs of a diagonal of +1 and -1, a bit each. A word holds the signs of one lane in as many consecutive vectors
// as the word has bits, the first vector in its top bit: a mask gives the signs of a vector, and a shift goes on to the
// next vector.
template <class T> struct Signs {
    using Word = typename BitsOf<T>::Type;
    typedef Word Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(Word)), may_alias));
    static constexpr size_t N = size_t(Lanes<T>::count), kBits = 8 * sizeof(Word), kSpan = kBits * N;

    Scratch words;

    Signs(const T* diagonal, size_t width) : words((width + kSpan - 1) / kSpan * N * sizeof(Word)) {
        Word* word = static_cast<Word*>(words.data);
        for (size_t k = 0; k < (width + kSpan - 1) / kSpan * N; ++k) word[k] = 0;
        for (size_t k = 0; k < width; ++k)
            if (diagonal[k] < 0) word[k / kSpan * N + k % N] |= Word(uint64_t(1) << (kBits - 1 - k % kSpan / N));
    }

    ISRHT_INLINE typename Lanes<T>::Bits of_span(size_t at) const {
        return *reinterpret_cast<const Unaligned*>(static_cast<const Word*>(words.data) + at / kSpan * N);
    }
};

template <class T> bool all_signs(const T* diagonal, size_t width) {
    for (size_t k = 0; k < width; ++k)
        if (diagonal[k] != T(1) && diagonal[k] != T(-1)) return false;
    return true;
}

// Rows of up to this many values are rotated whole.
constexpr size_t kWhole = 2048;
// From this many rows on, it pays to work out beforehand what they share.
constexpr size_t kWorthATable = 8;
// Up to this many bytes, what fits the first-level cache, are only multiplied by the diagonal on their way into the
// buffer. More than that take their first stage on the way, too; a second one would need more streams than the cache
// has places for.
constexpr size_t kCopyUpTo = 32768;
// If fewer than one column in this many is wanted, the wanted ones are finished one by one (finish.hpp), which is
// cheaper than the last pass over all.
constexpr size_t kFew = 8;

// How many of the wanted columns lie before each group of a transform. It is not known, which means that all are
// wanted, if the transform is shorter than a group or no choice of columns is given.
template <class T> struct WantedCounts {
    Scratch counts;
    bool known;

    WantedCounts(const Columns<T>* columns, size_t length)
        : counts((length / kGroup<T> + 1) * sizeof(uint32_t)), known(columns && length >= kGroup<T>) {
        if (!known) return;
        uint32_t* before = static_cast<uint32_t*>(counts.data);
        const size_t groups = length / kGroup<T>;
        for (size_t g = 0; g <= groups; ++g) before[g] = 0;
        for (size_t c = 0; c < columns->count; ++c)
            before[(size_t(columns->index[c]) & (length - 1)) / kGroup<T> + 1] += 1;
        for (size_t g = 0; g < groups; ++g) before[g + 1] += before[g];
    }

    Wanted wanted() const { return {known ? static_cast<const uint32_t*>(counts.data) : nullptr}; }
};

// A piece of a row, its values `from` to from + width, rotated in a buffer of `length` values, which is less than twice
// the width, or one group. The smallest stride is 1, or the lanes of a vector if few columns are wanted.
template <class T> struct Piece {
    static constexpr size_t N = size_t(Lanes<T>::count), kSpan = Signs<T>::kSpan;
    using Bits = typename Lanes<T>::Bits;
    size_t from, width, length, lowest;
    const T* diagonal;
    bool flips;  // Whether signs are flipped instead of multiplied, where that pays. The bits are the same.
    Signs<T> signs;
    WantedCounts<T> counts;

    ISRHT_NOINLINE Piece(size_t from, size_t width, size_t length, const T* row_diagonal, const Columns<T>* columns,
                         bool few, size_t rows)
        : from(from), width(width), length(length), lowest(few ? N : 1), diagonal(row_diagonal + from),
          flips(is_copied() && rows >= kWorthATable && all_signs(diagonal, width)), signs(diagonal, flips ? width : 0),
          counts(columns, length) {}

    // Rotates the piece of `row`. `next` is the row that will be read after it.
    ISRHT_NOINLINE void operator()(const T* row, const T* next, T* buffer) const {
        const Transform<T> transform{T(1), lowest, length, counts.wanted()};
        const intptr_t upcoming = reinterpret_cast<intptr_t>(next + from);
        if (!is_copied()) {
            first_stage_into(row + from, buffer);
            return transform.run_after(buffer, 1, upcoming);
        }
        copy_into(row + from, buffer);
        if (length < kGroup<T>) transform_short(buffer, length, length, T(1), 0);
        else transform.run(buffer, upcoming);
    }

  private:
    bool is_copied() const { return length * sizeof(T) <= kCopyUpTo; }

    void copy_into(const T* row, T* buffer) const {
        for (size_t k = flips ? flip_into(row, buffer) : multiply_into(row, buffer, 0, width); k < width; ++k)
            buffer[k] = row[k] * diagonal[k];
        for (size_t k = width; k < length; ++k) buffer[k] = T(0);
    }

    void first_stage_into(const T* row, T* buffer) const {
        const size_t half = length / 2, both = width - half;
        size_t j = 0;
        for (; j + N <= both; j += N) {
            Vector<T> low = product(row, j), high = product(row, half + j);
            butterfly(low, high);
            store(buffer + j, low);
            store(buffer + half + j, high);
        }
        for (; j < both; ++j) {
            T low = row[j] * diagonal[j], high = row[half + j] * diagonal[half + j];
            butterfly(low, high);
            buffer[j] = low;
            buffer[half + j] = high;
        }
        for (size_t k = multiply_into(row, buffer, j, half); k < half; ++k) buffer[k] = row[k] * diagonal[k];
        for (; j < half; ++j) buffer[half + j] = buffer[j];
    }

    ISRHT_INLINE Vector<T> product(const T* row, size_t at) const { return load(row + at) * load(diagonal + at); }

    // Multiplies the values from `at` to `to` into the buffer, and returns where the last whole vector ends.
    size_t multiply_into(const T* row, T* buffer, size_t at, size_t to) const {
        for (; at + N <= to; at += N) store(buffer + at, product(row, at));
        return at;
    }

    // Does the same for all values by flipping signs.
    size_t flip_into(const T* row, T* buffer) const {
        size_t at = 0;
        for (; at + kSpan <= width; at += kSpan) {
            Bits bits = signs.of_span(at);
#pragma GCC unroll 4
            for (size_t j = 0; j < kSpan; j += N, bits <<= 1) store(buffer + at + j, flip(load(row + at + j), bits));
        }
        Bits bits = at < width ? signs.of_span(at) : Bits{};
        for (; at + N <= width; at += N, bits <<= 1) store(buffer + at, flip(load(row + at), bits));
        return at;
    }

    static ISRHT_INLINE Vector<T> flip(Vector<T> x, Bits bits) { return (Vector<T>)((Bits)x ^ (bits & top_bit<T>())); }
};

// A row, rotated whole or in two. The buffer has the head first and then the tail, of which there is none (tail_length
// is 0) if the row is rotated whole. Columns beyond the next power of two of the width repeat those before them, so
// they are not computed.
template <class T> struct RowRotation {
    size_t head_length, tail_length;
    bool few;
    Piece<T> head, tail;

    RowRotation(size_t width, size_t length, const T* diagonal, const Columns<T>* columns, size_t rows)
        : head_length(width > kWhole ? padded(width) / 2 : padded(width)),
          tail_length(width > kWhole ? padded_to_a_group(width - head_length) : 0),
          few(columns && head_length >= kGroup<T> && columns->count * kFew <= length),
          head(0, tail_length ? head_length : width, head_length, diagonal, columns, few, rows),
          tail(head.width, width - head.width, tail_length, diagonal, columns, few, rows) {}

    size_t size() const { return head_length + tail_length; }

    void operator()(const T* row, const T* next, T* buffer) const {
        head(row, next, buffer);
        if (tail_length) tail(row, next, buffer + head_length);
    }

  private:
    static size_t padded(size_t width) {
        size_t length = 1;
        while (length < width) length *= 2;
        return length;
    }
    static size_t padded_to_a_group(size_t width) { return width < kGroup<T> ? kGroup<T> : padded(width); }
};

}  // namespace isrht::ISRHT_VARIANT
