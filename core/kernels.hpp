// The contract of every kernel: what it reads, what it writes, and in which order it adds.
//
// A kernel knows rows, diagonals and columns; nothing of Python, labels or classifiers. It is single-threaded
// and re-entrant, and trusts its arguments: bindings.cpp has checked them. All variants of a kernel, and its
// twin in NumPy, add in the same order, so they give the same bits. In dense projections the sign of a zero may differ
// where a row is all zeros: padding, of which some variants have more, turns -0 into 0.
//
// "Rotate" is the unnormalised Walsh-Hadamard transform of a row that has been multiplied by a diagonal and
// padded with zeros to `length`, a power of two: z_j = sum_k x_k diagonal_k (-1)^popcount(k & j).
#pragma once

#include <cstddef>
#include <cstdint>

#include "diagonals.hpp"

namespace isrht {

// Rows of a dense matrix: consecutive values in a row, `stride` values from one row to the next.
template <class T> struct DenseRows {
    const T* data;
    size_t count, width;
    ptrdiff_t stride;
};

// Rows of a CSR matrix. Entries may be unsorted and repeated: they are added.
template <class T, class Index> struct SparseRows {
    const T* data;
    const Index* indices;
    const Index* indptr;
    size_t count, width;
};

// Which outputs of a rotation to keep: out_c = z[columns[c]] * scales[c].
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

// Two factors per row and problem: arrays (count, problems).
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

template <class T> struct DenseKernels {
    // Transform, in place and times `scale`, the middle axis of an array (outer, length, inner) whose outer
    // stride is `stride` values and whose other axes are contiguous.
    void (*transform)(T* data, size_t outer, ptrdiff_t stride, size_t length, size_t inner, T scale);
    // The three largest strides (4, 2 and 1 times `stride` values) of the first `columns` columns of a transform. What
    // is left are eight transforms, of `stride` values each.
    void (*transform_top)(T* data, size_t columns, size_t stride);
    // out (count, columns.count) = the wanted columns of the rotated rows.
    void (*project)(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out);
    // totals (width) += the chosen rows, one after another, in double.
    void (*add_rows)(DenseRows<T> rows, RowChoice chosen, double* totals);
    // totals (length) += the squares of the rotated chosen rows, one after another, in double.
    void (*add_squares)(DenseRows<T> rows, RowChoice chosen, const T* diagonal, size_t length, double* totals);
    // out (count, problems) = rows @ weights.T + intercept in double; feature_stride is 1. Entry k goes to partial sum
    // k % 8, one after another; the partial sums are added by halves.
    void (*score)(DenseRows<T> rows, LinearModels models, double* out);
};

template <class T, class Index> struct SparseKernels {
    // As DenseKernels::project, exact, without rotating: entries are added in groups of 3 (float) or 2 (double), each
    // group's signed sum first. In many columns doubles are in groups of 8: pairs, then fours, then the eight.
    void (*project)(SparseRows<T, Index> rows, const T* diagonal, size_t length, Columns<T> columns, T* out);
    // totals (width) += the chosen rows, one after another, in double.
    void (*add_rows)(SparseRows<T, Index> rows, RowChoice chosen, double* totals);
    // totals (length) [k ^ l] += u_k u_l over all pairs of entries of each chosen row, u_k = x_k diagonal_k, in double.
    // Its transform is the sum of squares of the rotated rows. _reference.py tells the order of the pairs of a row.
    void (*add_autocorrelation)(SparseRows<T, Index> rows, RowChoice chosen, const T* diagonal, size_t length,
                                double* totals);
    // totals (width, 3, problems) [k] += x_k first, x_k second, x_k^2 second, row after row, in double, where each
    // row has factors `first` and `second` (problems). Rows whose factors are all zero are passed over;
    // repeated entries are squared one by one.
    void (*add_moments)(SparseRows<T, Index> rows, RowFactors factors, double* totals);
    // The same where each feature has its entries together: features are the rows of the sparse matrix, and what it
    // calls columns are the rows of the data, with factors (width, 2, problems), first and second. Totals are set.
    void (*moments_of_features)(SparseRows<T, Index> features, const double* factors, size_t problems, double* totals);
    // What make_diagonals makes of these moments, and products (width, problems) += the data @ diagonals, feature after
    // feature. `results.diagonals` is not used.
    void (*diagonals_of_features)(SparseRows<T, Index> features, const double* factors, FeatureTable table,
                                  DiagonalProblems problems, double constant, DiagonalResults results, double* products);
    // As DenseKernels::score, for any strides: entry e of a row goes to partial sum e % 4.
    void (*score)(SparseRows<T, Index> rows, LinearModels models, double* out);
};

struct Kernels {
    const char* name;
    DenseKernels<float> dense32;
    DenseKernels<double> dense64;
    SparseKernels<float, int32_t> sparse32;
    SparseKernels<float, int64_t> sparse32_long;
    SparseKernels<double, int32_t> sparse64;
    SparseKernels<double, int64_t> sparse64_long;
};

// Cache-aligned memory that lives as long as its scope; std::bad_alloc when there is none. Out of line, so
// that no variant compiles it for its own instruction set.
struct Scratch {
    explicit Scratch(size_t bytes);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    void* data;
};

namespace baseline { extern const Kernels kernels; }
namespace avx2 { extern const Kernels kernels; }
namespace avx512 { extern const Kernels kernels; }

}  // namespace isrht
