// The kernel that multiplies the Gram matrix of some rows with a vector, in double, without forming the matrix.
//
// The Hessian of a linear SVM is such a matrix and the identity. Conjugate gradients need nothing of it but this
// product: each row is read once, multiplied with the vector, and added to the result while it is in the cache.
#pragma once

#include "linear/entries.hpp"

namespace isrht::ISRHT_VARIANT {

// The partial sums of a product, to which the entries of a row are added in turn.
constexpr size_t kGramPartials = 4;

template <class Entries> ISRHT_INLINE double product_with(Entries row, const double* along) {
    double sum[kGramPartials] = {};
    size_t at = 0;
    for (; at + kGramPartials <= row.count; at += kGramPartials)
        for (size_t s = 0; s < kGramPartials; ++s) sum[s] += double(row.value(at + s)) * along[row.feature(at + s)];
    for (size_t s = 0; at + s < row.count; ++s) sum[s] += double(row.value(at + s)) * along[row.feature(at + s)];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

template <class Rows> void add_gram_product(Rows rows, WeightedRows chosen, const double* along, double* out) {
    const size_t width = rows.width;
    for (size_t at = 0; at < chosen.count; ++at) {
        const auto row = entries_of(rows, size_t(chosen.index[at]));
        double product = product_with(row, along);
        if (chosen.intercept) product += along[width];
        product *= chosen.weights[at];
        for (size_t entry = 0; entry < row.count; ++entry)
            out[row.feature(entry)] += double(row.value(entry)) * product;
        if (chosen.intercept) out[width] += product;
    }
}

}  // namespace isrht::ISRHT_VARIANT
