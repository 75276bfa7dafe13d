// Hadamard matrices whose order is no power of two, by Paley's constructions, along the first axis of an array.
//
// The matrix is made of the squares of a finite field of q elements: that an output adds or
// subtracts an input depends only on whether the difference of their numbers is a square. So one list of squares serves
// all outputs, each of which reads its inputs at the same distances from its own place. To subtract the other inputs is
// to subtract all of them, and to add those at squares twice: half as many additions, and twice a number is exact.
//
// All columns of the streams are independent, so as many are taken at once as a vector has lanes.
#pragma once

#include "dense/butterfly.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// The values of one column, one for each element of the field, laid out twice along each cycle of the field, so that
// no distance leads past the end. Of fields with several cycles the cycles are there twice, too.
template <class V> struct Circle {
    V at[kLongestCircle];

    ISRHT_INLINE void set(const SmallMatrix& plan, size_t cycle, size_t place, V value) {
        V* const first = at + cycle * 2 * plan.cycle + place;
        first[0] = first[plan.cycle] = value;
        if (plan.cycle == plan.field) return;
        V* const second = first + 2 * plan.field;
        second[0] = second[plan.cycle] = value;
    }
};

// Computes `Count` neighbouring outputs: a constant, and twice the sum of what is in the place of the output and of the
// inputs at all distances from its own.
template <int Count, class V>
ISRHT_INLINE void sum_neighbours(const V* own, const SmallMatrix& plan, V constant, V* outputs) {
    V sum[Count];
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) sum[j] = outputs[j];
    for (size_t k = 0; k < plan.distances; ++k) {
        const V* const from = own + plan.added[k];
#pragma GCC unroll 8
        for (int j = 0; j < Count; ++j) sum[j] += from[j];
    }
#pragma GCC unroll 8
    for (int j = 0; j < Count; ++j) outputs[j] = constant + (sum[j] + sum[j]);
}

// Computes one output for each element of the field.
template <class V>
ISRHT_NOINLINE void sum_all(const Circle<V>& circle, const SmallMatrix& plan, V constant, V* outputs) {
    for (size_t from = 0; from < plan.field; from += plan.cycle) {
        const V* const own = circle.at + 2 * from;
        size_t j = 0;
        for (; j + 8 <= plan.cycle; j += 8) sum_neighbours<8>(own + j, plan, constant, outputs + from + j);
        if (j + 5 <= plan.cycle) sum_neighbours<5>(own + j, plan, constant, outputs + from + j), j += 5;
        if (j + 3 <= plan.cycle) sum_neighbours<3>(own + j, plan, constant, outputs + from + j), j += 3;
        for (; j < plan.cycle; ++j) sum_neighbours<1>(own + j, plan, constant, outputs + from + j);
    }
}

// Combines one vector of columns by the matrix of order q + 1: a border of ones, and within it
// chi(a + b) - [a + b = 0], where chi is 1 for squares and -1 for others. The field is one cycle.
template <class T>
ISRHT_SMALL void combine_one(const T* at, size_t stride, const SmallMatrix& plan, Vector<T>* outputs) {
    Circle<Vector<T>> mirrored;
    const Vector<T> border = load(at);
    Vector<T> total{};
    for (size_t j = 0; j < plan.field; ++j) {
        const Vector<T> x = load(at + (1 + j) * stride);
        total += x;
        mirrored.set(plan, 0, j ? plan.field - j : 0, x);
        outputs[1 + j] = Vector<T>{};
    }
    outputs[0] = border + total;
    sum_all(mirrored, plan, border - total, outputs + 1);
}

// Combines one vector of columns by the matrix of order 2 (q + 1): blocks C + I, C - I, C - I, -C - I of a conference
// matrix C, which has a border of ones, zeros on its diagonal, and chi(a - b) elsewhere. The first row and column of the
// second blocks are negated, so that the first row of all is ones.
template <class T>
ISRHT_SMALL void combine_two(const T* at, size_t stride, const SmallMatrix& plan, Vector<T>* outputs) {
    Circle<Vector<T>> sums, differences;
    const T* const second = at + (plan.field + 1) * stride;
    Vector<T>* const others = outputs + plan.field + 1;
    Vector<T> border_sum = load(at), border_difference = load(second), total{}, other_total{};
    butterfly(border_sum, border_difference);
    for (size_t from = 0; from < plan.field; from += plan.cycle) {
        for (size_t j = 0; j < plan.cycle; ++j) {
            Vector<T> x = load(at + (1 + from + j) * stride), y = load(second + (1 + from + j) * stride);
            outputs[1 + from + j] = x;
            others[1 + from + j] = -y;
            butterfly(x, y);
            total += x;
            other_total += y;
            sums.set(plan, from / plan.cycle, j, x);
            differences.set(plan, from / plan.cycle, j, y);
        }
    }
    outputs[0] = border_sum + total;
    others[0] = border_difference - other_total;
    sum_all(sums, plan, border_difference - total, outputs + 1);
    sum_all(differences, plan, border_sum - other_total, others + 1);
}

// Combines `Count` vectors of columns by the matrix of a plan. Their outputs are written together, a cache line of them.
template <size_t Count, class T> ISRHT_INLINE void combine_vectors(T* at, size_t stride, const SmallMatrix& plan) {
    constexpr size_t N = size_t(Lanes<T>::count);
    Vector<T> outputs[Count][kLargestOrder];
    for (size_t k = 0; k < Count; ++k) {
        if (plan.order == plan.field + 1) combine_one(at + k * N, stride, plan, outputs[k]);
        else combine_two(at + k * N, stride, plan, outputs[k]);
    }
    for (size_t i = 0; i < plan.order; ++i)
        for (size_t k = 0; k < Count; ++k) store(at + i * stride + k * N, outputs[k][i]);
}

}  // namespace isrht::ISRHT_VARIANT
