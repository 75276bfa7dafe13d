// What kernels are given: views of arrays that belong to the caller, which a kernel neither owns nor checks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "infra/inline.hpp"

namespace isrht {

// The rows of a dense matrix. The values of a row are consecutive; the next row begins `stride` values further on.
template <class T> struct DenseRows {
    const T* data;
    size_t count, width;
    ptrdiff_t stride;

    ISRHT_INLINE const T* row(size_t number) const { return data + ptrdiff_t(number) * stride; }
};

// The rows of a CSR matrix. The entries of a row may be unsorted, and those that repeat a feature are added.
template <class T, class Index> struct SparseRows {
    const T* data;
    const Index* indices;
    const Index* indptr;
    size_t count, width;

    ISRHT_INLINE size_t begin(size_t row) const { return size_t(indptr[row]); }
    ISRHT_INLINE size_t end(size_t row) const { return size_t(indptr[row + 1]); }
};

// An array (outer, length, inner) whose middle axis is to be transformed. The last two axes are contiguous; the next
// block of length * inner values begins `stride` values further on.
template <class T> struct Cube {
    T* data;
    size_t outer, length, inner;
    ptrdiff_t stride;

    ISRHT_INLINE T* block(size_t number) const { return data + ptrdiff_t(number) * stride; }
};

// The columns of rotated rows that are wanted: out_c = z[index[c]] * scale[c].
template <class T> struct Columns {
    const int64_t* index;
    const T* scale;
    size_t count;
};

// A choice of rows, in the order in which they are added.
struct RowChoice {
    const int64_t* index;
    size_t count;
};

// Two factors for each row in each of several problems: two arrays (rows, problems).
struct RowFactors {
    const double* first;
    const double* second;
    size_t problems;
};

// Linear two-class problems: the weight of feature k in problem p is weights[p * problem_stride + k * feature_stride].
struct LinearModels {
    const double* weights;
    const double* intercept;
    size_t problems, width;
    ptrdiff_t problem_stride, feature_stride;
};

}  // namespace isrht
