// Gram matrices, to which rows are added one after another.
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// So many rows are gathered before they are added to a Gram matrix; so many of its rows, and vectors of columns, are
// held in registers.
constexpr size_t kGathered = 64, kGramRows = 4, kGramVectors = Lanes<double>::count == 8 ? 4 : 2;

// The width of a row of a Gram matrix in memory, and of rows that are added to it, which end with zeros.
ISRHT_INLINE size_t gram_stride(size_t width) { return (width + 7) / 8 * 8; }

// Some rows (count, gram_stride(width)), and a factor for each of them.
struct GatheredRows {
    const double* rows;
    const double* factors;
    size_t count, width;
};

// Does the work on vectors from `first` up to `end`, `Most` of them at a time and the last ones together.
template <size_t Most, class Work> ISRHT_INLINE void in_groups(size_t first, size_t end, const Work& work) {
    for (; first + Most <= end; first += Most) work.template of<Most>(first);
    if constexpr (Most > 1) in_groups<Most - 1>(first, end, work);
}

// Adds the rows to `Rows` rows of the matrix from row j on. `left` are the values of the rows from column j on, times
// their factors.
template <size_t Rows> struct RowsOfProducts {
    const GatheredRows& given;
    const double* left;
    size_t j;
    double* gram;

    // Adds to `Vectors` vectors of columns.
    template <size_t Vectors> ISRHT_INLINE void of(size_t first) const {
        constexpr size_t lanes = size_t(Lanes<double>::count);
        const size_t stride = gram_stride(given.width), k = first * lanes;
        Vector<double> sum[Rows][Vectors];
        for (size_t r = 0; r < Rows; ++r)
            for (size_t v = 0; v < Vectors; ++v) sum[r][v] = load(gram + (j + r) * stride + k + v * lanes);
        for (size_t i = 0; i < given.count; ++i)
            for (size_t v = 0; v < Vectors; ++v) {
                const Vector<double> right = load(given.rows + i * stride + k + v * lanes);
                for (size_t r = 0; r < Rows; ++r) sum[r][v] += left[i * Rows + r] * right;
            }
        for (size_t r = 0; r < Rows; ++r)
            for (size_t v = 0; v < Vectors; ++v) store(gram + (j + r) * stride + k + v * lanes, sum[r][v]);
    }
};

// Adds the rows to `Rows` rows of the matrix from row j on, up to the diagonal.
template <size_t Rows> ISRHT_INLINE void add_rows_of_products(const GatheredRows& given, size_t j, double* gram) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    const size_t stride = gram_stride(given.width);
    double left[kGathered * Rows];
    for (size_t i = 0; i < given.count; ++i)
        for (size_t r = 0; r < Rows; ++r) left[i * Rows + r] = given.factors[i] * given.rows[i * stride + j + r];
    in_groups<kGramVectors>(0, (j + Rows + lanes - 1) / lanes, RowsOfProducts<Rows>{given, left, j, gram});
}

// Adds the products of each row with itself, times its factor, to a matrix (width, gram_stride(width)). Only the lower
// triangle is complete.
inline void add_outer_products(const GatheredRows& given, double* gram) {
    size_t j = 0;
    for (; j + kGramRows <= given.width; j += kGramRows) add_rows_of_products<kGramRows>(given, j, gram);
    for (; j < given.width; ++j) add_rows_of_products<1>(given, j, gram);
}

}  // namespace isrht::ISRHT_VARIANT
