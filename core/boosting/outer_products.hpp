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

// Adds the rows to `Rows` rows of the matrix from row j on, and to `Vectors` vectors of columns from column k on. `left` are
// the values of the rows from column j on, times their factors.
template <size_t Rows, size_t Vectors>
ISRHT_INLINE void add_tile_of_products(const GatheredRows& given, const double* left, size_t j, size_t k,
                                       double* gram) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    const size_t stride = gram_stride(given.width);
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

// Adds the rows to `Rows` rows of the matrix from row j on.
template <size_t Rows> ISRHT_INLINE void add_rows_of_products(const GatheredRows& given, size_t j, double* gram) {
    constexpr size_t lanes = size_t(Lanes<double>::count);
    const size_t stride = gram_stride(given.width);
    double left[kGathered * Rows];
    for (size_t i = 0; i < given.count; ++i)
        for (size_t r = 0; r < Rows; ++r) left[i * Rows + r] = given.factors[i] * given.rows[i * stride + j + r];
    size_t k = 0;
    for (; k + kGramVectors * lanes <= stride && k < j + Rows; k += kGramVectors * lanes)
        add_tile_of_products<Rows, kGramVectors>(given, left, j, k, gram);
    for (; k < j + Rows; k += lanes) add_tile_of_products<Rows, 1>(given, left, j, k, gram);
}

// Adds the products of each row with itself, times its factor, to a matrix (width, gram_stride(width)). Only the lower
// triangle is complete.
inline void add_outer_products(const GatheredRows& given, double* gram) {
    size_t j = 0;
    for (; j + kGramRows <= given.width; j += kGramRows) add_rows_of_products<kGramRows>(given, j, gram);
    for (; j < given.width; ++j) add_rows_of_products<1>(given, j, gram);
}

}  // namespace isrht::ISRHT_VARIANT
