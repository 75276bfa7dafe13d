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
    // From the values to those that are asked for ahead instead of the next ones, in bytes.
    ptrdiff_t elsewhere = 0;

    ISRHT_INLINE T* block(size_t number) const { return data + ptrdiff_t(number) * stride; }
};

// A Hadamard matrix of order m, which combines m streams: Williamson's of order 12 (dense/williamson.hpp), of which nothing
// but the order is told, or one by Paley's constructions (dense/paley.hpp) on a field of q elements: m is q + 1 or 2 (q + 1).
// The elements are numbered so that their differences go round in cycles: one of q, or q / p of p each. The list has the
// distances at which an output adds inputs, in a layout where each cycle is there twice.
struct SmallMatrix {
    size_t order, field, cycle, distances;
    const int64_t* added;
};
constexpr size_t kTwelve = 12;
constexpr size_t kLargestOrder = 60, kLongestCircle = 100;

// Returns how many consecutive values of a transform of some length, 2^a * m * 2^b, the matrix of order m combines: m * 2^b,
// the largest that is at most 4096, or the length.
ISRHT_INLINE size_t streams_block(const SmallMatrix& plan, size_t length) {
    size_t block = plan.order;
    while (block < length && 2 * block <= 4096) block *= 2;
    return block;
}

// The steps of a rotation without padding: step s multiplies the values of a row from starts[s] on, `length` of them, by
// signs[s], and applies the orthonormal transform, whose factor is `scale`.
template <class T> struct RotationSteps {
    const int64_t* starts;
    const T* signs;
    size_t count, length;
    T scale;
};

// Where rows are written to: the next row begins `stride` values further on.
template <class T> struct RowsTo {
    T* data;
    ptrdiff_t stride;
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

// A choice of rows and their weights, and whether every row has one more feature, of the value 1.
struct WeightedRows {
    const int64_t* index;
    const double* weights;
    size_t count;
    bool intercept;
};

// Linear SVMs on the same rows, to be solved side by side in their duals, one in each lane: arrays (rows, lanes).
template <class Real> struct DualProblems {
    const Real* labels;  // +1 or -1.
    const Real* ridge;   // What each row adds to its own curvature: 1 / (2 C weight).
    const Real* norms;   // (rows) The squared norms, with 1 for the intercept if there is one.
};

// How far coordinate descent has come.
template <class Real> struct DualState {
    Real* alpha;      // (rows, lanes) The dual variables, which are not negative.
    Real* weights;    // (width, lanes) The sum of the rows times their labels and variables.
    Real* intercept;  // (lanes) The same sum of ones, or null where there is no intercept.
    uint8_t* closed;  // (rows) Bit l is set where lane l passes over the row.
};

// What one turn through the rows is told and tells.
template <class Real> struct Epoch {
    RowChoice order;
    const Real* threshold;  // (lanes) A row whose variable is 0 and whose slope is steeper is closed from then on.
    unsigned finished;      // Bit l is set where lane l passes over all rows.
    double stretch;         // How many times as long as the step to the best value of a variable each step is.
    double* gain;           // (lanes) Takes up by how much the dual objective has grown.
    Real* violation;        // (lanes) Is raised to the largest slope that was found where it could be followed.
};

}  // namespace isrht
