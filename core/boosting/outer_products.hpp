// Gram matrices, to which rows are added one after another.
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// So many rows are gathered before they are added to a Gram matrix; so many of its rows share each load.
constexpr size_t kGathered = 64, kGramRows = 4;

// The width of a row of a Gram matrix in memory, and of rows that are added to it, which end with zeros.
ISRHT_INLINE size_t gram_stride(size_t width) { return (width + 7) / 8 * 8; }

// Some rows (count, gram_stride(width)), and a factor for each of them.
struct GatheredRows {
    const double* rows;
    const double* factors;
    size_t count, width;
};

// Adds the rows to `Rows` rows of the matrix from row j on, and a vector of columns from column k on.
template <size_t Rows>
ISRHT_INLINE void add_tile_of_products(const GatheredRows& given, size_t j, size_t k, double* gram) {
    const size_t stride = gram_stride(given.width);
    Vector<double> sum[Rows];
    for (size_t r = 0; r < Rows; ++r) sum[r] = load(gram + (j + r) * stride + k);
    for (size_t i = 0; i < given.count; ++i) {
        const double* row = given.rows + i * stride;
        const Vector<double> right = load(row + k);
        for (size_t r = 0; r < Rows; ++r) sum[r] += (given.factors[i] * row[j + r]) * right;
    }
    for (size_t r = 0; r < Rows; ++r) store(gram + (j + r) * stride + k, sum[r]);
}

// Adds the products of each row with itself, times its factor, to a matrix (width, gram_stride(width)). Only the lower
// triangle is complete.
inline void add_outer_products(const GatheredRows& given, double* gram) {
    for (size_t j = 0; j < given.width; j += kGramRows) {
        const size_t last = j + kGramRows < given.width ? j + kGramRows : given.width;
        for (size_t k = 0; k < last; k += size_t(Lanes<double>::count)) {
            if (last - j == kGramRows) add_tile_of_products<kGramRows>(given, j, k, gram);
            else
                for (size_t row = j; row < last; ++row) add_tile_of_products<1>(given, row, k, gram);
        }
    }
}

}  // namespace isrht::ISRHT_VARIANT
