// How few outputs of a rotation are finished, one by one.
//
// If few columns are wanted, the transform stops at the stride of a vector, before the stages that work within a vector
// of N lanes. What remains is, for each output, a signed sum of the N lanes of one vector, by halves; the bits of its
// column give the signs.
//
// A single output is finished by bringing the lane that leads to it to the front, stage by stage. N outputs are
// finished together: at each stage two vectors merge into one, because the halves of both that are to be added go side
// by side. Each output then has half as many lanes and each vector twice as many outputs, until one vector holds one
// lane of each output. The sums are the same in both ways, and so are the bits.
#pragma once

#include "dense/rotation.hpp"

namespace isrht::ISRHT_VARIANT {

// Finishes one output, from the stage of this stride on. Signs are looked up rather than branched on, because columns
// are random.
template <class T, int Stride> ISRHT_INLINE T finish_lane(Vector<T> v, size_t column) {
    if constexpr (Stride == 0) return v[0];
    else {
        constexpr auto lanes = std::make_index_sequence<size_t(Lanes<T>::count)>{};
        static constexpr T sign[2] = {1, -1};
        const Vector<T> factor = broadcast(sign[(column / Stride) & 1]);
        return finish_lane<T, Stride / 2>(signed_add<T>(swap_lanes<T, Stride>(v, lanes), factor, v), column);
    }
}

template <class T> ISRHT_INLINE T finish_one(const T* data, size_t column) {
    constexpr size_t N = size_t(Lanes<T>::count);
    return finish_lane<T, int(N / 2)>(load(data + (column & ~(N - 1))), column);
}

// Returns the first halves, or the second ones, of all runs of 2 * Stride lanes of a and b, those of a first. Where a
// run fits into 16 bytes, the lanes stay within their 16 bytes, which takes one instruction.
template <class T, int Stride, int Second, size_t... Lane>
ISRHT_INLINE Vector<T> halves_of_runs(Vector<T> a, Vector<T> b, std::index_sequence<Lane...>) {
    constexpr int N = Lanes<T>::count, kSpan = 2 * Stride * int(sizeof(T)) > 16 ? N : int(16 / sizeof(T));
    constexpr auto source = [](int lane) {
        const int within = lane % kSpan, from_b = within / (kSpan / 2), place = within % (kSpan / 2);
        return lane - within + place / Stride * 2 * Stride + place % Stride + Second * Stride + from_b * N;
    };
#ifdef ISRHT_HAS_SHUFFLEVECTOR
    return __builtin_shufflevector(a, b, source(int(Lane))...);
#else
    return __builtin_shuffle(a, b, typename Lanes<T>::Bits{typename BitsOf<T>::Type(source(int(Lane)))...});
#endif
}

// Merges N vectors into one: leaf(slot) is the vector of a slot, and join(i, stride, first, second) does the i-th merge
// of halves.
template <class T, int Stride, class Leaf, class Join>
ISRHT_INLINE Vector<T> merge(int slot, int& merges, const Leaf& leaf, const Join& join) {
    constexpr int N = Lanes<T>::count;
    if constexpr (Stride == N) return leaf(slot);
    else {
        constexpr auto lanes = std::make_index_sequence<size_t(N)>{};
        const Vector<T> a = merge<T, 2 * Stride>(slot, merges, leaf, join);
        const Vector<T> b = merge<T, 2 * Stride>(slot + N / (2 * Stride), merges, leaf, join);
        const Vector<T> first = halves_of_runs<T, Stride, 0>(a, b, lanes);
        const Vector<T> second = halves_of_runs<T, Stride, 1>(a, b, lanes);
        return join(merges++, Stride, first, second);
    }
}

// Writes the wanted columns of a row that was rotated in a buffer. The buffer has the `head` values of the whole row;
// or, if the row was rotated in two, those of its head and then those of its tail, and a column is the sum or the
// difference of one value of each. If the transform has stopped at the stride of a vector, columns are finished in
// batches of N. What depends on the columns alone, that is where their vectors lie and the signs of each merge, is
// worked out once for all rows.
template <class T, bool InTwo> struct Finish {
    static constexpr int N = Lanes<T>::count;
    struct Batch {
        Vector<T> signs[N - 1], last_sign, scale;
        uint32_t head[N], tail[N];  // Where the vector of each slot begins.
    };

    Columns<T> columns;
    size_t head, tail;
    bool stopped;
    size_t batches;
    Scratch table;

    Finish(Columns<T> columns, size_t head, size_t tail, bool stopped, size_t rows)
        : columns(columns), head(head), tail(tail), stopped(stopped),
          batches(stopped && rows >= kWorthATable ? columns.count / size_t(N) : 0),
          table((batches + 1) * sizeof(Batch)) {
        for (size_t i = 0; i < batches; ++i) prepare(batch(i), i * size_t(N));
    }

    void operator()(const T* data, T* out) const {
        for (size_t i = 0; i < batches; ++i) store(out + i * size_t(N), values(batch(i), data));
        for (size_t c = batches * size_t(N); c < columns.count; ++c)
            out[c] = value(size_t(columns.index[c]), data) * columns.scale[c];
    }

  private:
    Batch& batch(size_t i) const { return static_cast<Batch*>(table.data)[i]; }

    size_t in_head(size_t column) const { return column & (head - 1); }
    size_t in_tail(size_t column) const { return head + (column & (tail - 1)); }

    ISRHT_INLINE Vector<T> values(const Batch& b, const T* data) const {
        const Vector<T> first = merged(b, b.head, data);
        return (InTwo ? signed_add<T>(merged(b, b.tail, data), b.last_sign, first) : first) * b.scale;
    }

    ISRHT_INLINE Vector<T> merged(const Batch& b, const uint32_t* vectors, const T* data) const {
        int merges = 0;
        const auto leaf = [&](int slot) { return load(data + vectors[slot]); };
        const auto add = [&](int i, int, Vector<T> first, Vector<T> second) {
            return signed_add<T>(second, b.signs[i], first);
        };
        return merge<T, 1>(0, merges, leaf, add);
    }

    T value(size_t column, const T* data) const {
        const T first = one(in_head(column), data);
        if constexpr (!InTwo) return first;
        static constexpr T sign[2] = {1, -1};
        return first + sign[(column & head) != 0] * one(in_tail(column), data);
    }

    T one(size_t at, const T* data) const { return stopped ? finish_one(data, at) : data[at]; }

    // Works out what a batch needs. To find the slot of each lane of the result, vectors that hold the number of their
    // slot are merged without adding.
    void prepare(Batch& b, size_t from) {
        int merges = 0;
        const auto leaf = [](int slot) { return broadcast(T(slot)); };
        const auto keep_first = [](int, int, Vector<T> first, Vector<T>) { return first; };
        const Vector<T> slots = merge<T, 1>(0, merges, leaf, keep_first);
        size_t column[N];
        for (int lane = 0; lane < N; ++lane) {
            const int slot = int(slots[lane]);
            column[slot] = size_t(columns.index[from + size_t(lane)]);
            b.head[slot] = uint32_t(in_head(column[slot]) / size_t(N) * size_t(N));
            b.tail[slot] = InTwo ? uint32_t(in_tail(column[slot]) / size_t(N) * size_t(N)) : 0;
            b.last_sign[lane] = InTwo && column[slot] & head ? T(-1) : T(1);
            b.scale[lane] = columns.scale[from + size_t(lane)];
        }
        merges = 0;
        merge<T, 1>(0, merges, leaf, [&](int i, int stride, Vector<T> first, Vector<T>) {
            for (int lane = 0; lane < N; ++lane)
                b.signs[i][lane] = column[int(first[lane])] & size_t(stride) ? T(-1) : T(1);
            return first;
        });
    }
};

}  // namespace isrht::ISRHT_VARIANT
