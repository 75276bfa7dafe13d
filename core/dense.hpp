// Kernels over dense rows: each row is rotated in a buffer that stays in the cache, and only what is asked of
// it leaves. The padding is never stored: the first pass knows which of its streams are zero.
#pragma once

#include "finish.hpp"
#include "kernels.hpp"

namespace isrht::ISRHT_VARIANT {

// While a row of up to this many bytes is transformed, the next one is asked for, or of short rows the one that lies a
// part ahead: memory needs its time. The first pass over a row of several parts reads all of it at once, so there the end
// of what is asked for is half a part further. Beyond, it is the next part of the row.
constexpr size_t kRowAhead = 131072;

template <class T> void transform_rows(T* data, size_t outer, ptrdiff_t stride, size_t length, T scale) {
    if (length < kGroup<T>) {
        if (stride == ptrdiff_t(length)) return transform_short(data, outer * length, length, scale);
        for (size_t i = 0; i < outer; ++i) transform_short(data + ptrdiff_t(i) * stride, length, length, scale);
        return;
    }
    const bool long_row = length * sizeof(T) > kRowAhead;
    const ptrdiff_t rows_ahead = stride * ptrdiff_t((kPart<T> - 1) / length + 1);
    const ptrdiff_t ahead = long_row ? ptrdiff_t(kPart<T>) : rows_ahead + (length > kPart<T> ? ptrdiff_t(kPart<T> / 2) : 0);
    const Transform<T> transform{scale, 1, length, {nullptr}};
    for (size_t i = 0; i < outer; ++i) {
        T* row = data + ptrdiff_t(i) * stride;
        transform.run(row, reinterpret_cast<intptr_t>(row) + ahead * ptrdiff_t(sizeof(T)));
    }
}

// Along an axis that is not the last: whole rows of `inner` values are added to each other, large strides first, and then
// block after block of rows, each while it is cached.
template <class T> void transform_stack(T* data, size_t length, size_t inner, T scale) {
    const int stages = __builtin_ctzll(length), radix = stages <= 3 ? stages : stages == 4 ? 2 : 3;
    const size_t child = length >> radix;
    Upcoming nothing{0, false};
    if (radix) radix_pass(data, child * inner, radix, nothing);
    if (child > 1)
        for (size_t k = 0; k < size_t(1) << radix; ++k) transform_stack(data + k * child * inner, child, inner, scale);
    else if (scale != T(1))
        for (size_t i = 0; i < length * inner; ++i) data[i] *= scale;
}

template <class T>
void transform(T* data, size_t outer, ptrdiff_t stride, size_t length, size_t inner, T scale) {
    if (inner == 1) return transform_rows(data, outer, stride, length, scale);
    for (size_t i = 0; i < outer; ++i) transform_stack(data + ptrdiff_t(i) * stride, length, inner, scale);
}

template <class T> void transform_top(T* data, size_t columns, size_t stride) {
    Upcoming nothing{0, false};
    radix_pass<T, 3>(data, columns, stride, nothing);
}

// The stages of 2^Radix registers of which those from Live on are zero: zeros are copied, never added.
template <class T, int Radix, int Live> ISRHT_INLINE void butterfly_live(Vector<T>* v) {
    if constexpr (Radix > 0) {
        constexpr int half = 1 << (Radix - 1);
        if constexpr (Live <= half) {
            butterfly_live<T, Radix - 1, Live>(v);
#pragma GCC unroll 4
            for (int k = 0; k < half; ++k) v[k + half] = v[k];
        } else {
#pragma GCC unroll 4
            for (int k = 0; k < half; ++k) {
                if (k + half < Live) butterfly(v[k], v[k + half]);
                else v[k + half] = v[k];
            }
            butterfly_live<T, Radix - 1, half>(v);
            butterfly_live<T, Radix - 1, half>(v + half);
        }
    }
}

template <class T> ISRHT_INLINE Vector<T> load_product(const T* x, const T* diagonal, size_t at, size_t width) {
    if (at + Lanes<T>::count <= width) return load(x + at) * load(diagonal + at);
    T some[Lanes<T>::count] = {};
    for (size_t i = at; i < width; ++i) some[i - at] = x[i] * diagonal[i];
    return load(some);
}

// A row on its way into the buffer: the product with the diagonal and the first radix pass at once.
template <class T> struct Entry {
    const T* row;
    const T* diagonal;
    size_t width;
    T* buffer;
    size_t stride;

    template <int Radix> void run() const {
        constexpr size_t N = size_t(Lanes<T>::count);
        const int whole_streams = int(width / stride);
        const size_t rest = (width % stride + N - 1) / N * N;
        choose<Radix, 1 << Radix>(0, rest, whole_streams + 1);
        choose<Radix, 1 << Radix>(rest, stride, whole_streams);
    }

    template <int Radix, int Live> void choose(size_t from, size_t to, int live) const {
        if (live == Live) pass<Radix, Live>(from, to);
        else if constexpr (Live > 0) choose<Radix, Live - 1>(from, to, live);
    }

    // Positions [from, to) of the 2^Radix streams, of which those from Live on are padding. Only the last live
    // one can end within a vector.
    template <int Radix, int Live> void pass(size_t from, size_t to) const {
        for (size_t j = from; j < to; j += Lanes<T>::count) {
            Vector<T> v[size_t(1) << Radix];
#pragma GCC unroll 8
            for (int k = 0; k < (1 << Radix); ++k) {
                if (k + 1 < Live) v[k] = load(row + j + k * stride) * load(diagonal + j + k * stride);
                else v[k] = k < Live ? load_product(row, diagonal, j + k * stride, width) : Vector<T>{};
            }
            butterfly_live<T, Radix, Live>(v);
#pragma GCC unroll 8
            for (int k = 0; k < (1 << Radix); ++k) store(buffer + j + k * stride, v[k]);
        }
    }
};

// One row after another, each rotated in a buffer.
template <class T> struct Rotation {
    const T* diagonal;
    size_t width, length;
    size_t lowest;  // stride at which to stop: 1, or a vector to leave the rest to Finish
    Wanted wanted;

    // `next` is the row that will be read after this one.
    void operator()(const T* row, const T* next, T* buffer) const {
        if (length < kGroup<T>) return rotate_short(row, buffer);
        const Transform<T> transform{T(1), lowest, length, wanted};
        const int radix = entry_radix(transform.first_radix(length));
        const Entry<T> entry{row, diagonal, width, buffer, length >> radix};
        if (radix == 3) entry.template run<3>();
        else if (radix == 2) entry.template run<2>();
        else if (radix == 1) entry.template run<1>();
        else entry.template run<0>();
        transform.run_after(buffer, radix, reinterpret_cast<intptr_t>(next));
    }

    // Row, diagonal and buffer are read and written side by side: many streams at large power-of-two
    // distances would share one set of the cache.
    int entry_radix(int first) const {
        if (length * sizeof(T) >= 16384) return 1;
        return first == 4 ? 2 : first;
    }

    void rotate_short(const T* row, T* buffer) const {
        for (size_t k = 0; k < length; ++k) buffer[k] = k < width ? row[k] * diagonal[k] : T(0);
        transform_short(buffer, length, length, T(1));
    }
};

// The signs of a diagonal of +-1, a bit each. Those of one lane in as many consecutive vectors as a word has bits are
// one word, the first on top: a mask gives the signs of a vector, and a shift goes on to the next.
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

// Up to so many values a row is rotated whole. A longer one of w values, with w <= d = 2^q, is rotated in two: its first
// d/2 values, the head, and its tail, padded to a power of two of its own. The stage of stride d/2 is then the last one and
// taken where it is wanted alone, and the padding of the tail costs nothing.
constexpr size_t kWhole = 2048;

// Pieces of a row that fit the first-level cache have their signs flipped on the way into the buffer; longer ones, and those
// with other diagonals, are multiplied in the first radix pass.
constexpr size_t kFlipUpTo = 32768;

// Fewer than one wanted column in so many: each is finished on its own, cheaper than the last pass over all.
constexpr size_t kFew = 16;

// How many of the wanted columns lie before each group of a transform; null if it is shorter than a group, or if all are
// wanted (no choice is given).
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

// Values `from` to from + width of a row, rotated in a buffer of `length`: down to stride 1, or to a vector if few columns
// are wanted.
template <class T> struct Piece {
    static constexpr size_t N = size_t(Lanes<T>::count), kSpan = Signs<T>::kSpan;
    using Bits = typename Lanes<T>::Bits;
    size_t from, width, length, lowest;
    const T* diagonal;
    bool flips;
    Signs<T> signs;
    WantedCounts<T> counts;

    Piece(size_t from, size_t width, size_t length, const T* row_diagonal, const Columns<T>* columns, bool few)
        : from(from), width(width), length(length), lowest(few ? N : 1), diagonal(row_diagonal + from),
          flips(length >= kGroup<T> && length * sizeof(T) <= kFlipUpTo && all_signs(diagonal, width)),
          signs(diagonal, flips ? width : 0), counts(columns, length) {}

    // `next` is the row that will be read after this one.
    void operator()(const T* row, const T* next, T* buffer) const {
        if (!flips) return Rotation<T>{diagonal, width, length, lowest, counts.wanted()}(row + from, next + from, buffer);
        flip_into(row + from, buffer);
        Transform<T>{T(1), lowest, length, counts.wanted()}.run(buffer, reinterpret_cast<intptr_t>(next + from));
    }

  private:
    void flip_into(const T* row, T* buffer) const {
        size_t at = 0;
        for (; at + kSpan <= width; at += kSpan) {
            Bits bits = signs.of_span(at);
#pragma GCC unroll 4
            for (size_t j = 0; j < kSpan; j += N, bits <<= 1) store(buffer + at + j, flip(load(row + at + j), bits));
        }
        Bits bits = at < width ? signs.of_span(at) : Bits{};
        for (; at + N <= width; at += N, bits <<= 1) store(buffer + at, flip(load(row + at), bits));
        for (size_t k = at; k < width; ++k) buffer[k] = row[k] * diagonal[k];
        for (size_t k = width; k < length; ++k) buffer[k] = T(0);
    }

    static ISRHT_INLINE Vector<T> flip(Vector<T> x, Bits bits) { return (Vector<T>)((Bits)x ^ (bits & top_bit<T>())); }
};

// A row, rotated whole or in two: tail_length is 0, or that of the tail, which lies behind the head in the buffer.
template <class T> struct RotatedRow {
    size_t head_length, tail_length;
    bool few;
    Piece<T> head, tail;

    RotatedRow(size_t width, size_t length, const T* diagonal, const Columns<T>* columns)
        : head_length(width > kWhole ? padded(width) / 2 : length),
          tail_length(width > kWhole ? padded_to_a_group(width - head_length) : 0),
          few(columns && length >= kGroup<T> && columns->count * kFew <= length),
          head(0, tail_length ? head_length : width, head_length, diagonal, columns, few),
          tail(tail_length ? head_length : 0, tail_length ? width - head_length : 0, tail_length, diagonal, columns, few) {}

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

template <class T, bool InTwo>
void project_rows(DenseRows<T> rows, const RotatedRow<T>& rotate, Columns<T> columns, T* out) {
    const Finish<T, InTwo> finish(columns, rotate.head_length, rotate.tail_length, rotate.few, rows.count);
    Scratch scratch(rotate.size() * sizeof(T));
    T* buffer = static_cast<T*>(scratch.data);
    for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
        rotate(rows.row(i), rows.row(i + 1), buffer);
        finish(buffer, out);
    }
}

template <class T>
void project(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if (rows.count == 0) return;
    const RotatedRow<T> rotate(rows.width, length, diagonal, &columns);
    if (rotate.tail_length) project_rows<T, true>(rows, rotate, columns, out);
    else project_rows<T, false>(rows, rotate, columns, out);
}

// totals += f(row) for a batch of rows at once: the totals are read and written once per batch, yet each of
// them adds the rows one after another, so the size of the batch changes no bit.
template <class T, bool Squared> void accumulate(const T* const* batch, size_t count, size_t width, double* totals) {
    constexpr size_t N = size_t(Lanes<double>::count);
    size_t j = 0;
    for (; j + N <= width; j += N) {
        Vector<double> total = load(totals + j);
        for (size_t b = 0; b < count; ++b) {
            const Vector<double> value = load_as_double(batch[b] + j);
            total += Squared ? value * value : value;
        }
        store(totals + j, total);
    }
    for (; j < width; ++j)
        for (size_t b = 0; b < count; ++b) {
            const double value = double(batch[b][j]);
            totals[j] += Squared ? value * value : value;
        }
}

constexpr size_t kBatch = 8;
constexpr size_t kBatchBytes = 262144;  // rotated rows of a batch stay in the second-level cache

template <class T> void add_rows(DenseRows<T> rows, RowChoice chosen, double* totals) {
    const T* batch[kBatch];
    for (size_t done = 0; done < chosen.count;) {
        size_t count = 0;
        for (; count < kBatch && done < chosen.count; ++count, ++done)
            batch[count] = rows.data + ptrdiff_t(chosen.index[done]) * rows.stride;
        accumulate<T, false>(batch, count, rows.width, totals);
    }
}

// totals += squares of rows that were rotated in two: the last stage, of stride `head`, in between.
template <class T>
void accumulate_in_two(const T* const* batch, size_t count, size_t head, size_t tail, double* totals) {
    constexpr size_t N = size_t(Lanes<double>::count);
    for (size_t j = 0; j < head; j += N) {
        Vector<double> sums = load(totals + j), differences = load(totals + head + j);
        for (size_t b = 0; b < count; ++b) {
            const auto low = load_few(batch[b] + j), high = load_few(batch[b] + head + (j & (tail - 1)));
            const Vector<double> sum = as_doubles(low + high), difference = as_doubles(low - high);
            sums += sum * sum;
            differences += difference * difference;
        }
        store(totals + j, sums);
        store(totals + head + j, differences);
    }
}

template <class T>
void add_squares(DenseRows<T> rows, RowChoice chosen, const T* diagonal, size_t length, double* totals) {
    const RotatedRow<T> rotate(rows.width, length, diagonal, nullptr);
    const size_t head = rotate.head_length, tail = rotate.tail_length;
    const size_t apart = rotate.size() + kCacheLine / sizeof(T);  // in other sets of a cache
    const size_t fitting = kBatchBytes / (apart * sizeof(T)), slots = fitting < 1 ? 1 : fitting > kBatch ? kBatch : fitting;
    Scratch scratch(slots * apart * sizeof(T));
    T* buffers = static_cast<T*>(scratch.data);
    const T* batch[kBatch];
    for (size_t done = 0; done < chosen.count;) {
        size_t count = 0;
        for (; count < slots && done < chosen.count; ++count, ++done) {
            const T* row = rows.data + ptrdiff_t(chosen.index[done]) * rows.stride;
            const bool more = done + 1 < chosen.count;
            const T* next = more ? rows.data + ptrdiff_t(chosen.index[done + 1]) * rows.stride : row;
            batch[count] = buffers + count * apart;
            rotate(row, next, buffers + count * apart);
        }
        if (!tail) accumulate<T, true>(batch, count, length, totals);
        else
            for (size_t from = 0; from < length; from += 2 * head)  // once, unless there is more padding than data
                accumulate_in_two(batch, count, head, tail, totals + from);
    }
}

}  // namespace isrht::ISRHT_VARIANT
