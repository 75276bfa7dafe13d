// Hadamard matrices whose order is no power of two, by Paley's constructions, along the first axis of an array.
//
// A transform of length m * 2^k first combines m streams, each 2^k values long, by a Hadamard matrix of order m, and then
// transforms each of them. The matrix is made of the squares of a finite field of q elements: that an output adds or
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

    ISRHT_INLINE void set(const Paley& plan, size_t cycle, size_t place, V value) {
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
ISRHT_INLINE void sum_neighbours(const V* own, const Paley& plan, V constant, V* outputs) {
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
template <class V> ISRHT_NOINLINE void sum_all(const Circle<V>& circle, const Paley& plan, V constant, V* outputs) {
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
// chi(a + b) - [a + b = 0], where chi is 1 for squares and -1 for others.
template <class T> struct PaleyOne {
    Circle<Vector<T>> mirrored;
    Vector<T> outputs[kLargestOrder];

    ISRHT_NOINLINE void combine(const T* at, size_t stride, const Paley& plan) {
        const Vector<T> border = load(at);
        Vector<T> total{};
        for (size_t from = 0; from < plan.field; from += plan.cycle) {
            const size_t cycle = from / plan.cycle, cycles = plan.field / plan.cycle, other = (cycles - cycle) % cycles;
            for (size_t j = 0; j < plan.cycle; ++j) {
                const Vector<T> x = load(at + (1 + from + j) * stride);
                total += x;
                mirrored.set(plan, other, j ? plan.cycle - j : 0, x);
                outputs[1 + from + j] = Vector<T>{};
            }
        }
        outputs[0] = border + total;
        sum_all(mirrored, plan, border - total, outputs + 1);
    }
};

// Combines one vector of columns by the matrix of order 2 (q + 1): blocks C + I, C - I, C - I, -C - I of a conference
// matrix C, which has a border of ones, zeros on its diagonal, and chi(a - b) elsewhere. The first row and column of the
// second blocks are negated, so that the first row of all is ones.
template <class T> struct PaleyTwo {
    Circle<Vector<T>> sums, differences;
    Vector<T> outputs[kLargestOrder];

    ISRHT_NOINLINE void combine(const T* at, size_t stride, const Paley& plan) {
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
};

// The same for the field of five elements, that of order 12, with every distance known to the compiler.
template <class T> struct PaleyTwelve {
    Vector<T> first[5], second[5], sums[5], differences[5];
    Vector<T> border_sum, border_difference, total, other_total;

    static bool fits(const Paley& plan) {
        return plan.order == 12 && plan.distances == 2 && plan.added[0] == 1 && plan.added[1] == 4;
    }
    ISRHT_INLINE void read(const T* at, size_t stride) {
        border_sum = load(at);
        border_difference = load(at + 6 * stride);
        butterfly(border_sum, border_difference);
        total = other_total = Vector<T>{};
#pragma GCC unroll 5
        for (size_t j = 0; j < 5; ++j) {
            first[j] = sums[j] = load(at + (1 + j) * stride);
            second[j] = differences[j] = load(at + (7 + j) * stride);
            butterfly(sums[j], differences[j]);
            total += sums[j];
            other_total += differences[j];
        }
    }
    template <size_t Stream> ISRHT_INLINE Vector<T> output() const {
        constexpr size_t own = (Stream + 5) % 6;
        if constexpr (Stream == 0) return border_sum + total;
        else if constexpr (Stream == 6) return border_difference - other_total;
        else if constexpr (Stream < 6) return at_distances<own>(sums, first[own], border_difference - total);
        else return at_distances<own>(differences, -second[own], border_sum - other_total);
    }

  private:
    template <size_t Own>
    static ISRHT_INLINE Vector<T> at_distances(const Vector<T> (&x)[5], Vector<T> begin, Vector<T> constant) {
        const Vector<T> sum = begin + x[(Own + 1) % 5] + x[(Own + 4) % 5];
        return constant + (sum + sum);
    }
};

// Writes the outputs of neighbouring columns, the last stream first: of streams at large power-of-two distances, whose
// lines share the eight places of one set of the first-level cache, the last ones read are still there.
template <size_t Stream, class T, size_t Count>
ISRHT_INLINE void write_twelve(T* at, size_t stride, const PaleyTwelve<T> (&columns)[Count]) {
#pragma GCC unroll 4
    for (size_t k = 0; k < Count; ++k)
        store(at + Stream * stride + k * size_t(Lanes<T>::count), columns[k].template output<Stream>());
    if constexpr (Stream > 0) write_twelve<Stream - 1>(at, stride, columns);
}

// Combines `Count` vectors of columns by the matrix of order 12.
template <size_t Count, class T> ISRHT_INLINE void combine_twelve(T* at, size_t stride) {
    PaleyTwelve<T> columns[Count];
#pragma GCC unroll 4
    for (size_t k = 0; k < Count; ++k) columns[k].read(at + k * size_t(Lanes<T>::count), stride);
    write_twelve<11>(at, stride, columns);
}

template <class T> struct ByTwelve {
    static constexpr size_t kAtOnce = kCacheLine / kVectorBytes;
    ISRHT_INLINE void line(T* at, size_t stride) const { combine_twelve<kAtOnce>(at, stride); }
    ISRHT_INLINE void vector(T* at, size_t stride) const { combine_twelve<1>(at, stride); }
};

template <class T, class Way> struct ByDistances {
    Paley plan;

    ISRHT_INLINE void line(T* at, size_t stride) const {
        constexpr size_t N = size_t(Lanes<T>::count), count = kCacheLine / kVectorBytes;
        Way ways[count];
        for (size_t k = 0; k < count; ++k) ways[k].combine(at + k * N, stride, plan);
        for (size_t i = 0; i < plan.order; ++i)
            for (size_t k = 0; k < count; ++k) store(at + i * stride + k * N, ways[k].outputs[i]);
    }
    ISRHT_INLINE void vector(T* at, size_t stride) const {
        Way way;
        way.combine(at, stride, plan);
        for (size_t i = 0; i < plan.order; ++i) store(at + i * stride, way.outputs[i]);
    }
};

// Combines all columns of m streams that lie `stride` values apart, a cache line of columns at a time.
template <class T, class By>
ISRHT_NOINLINE void combine_columns(T* data, size_t columns, size_t stride, size_t order, By by) {
    constexpr size_t N = size_t(Lanes<T>::count), line = kCacheLine / sizeof(T);
    size_t j = 0;
    for (; j + line <= columns; j += line) by.line(data + j, stride);
    for (; j + N <= columns; j += N) by.vector(data + j, stride);
    if (j == columns) return;
    T few[kLargestOrder * N] = {};
    for (size_t k = 0; k < order; ++k)
        for (size_t i = 0; i < columns - j; ++i) few[k * N + i] = data[j + i + k * stride];
    by.vector(few, N);
    for (size_t k = 0; k < order; ++k)
        for (size_t i = 0; i < columns - j; ++i) data[j + i + k * stride] = few[k * N + i];
}

template <class T> void combine(T* data, size_t columns, size_t stride, Paley plan) {
    if constexpr (!kLean<T>)
        if (PaleyTwelve<T>::fits(plan)) return combine_columns(data, columns, stride, plan.order, ByTwelve<T>{});
    if (plan.order == plan.field + 1)
        combine_columns(data, columns, stride, plan.order, ByDistances<T, PaleyOne<T>>{plan});
    else combine_columns(data, columns, stride, plan.order, ByDistances<T, PaleyTwo<T>>{plan});
}

}  // namespace isrht::ISRHT_VARIANT
