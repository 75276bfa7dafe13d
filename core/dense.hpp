// Kernels over dense rows: transforms in place, and rows that are rotated in a buffer which stays in the cache, so that only
// what is asked of them leaves.
#pragma once

#include "finish.hpp"

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

template <class T, bool InTwo>
void project_rows(DenseRows<T> rows, const RowRotation<T>& rotate, Columns<T> columns, T* out) {
    const Finish<T, InTwo> finish(columns, rotate.head_length, rotate.tail_length, rotate.few, rows.count);
    Scratch scratch(rotate.size() * sizeof(T));
    T* buffer = static_cast<T*>(scratch.data);
    for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
        const T* row = rows.data + ptrdiff_t(i) * rows.stride;
        rotate(row, i + 1 < rows.count ? row + rows.stride : row, buffer);
        finish(buffer, out);
    }
}

template <class T>
void project(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if (rows.count == 0) return;
    const RowRotation<T> rotate(rows.width, length, diagonal, &columns, rows.count);
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
    const RowRotation<T> rotate(rows.width, length, diagonal, nullptr, chosen.count);
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
        for (size_t from = 0; from < length; from += tail ? 2 * head : head) {
            if (tail) accumulate_in_two(batch, count, head, tail, totals + from);
            else accumulate<T, true>(batch, count, head, totals + from);
        }
    }
}

}  // namespace isrht::ISRHT_VARIANT
