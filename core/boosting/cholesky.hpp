// A symmetric system of linear equations, solved by Cholesky's method in a fixed order.
#pragma once

#include <cmath>

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// Replaces the lower triangle of a matrix (size, stride), which is positive definite, by its Cholesky factor. After each
// column, what it explains is taken away from the columns to the right of it. `column` has room for one of them.
inline void cholesky(double* matrix, size_t size, size_t stride, double* column) {
    for (size_t k = 0; k < size; ++k) {
        const double pivot = std::sqrt(matrix[k * stride + k]);
        matrix[k * stride + k] = pivot;
        for (size_t i = k + 1; i < size; ++i) column[i] = matrix[i * stride + k] /= pivot;
        for (size_t i = k + 1; i < size; ++i) {
            double* __restrict__ row = matrix + i * stride;
            const double own = column[i];
            for (size_t j = k + 1; j <= i; ++j) row[j] -= own * column[j];
        }
    }
}

// Replaces the right side of the equations by their solution.
inline void solve_by_cholesky(const double* factor, size_t size, size_t stride, double* side) {
    for (size_t k = 0; k < size; ++k) {
        side[k] /= factor[k * stride + k];
        for (size_t i = k + 1; i < size; ++i) side[i] -= side[k] * factor[i * stride + k];
    }
    for (size_t k = size; k-- > 0;) {
        side[k] /= factor[k * stride + k];
        for (size_t i = 0; i < k; ++i) side[i] -= side[k] * factor[k * stride + i];
    }
}

}  // namespace isrht::ISRHT_VARIANT
