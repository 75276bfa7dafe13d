// The kernels that add up dense rows, or the squares of rotated dense rows, in double.
//
// Rows are taken in batches, so that the totals are read and written once per batch. Yet every total adds the rows one
// after another, so the size of a batch changes no bit.
#pragma once

#include "dense/rotation.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// A batch is at most so many rows; those that are rotated are so few that they stay in the second-level cache.
constexpr size_t kBatch = 8, kBatchBytes = 262144;

// Adds the rows of a batch, or their squares, to the totals.
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

template <class T> void add_dense_rows(DenseRows<T> rows, RowChoice chosen, double* totals) {
    const T* batch[kBatch];
    for (size_t done = 0; done < chosen.count;) {
        size_t count = 0;
        for (; count < kBatch && done < chosen.count; ++count, ++done)
            batch[count] = rows.row(size_t(chosen.index[done]));
        accumulate<T, false>(batch, count, rows.width, totals);
    }
}

// Adds the squares of rows that were rotated in two (rotation.hpp) to the totals. The stage that is left, of stride
// `head`, is done on the way.
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
    // A line more than a power of two: buffers that far apart share no places of a cache.
    const size_t apart = rotate.size() + kCacheLine / sizeof(T);
    const size_t fitting = kBatchBytes / (apart * sizeof(T)), at_most = fitting > kBatch ? kBatch : fitting;
    const size_t slots = at_most < 1 ? 1 : at_most;
    Scratch scratch(slots * apart * sizeof(T));
    T* buffers = static_cast<T*>(scratch.data);
    const T* batch[kBatch];
    for (size_t done = 0; done < chosen.count;) {
        size_t count = 0;
        for (; count < slots && done < chosen.count; ++count, ++done) {
            const size_t next = done + 1 < chosen.count ? done + 1 : done;
            batch[count] = buffers + count * apart;
            rotate(rows.row(size_t(chosen.index[done])), rows.row(size_t(chosen.index[next])), buffers + count * apart);
        }
        for (size_t from = 0; from < length; from += tail ? 2 * head : head) {
            if (tail) accumulate_in_two(batch, count, head, tail, totals + from);
            else accumulate<T, true>(batch, count, head, totals + from);
        }
    }
}

}  // namespace isrht::ISRHT_VARIANT
