// The Gram matrix of sparse rows that have few features, in double.
//
// Each pair of entries of a row is one addition to a place that no processor can foresee, so vectors would not help and
// the loop is compiled once for all of them. A pair is added once, by the order in which its entries come: as entries
// may be unsorted, and may repeat a feature, that may be below or above the diagonal or on it.
#pragma once

#include "records.hpp"

namespace isrht {

// Adds the products of each two entries of a row, both times the factor of the row, to pairs (width, width), at the
// feature of the later one and that of the earlier one; and the squares of the entries to squares (width). The Gram
// matrix of the rows times their factors is pairs + transposed pairs + diagonal of squares.
template <class T, class Index>
void add_gram(SparseRows<T, Index> rows, const double* factors, double* pairs, double* squares) {
    for (size_t row = 0; row < rows.count; ++row)
        for (size_t at = rows.begin(row); at < rows.end(row); ++at) {
            const size_t feature = size_t(rows.indices[at]);
            const double value = factors[row] * double(rows.data[at]);
            double* const to = pairs + feature * rows.width;
            for (size_t before = rows.begin(row); before < at; ++before)
                to[rows.indices[before]] += value * (factors[row] * double(rows.data[before]));
            squares[feature] += value * value;
        }
}

}  // namespace isrht
