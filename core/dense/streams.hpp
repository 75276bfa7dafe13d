// A transform of length m * 2^k first combines m streams, each 2^k values long, by a Hadamard matrix of order m, column by
// column, and then transforms each of them.
#pragma once

#include "dense/paley.hpp"
#include "dense/williamson.hpp"

namespace isrht::ISRHT_VARIANT {

// Some columns, fewer than a vector has lanes, which are combined elsewhere. The other lanes have zeros.
template <class T> struct FewColumns {
    static constexpr size_t N = size_t(Lanes<T>::count);
    T values[kLargestOrder * N];

    ISRHT_SMALL void copy_from(const T* at, size_t count, size_t stride, size_t order) {
        for (size_t k = 0; k < order; ++k)
            for (size_t i = 0; i < N; ++i) values[k * N + i] = i < count ? at[i + k * stride] : T(0);
    }
    ISRHT_SMALL void copy_to(T* at, size_t count, size_t stride, size_t order) const {
        for (size_t k = 0; k < order; ++k)
            for (size_t i = 0; i < count; ++i) at[i + k * stride] = values[k * N + i];
    }
};

// Combines all columns of 12 streams that lie `stride` values apart, times signs if there are any, for whole vectors of
// columns.
template <class T> ISRHT_NOINLINE void combine_twelve(T* data, size_t columns, size_t stride, const T* signs) {
    constexpr size_t N = size_t(Lanes<T>::count);
    using Columns = Twelve<T, log2_of(N)>;
    FewColumns<T> few;
    for (size_t j = 0; j < columns; j += N) {
        const size_t count = columns - j;
        const bool whole = count >= N;
        if (!whole) few.copy_from(data + j, count, stride, kTwelve);
        Columns::combine_columns(whole ? data + j : few.values, whole ? stride : N, signs ? signs + j : nullptr);
        if (!whole) few.copy_to(data + j, count, stride, kTwelve);
    }
}

// Does the same for other orders, a cache line of columns at a time.
template <class T>
ISRHT_NOINLINE void combine_columns(T* data, size_t columns, size_t stride, const SmallMatrix& plan) {
    constexpr size_t N = size_t(Lanes<T>::count), line = kCacheLine / sizeof(T);
    size_t j = 0;
    for (; j + line <= columns; j += line) combine_vectors<line / N>(data + j, stride, plan);
    if constexpr (line > N)
        for (; j + N <= columns; j += N) combine_vectors<1>(data + j, stride, plan);
    if (j == columns) return;
    FewColumns<T> few;
    few.copy_from(data + j, columns - j, stride, plan.order);
    combine_vectors<1>(few.values, N, plan);
    few.copy_to(data + j, columns - j, stride, plan.order);
}

template <class T>
void combine(T* data, size_t columns, size_t stride, const SmallMatrix& plan, const T* signs = nullptr) {
    if (plan.order == kTwelve) combine_twelve(data, columns, stride, signs);
    else combine_columns(data, columns, stride, plan);
}

}  // namespace isrht::ISRHT_VARIANT
