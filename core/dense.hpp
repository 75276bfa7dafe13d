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

// One half of a row after the first stage, read from the row itself. Each value is read twice, once per half, but
// nothing waits in the buffer, which for one half stays in the first cache.
template <class T> struct HalfEntry {
    static constexpr size_t N = size_t(Lanes<T>::count), kSpan = Signs<T>::kSpan;
    using Bits = typename Lanes<T>::Bits;
    const T* row;
    const Signs<T>& signs;
    size_t width, half;  // half < width <= 2 half
    T* buffer;

    template <bool Second> void run() const {
        const size_t both = width - half;
        for (size_t at = 0; at < half; at += kSpan) {
            if (at + kSpan <= both) span<Second, kSpan>(at, kSpan);
            else if (at < both) span<Second, 1>(at, both - at);
            else span<Second, 0>(at, 0);
        }
    }

    // One span, whose first `both` values have a partner in the upper half: all, some or none of them.
    template <bool Second, size_t Partners> ISRHT_INLINE void span(size_t at, size_t both) const {
        Bits low = signs.of_span(at), high = Partners ? signs.of_span(at + half) : Bits{};
#pragma GCC unroll 4
        for (size_t j = 0; j < kSpan; j += N, low <<= 1, high <<= 1) {
            const Vector<T> a = flip(load(row + at + j), low);
            if (Partners == 0 || (Partners == 1 && j >= both)) {
                store(buffer + at + j, a);
                continue;
            }
            const T* partner = row + half + at + j;
            const Vector<T> b = flip(Partners == 1 ? load_some(partner, both - j) : load(partner), high);
            store(buffer + at + j, Second ? a - b : a + b);
        }
    }

    static ISRHT_INLINE Vector<T> flip(Vector<T> x, Bits bits) { return (Vector<T>)((Bits)x ^ (bits & top_bit<T>())); }

    static ISRHT_INLINE Vector<T> load_some(const T* from, size_t count) {
        if (count >= N) return load(from);
        T some[N] = {};
        for (size_t i = 0; i < count; ++i) some[i] = from[i];
        return load(some);
    }
};

// Rows of more than one part, up to this many bytes, are rotated half by half.
constexpr size_t kHalvesUpTo = 65536;

// Fewer than one wanted column in so many: each is finished on its own, cheaper than the last pass over all.
constexpr size_t kFew = 16;

template <class T> void count_wanted(Columns<T> columns, size_t groups, uint32_t* before) {
    for (size_t g = 0; g <= groups; ++g) before[g] = 0;
    for (size_t c = 0; c < columns.count; ++c) before[size_t(columns.index[c]) / kGroup<T> + 1] += 1;
    for (size_t g = 0; g < groups; ++g) before[g + 1] += before[g];
}

// Parts of a row in which no column is wanted are left untransformed: O(length log r) for r scattered columns.
template <class T> struct Projection {
    DenseRows<T> rows;
    size_t length;
    Columns<T> columns;
    const uint32_t* before;  // wanted columns before each group; null below one group
    bool few;

    size_t lowest() const { return few ? size_t(Lanes<T>::count) : 1; }

    const T* row(size_t i) const { return rows.data + ptrdiff_t(i < rows.count ? i : rows.count - 1) * rows.stride; }

    // `order` lists all columns.
    void whole_rows(const T* diagonal, const uint32_t* order, T* buffer, T* out) const {
        const Rotation<T> rotate{diagonal, rows.width, length, lowest(), {before}};
        const Finish<T> finish(columns, order, columns.count, 0, few, rows.count);
        for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
            rotate(row(i), row(i + 1), buffer);
            finish(buffer, out);
        }
    }

    // `order` lists the columns of the first half and then those of the second.
    void half_rows(const Signs<T>& signs, const uint32_t* order, T* buffer, T* out) const {
        const size_t half = length / 2, in_first = before[half / kGroup<T>];
        const Finish<T> finish_first(columns, order, in_first, 0, few, rows.count);
        const Finish<T> finish_second(columns, order + in_first, columns.count - in_first, half, few, rows.count);
        for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
            const HalfEntry<T> entry{row(i), signs, rows.width, half, buffer};
            entry.template run<false>();
            transform_half(row(i + 1), 0, buffer);
            finish_first(buffer, out);
            entry.template run<true>();
            transform_half(row(i + 1), half, buffer);
            finish_second(buffer, out);
        }
    }

    void transform_half(const T* next, size_t from, T* buffer) const {
        const Transform<T> transform{T(1), lowest(), length / 2, {before + from / kGroup<T>}};
        transform.run(buffer, reinterpret_cast<intptr_t>(next + from));
    }
};

template <class T> void order_by_half(Columns<T> columns, size_t half, uint32_t* order) {
    for (int second = 0; second < 2; ++second)
        for (size_t c = 0; c < columns.count; ++c)
            if ((size_t(columns.index[c]) >= half) == bool(second)) *order++ = uint32_t(c);
}

template <class T>
void project(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if (rows.count == 0) return;
    const size_t groups = length / kGroup<T>, bytes = length * sizeof(T);
    Scratch counts((groups + 1) * sizeof(uint32_t)), buffer(bytes);
    uint32_t* before = static_cast<uint32_t*>(counts.data);
    count_wanted(columns, groups, before);
    const bool few = groups > 0 && columns.count * kFew <= length;
    const Projection<T> projection{rows, length, columns, groups ? before : nullptr, few};
    const bool halves_fit = kPart<T> < length && bytes <= kHalvesUpTo && length / 2 < rows.width;
    const bool by_halves = halves_fit && all_signs(diagonal, rows.width);
    Scratch ordered((columns.count + 1) * sizeof(uint32_t));
    uint32_t* order = static_cast<uint32_t*>(ordered.data);
    order_by_half(columns, by_halves ? length / 2 : length, order);
    if (!by_halves) return projection.whole_rows(diagonal, order, static_cast<T*>(buffer.data), out);
    projection.half_rows(Signs<T>(diagonal, rows.width), order, static_cast<T*>(buffer.data), out);
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

template <class T>
void add_squares(DenseRows<T> rows, RowChoice chosen, const T* diagonal, size_t length, double* totals) {
    const Rotation<T> rotate{diagonal, rows.width, length, 1, {nullptr}};
    const size_t fitting = kBatchBytes / (length * sizeof(T)), slots = fitting < 1 ? 1 : fitting > kBatch ? kBatch : fitting;
    Scratch scratch(slots * length * sizeof(T));
    T* buffers = static_cast<T*>(scratch.data);
    const T* batch[kBatch];
    for (size_t done = 0; done < chosen.count;) {
        size_t count = 0;
        for (; count < slots && done < chosen.count; ++count, ++done) {
            const T* row = rows.data + ptrdiff_t(chosen.index[done]) * rows.stride;
            const bool more = done + 1 < chosen.count;
            const T* next = more ? rows.data + ptrdiff_t(chosen.index[done + 1]) * rows.stride : row;
            batch[count] = buffers + count * length;
            rotate(row, next, buffers + count * length);
        }
        accumulate<T, true>(batch, count, length, totals);
    }
}

}  // namespace isrht::ISRHT_VARIANT
