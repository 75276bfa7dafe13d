// The kernel that sums the moments of features over dense rows: x_k first, x_k second and x_k^2 second.
//
// The sums of a few features in a few problems stay in registers while some rows pass by, so the rows are read once for
// four problems. Vectors hold neighbouring features; each sum adds one row after another.
#pragma once

#include "infra/vector.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// So many rows pass by before sums go back to memory, and so many problems share each load of a row.
constexpr size_t kMomentRows = 16, kMomentProblems = 4;

// Adds some rows to the moments of one vector of features, in problems p to p + Problems - 1. `sums` are (3, all
// problems, lanes).
template <size_t Problems, class T>
ISRHT_INLINE void add_moments_of_vector(const T* x, ptrdiff_t stride, size_t rows, const RowFactors& factors, size_t p,
                                        double* sums) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    const size_t all = factors.problems;
    Vector<double> gradient[Problems], slope[Problems], square[Problems];
    for (size_t q = 0; q < Problems; ++q) {
        gradient[q] = load(sums + (p + q) * lanes);
        slope[q] = load(sums + (all + p + q) * lanes);
        square[q] = load(sums + (2 * all + p + q) * lanes);
    }
    for (size_t i = 0; i < rows; ++i) {
        const Vector<double> value = load_as_double(x + ptrdiff_t(i) * stride), squared = value * value;
        const double *first = factors.first + i * all + p, *second = factors.second + i * all + p;
        for (size_t q = 0; q < Problems; ++q) {
            gradient[q] += value * first[q];
            slope[q] += value * second[q];
            square[q] += squared * second[q];
        }
    }
    for (size_t q = 0; q < Problems; ++q) {
        store(sums + (p + q) * lanes, gradient[q]);
        store(sums + (all + p + q) * lanes, slope[q]);
        store(sums + (2 * all + p + q) * lanes, square[q]);
    }
}

// Does the same for all problems.
template <class T>
ISRHT_INLINE void add_moments_of_problems(const T* x, ptrdiff_t stride, size_t rows, const RowFactors& factors,
                                          double* sums) {
    size_t p = 0;
    for (; p + kMomentProblems <= factors.problems; p += kMomentProblems)
        add_moments_of_vector<kMomentProblems>(x, stride, rows, factors, p, sums);
    for (; p + 2 <= factors.problems; p += 2) add_moments_of_vector<2>(x, stride, rows, factors, p, sums);
    if (p < factors.problems) add_moments_of_vector<1>(x, stride, rows, factors, p, sums);
}

// Returns the first of some features, copied side by side and followed by zeros: (rows, lanes).
template <class T>
ISRHT_INLINE void copy_last_features(const T* x, ptrdiff_t stride, size_t rows, size_t count, T* out) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    for (size_t i = 0; i < rows; ++i)
        for (size_t l = 0; l < lanes; ++l)
            out[i * lanes + l] = l < count ? x[ptrdiff_t(i) * stride + ptrdiff_t(l)] : T(0);
}

template <class T> void add_dense_moments(DenseRows<T> rows, RowFactors factors, double* totals) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    const size_t problems = factors.problems, vectors = (rows.width + lanes - 1) / lanes, each = 3 * problems * lanes;
    Scratch scratch((vectors * each + 1) * sizeof(double));
    double* const sums = static_cast<double*>(scratch.data);
    for (size_t k = 0; k < vectors * lanes; ++k)
        for (size_t i = 0; i < 3 * problems; ++i)
            sums[k / lanes * each + i * lanes + k % lanes] = k < rows.width ? totals[k * 3 * problems + i] : 0;
    for (size_t from = 0; from < rows.count; from += kMomentRows) {
        const size_t left = rows.count - from, some = left < kMomentRows ? left : kMomentRows;
        const RowFactors mine{factors.first + from * problems, factors.second + from * problems, problems};
        const T* x = rows.row(from);
        size_t v = 0;
        for (; (v + 1) * lanes <= rows.width; ++v)
            add_moments_of_problems(x + v * lanes, rows.stride, some, mine, sums + v * each);
        if (v < vectors) {
            T last[kMomentRows * lanes];
            copy_last_features(x + v * lanes, rows.stride, some, rows.width - v * lanes, last);
            add_moments_of_problems(last, ptrdiff_t(lanes), some, mine, sums + v * each);
        }
    }
    for (size_t k = 0; k < rows.width; ++k)
        for (size_t i = 0; i < 3 * problems; ++i)
            totals[k * 3 * problems + i] = sums[k / lanes * each + i * lanes + k % lanes];
}

}  // namespace isrht::ISRHT_VARIANT
