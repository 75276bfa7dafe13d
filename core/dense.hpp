// Kernels over dense rows: each row is rotated in a buffer that stays in the cache, and only what is asked of
// it leaves. The padding is never stored: the first pass knows which of its streams are zero.
#pragma once

#include "butterfly.hpp"
#include "kernels.hpp"

namespace isrht::ISRHT_VARIANT {

// Rows up to this many bytes let the next row be fetched whole while one is transformed; beyond, the next part.
constexpr size_t kRowAhead = 131072;

template <class T> void transform_rows(T* data, size_t outer, ptrdiff_t stride, size_t length, T scale) {
    if (length < kGroup<T>) {
        if (stride == ptrdiff_t(length)) return transform_short(data, outer * length, length, scale);
        for (size_t i = 0; i < outer; ++i) transform_short(data + ptrdiff_t(i) * stride, length, length, scale);
        return;
    }
    const bool row_ahead = length * sizeof(T) <= kRowAhead;
    const ptrdiff_t ahead = (row_ahead ? stride : ptrdiff_t(kPart<T>)) * ptrdiff_t(sizeof(T));
    const Transform<T> transform{scale, 1, {nullptr}, ahead};
    for (size_t i = 0; i < outer; ++i) transform.run(data + ptrdiff_t(i) * stride, length, 0);
}

// Along an axis that is not the last: strips of columns, one cache line or two vectors wide, pass through a
// buffer. Copying costs less than strides of a whole row would.
template <class T> void transform_strips(T* data, size_t length, size_t inner, T scale) {
    constexpr size_t line = kCacheLine / sizeof(T), strip = kStep<T> > line ? kStep<T> : line;
    Scratch scratch(length * strip * sizeof(T));
    T* buffer = static_cast<T*>(scratch.data);
    const Transform<T> transform{scale, strip, {nullptr}, 0};
    for (size_t from = 0; from < inner; from += strip) {
        const size_t width = inner - from < strip ? inner - from : strip;
        for (size_t i = 0; i < length; ++i)
            for (size_t j = 0; j < strip; ++j) buffer[i * strip + j] = j < width ? data[i * inner + from + j] : T(0);
        transform.run(buffer, length * strip, 0);
        for (size_t i = 0; i < length; ++i)
            for (size_t j = 0; j < width; ++j) data[i * inner + from + j] = buffer[i * strip + j];
    }
}

template <class T>
void transform(T* data, size_t outer, ptrdiff_t stride, size_t length, size_t inner, T scale) {
    if (inner == 1) return transform_rows(data, outer, stride, length, scale);
    for (size_t i = 0; i < outer; ++i) transform_strips(data + ptrdiff_t(i) * stride, length, inner, scale);
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
    size_t lowest;  // stride at which to stop: 1, or kStep to leave the rest to finish_one
    Wanted wanted;

    // `next` is the row that will be read after this one.
    void operator()(const T* row, const T* next, T* buffer) const {
        if (length < kGroup<T>) return rotate_short(row, buffer);
        const ptrdiff_t ahead = reinterpret_cast<intptr_t>(next) - reinterpret_cast<intptr_t>(buffer);
        const Transform<T> transform{T(1), lowest, wanted, ahead};
        const int radix = entry_radix(transform.first_radix(length));
        const Entry<T> entry{row, diagonal, width, buffer, length >> radix};
        if (radix == 3) entry.template run<3>();
        else if (radix == 2) entry.template run<2>();
        else if (radix == 1) entry.template run<1>();
        else entry.template run<0>();
        transform.run_after(buffer, length, radix, 0);
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

constexpr size_t round_to_line(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

template <class T> void count_wanted(Columns<T> columns, size_t groups, uint32_t* before) {
    for (size_t g = 0; g <= groups; ++g) before[g] = 0;
    for (size_t c = 0; c < columns.count; ++c) before[size_t(columns.index[c]) / kGroup<T> + 1] += 1;
    for (size_t g = 0; g < groups; ++g) before[g + 1] += before[g];
}

// Fewer than one wanted column in so many: each is finished on its own, cheaper than the last pass over all.
constexpr size_t kFew = 64;

// Parts of a row in which no column is wanted are left untransformed: O(length log r) for r scattered columns.
template <class T>
void project(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    const size_t groups = length / kGroup<T>;
    Scratch counts((groups + 1) * sizeof(uint32_t));
    uint32_t* before = static_cast<uint32_t*>(counts.data);
    count_wanted(columns, groups, before);
    const bool few = groups > 0 && columns.count * kFew <= length;
    const Rotation<T> rotate{diagonal, rows.width, length, few ? kStep<T> : 1, {groups ? before : nullptr}};
    Scratch scratch(length * sizeof(T));
    T* buffer = static_cast<T*>(scratch.data);
    for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
        const T* row = rows.data + ptrdiff_t(i) * rows.stride;
        rotate(row, i + 1 < rows.count ? row + rows.stride : row, buffer);
        for (size_t c = 0; c < columns.count; ++c) {
            const size_t column = size_t(columns.index[c]);
            const T value = few ? finish_one(buffer + (column & ~(kStep<T> - 1)), column) : buffer[column];
            out[c] = value * columns.scale[c];
        }
    }
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
