// A symmetric system of linear equations, solved by Cholesky's method in a fixed order.
#pragma once

#include <cmath>

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// So many columns are taken away from the others together.
constexpr size_t kCholeskyPanel = 4;

// Takes what a column explains away from the columns up to `end`. Columns are kept as rows of the upper triangle, too.
ISRHT_INLINE void finish_column(double* matrix, size_t size, size_t stride, size_t k, size_t end) {
    const double pivot = std::sqrt(matrix[k * stride + k]);
    matrix[k * stride + k] = pivot;
    for (size_t i = k + 1; i < size; ++i) matrix[k * stride + i] = matrix[i * stride + k] /= pivot;
    for (size_t i = k + 1; i < size; ++i) {
        double* row = matrix + i * stride;
        for (size_t j = k + 1; j < end && j <= i; ++j) row[j] -= row[k] * matrix[k * stride + j];
    }
}

// Replaces a matrix (size, stride), of which the lower triangle is given and which is positive definite, by its Cholesky
// factor and, in the upper triangle, the transpose of that. What columns explain is taken away from those to the right
// of them, one column after the other.
inline void cholesky(double* matrix, size_t size, size_t stride) {
    for (size_t first = 0; first < size; first += kCholeskyPanel) {
        const size_t end = first + kCholeskyPanel < size ? first + kCholeskyPanel : size;
        for (size_t k = first; k < end; ++k) finish_column(matrix, size, stride, k, end);
        const double* columns[kCholeskyPanel] = {};
        for (size_t k = first; k < end; ++k) columns[k - first] = matrix + k * stride;
        for (size_t i = end; i < size; ++i) {
            double* __restrict__ row = matrix + i * stride;
            const double *own = row + first, *a = columns[0], *b = columns[1], *c = columns[2], *d = columns[3];
            const double own_a = own[0], own_b = own[1], own_c = own[2], own_d = own[3];
            for (size_t j = end; j <= i; ++j)
                row[j] = (((row[j] - own_a * a[j]) - own_b * b[j]) - own_c * c[j]) - own_d * d[j];
        }
    }
}

// Replaces the right side of the equations by their solution.
inline void solve_by_cholesky(const double* factor, size_t size, size_t stride, double* __restrict__ side) {
    for (size_t k = 0; k < size; ++k) {
        const double* column = factor + k * stride;
        const double value = side[k] /= column[k];
        for (size_t i = k + 1; i < size; ++i) side[i] -= value * column[i];
    }
    for (size_t k = size; k-- > 0;) {
        const double* row = factor + k * stride;
        const double value = side[k] /= row[k];
        for (size_t i = 0; i < k; ++i) side[i] -= value * row[i];
    }
}

}  // namespace isrht::ISRHT_VARIANT
