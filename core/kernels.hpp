// The contract of every kernel: what it reads, what it writes, and in which order it adds.
//
// A kernel knows rows, diagonals and columns; it knows nothing of Python, labels or classifiers. It runs in one thread,
// keeps no state between calls, and trusts its arguments, which the bindings have checked. All variants of a kernel,
// and its twin in NumPy (isrht/kernels/_reference), add in the same order, so they give the same bits. There is one
// exception: in dense projections the sign of a zero may differ where a row is all zeros, because some variants pad
// rows with more zeros than others, and padding turns -0 into 0.
//
// To "rotate" a row is to multiply it by a diagonal, to pad it with zeros to `length`, a power of two, and to apply the
// unnormalised Walsh-Hadamard transform: z_j = sum_k x_k diagonal_k (-1)^popcount(k & j).
#pragma once

#include "boosting/diagonals.hpp"
#include "boosting/small_svms.hpp"
#include "records.hpp"

namespace isrht {

// The kernels of solvers for linear SVMs, which do the same with dense and with sparse rows.
template <class Rows> struct DescentKernels {
    // Take one step of dual coordinate descent with each row of the order, for one problem in double, or in 4 or 8 lanes
    // in float. Entry e of a row is added to partial sum e % 4 of the product; the NumPy twin tells the rest.
    void (*descend_one)(Rows rows, const DualProblems<double>& problems, const DualState<double>& state,
                        const Epoch<double>& epoch);
    void (*descend_some)(Rows rows, size_t lanes, const DualProblems<float>& problems, const DualState<float>& state,
                         const Epoch<float>& epoch);
    // Add rows times factors (rows, lanes) to weights (width, lanes), row after row, and the factors to intercept
    // (lanes) unless it is null.
    void (*add_scaled_one)(Rows rows, const double* factors, double* weights, double* intercept);
    void (*add_scaled_some)(Rows rows, size_t lanes, const float* factors, float* weights, float* intercept);
    // Adds the chosen rows, each times its weight and its product with `along`, to out (width, and 1 for an intercept),
    // one after another, in double. Entry e of a row is added to partial sum e % 4 of the product.
    void (*add_gram_product)(Rows rows, WeightedRows chosen, const double* along, double* out);
};

// The kernels that transform arrays of floating-point numbers, or of integers, whose sums wrap around.
template <class T> struct TransformKernels {
    // Transforms the middle axis of the cube in place, and multiplies it by `scale`.
    void (*transform)(Cube<T> cube, T scale);
    // Does the three largest strides of a transform (4, 2 and 1 times `stride` values) in its first `columns` columns.
    // Eight transforms of `stride` values each are left to do.
    void (*transform_top)(T* data, size_t columns, size_t stride);
    // Transforms the middle axis of the cube, of 2^a * m * 2^b values, in place, and multiplies it by `scale`: by the
    // Kronecker product of matrices of these orders, of which 2^a takes what is left of blocks of up to 4096 values.
    void (*transform_streams)(Cube<T> cube, SmallMatrix plan, T scale);
};

template <class T> struct DenseKernels {
    // Sets out (rows, columns) to the wanted columns of the rotated rows.
    void (*project)(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out);
    // Sets out to the rows after all steps of a rotation, or after all inverse steps, the last first. A row of out may be
    // the row itself. Where plan.order is 1 the length is a power of two. Returns whether all of out is finite.
    bool (*rotate)(DenseRows<T> rows, RotationSteps<T> steps, SmallMatrix plan, bool inverse, RowsTo<T> out);
    // Adds the chosen rows to totals (width), one after another, in double.
    void (*add_rows)(DenseRows<T> rows, RowChoice chosen, double* totals);
    // Adds the squares of the rotated chosen rows to totals (length), one after another, in double.
    void (*add_squares)(DenseRows<T> rows, RowChoice chosen, const T* diagonal, size_t length, double* totals);
    // Adds x_k first, x_k second and x_k^2 second to totals[k] (width, 3, problems), row after row, in double.
    void (*add_moments)(DenseRows<T> rows, RowFactors factors, double* totals);
    // Sets out (rows, problems) to rows @ weights.T + intercept, in double, where feature_stride is 1. The product of
    // feature k is added to partial sum k % 8; the eight partial sums are added by halves.
    void (*score)(DenseRows<T> rows, LinearModels models, double* out);
    DescentKernels<DenseRows<T>> descent;
};

template <class T, class Index> struct SparseKernels {
    // Does the same as DenseKernels::project without rotating. Entries are added in groups of 3 (float) or 2 (double),
    // each group's signed sum first. If there are many columns, doubles are added in groups of 8: pairs first, then
    // pairs of pairs, then their sums.
    void (*project)(SparseRows<T, Index> rows, const T* diagonal, size_t length, Columns<T> columns, T* out);
    // Adds the chosen rows to totals (width), one after another, in double.
    void (*add_rows)(SparseRows<T, Index> rows, RowChoice chosen, double* totals);
    // Adds u_k u_l to totals[k ^ l] (length) for all pairs of entries of each chosen row, where u_k = x_k diagonal_k,
    // in double. The transform of the totals is the sum of squares of the rotated rows. The NumPy twin tells the order
    // in which the pairs of a row are added.
    void (*add_autocorrelation)(SparseRows<T, Index> rows, RowChoice chosen, const T* diagonal, size_t length,
                                double* totals);
    // Adds x_k first, x_k second and x_k^2 second to totals[k] (width, 3, problems), row after row, in double. Rows
    // whose factors are all zero are passed over. Entries that repeat a feature are squared one by one.
    void (*add_moments)(SparseRows<T, Index> rows, RowFactors factors, double* totals);
    // Sets totals to the same moments of data that are stored by feature: a row of the sparse matrix is a feature of
    // the data, and its columns are the rows of the data, which have factors (rows of the data, 2, problems).
    void (*moments_of_features)(SparseRows<T, Index> features, const double* factors, size_t problems, double* totals);
    // Does what make_diagonals does with these moments, and adds the data times the diagonals to products (rows of the
    // data, problems), feature after feature.
    void (*diagonals_of_features)(SparseRows<T, Index> features, const double* factors, const DiagonalTask& task,
                                  double* products);
    // Adds the products of the gradients of all classes to gram (classes, classes), feature after feature, each times its
    // factor. A gradient is the sum of a feature times the residuals, less its mean times their sums. Data are stored by
    // feature; features with the factor 0 are passed over.
    void (*add_class_gram)(SparseRows<T, Index> features, const ClassResiduals& residuals, const double* mean,
                           const double* factor, double* gram);
    // Does the same as DenseKernels::score, for any strides: entry e of a row is added to partial sum e % 4.
    void (*score)(SparseRows<T, Index> rows, LinearModels models, double* out);
    DescentKernels<SparseRows<T, Index>> descent;
};

struct BoostingKernels {
    // Trains squared-hinge SVMs, each from where `weights` (problems, width + 1) stand, to the optimum, and sets loss
    // (problems) to the weighted squared hinge there. The NumPy twin tells the order of everything.
    void (*solve_svms)(const LearnedRows& rows, const SvmProblems& problems, double* weights, double* loss);
    // Sets the sums over some rows of such SVMs at `weights`. At the weights `before`, or nowhere if it is null, the
    // Gram matrices were up to date.
    void (*sum_svms)(const LearnedRows& rows, const SvmProblems& problems, const double* weights, const double* before,
                     const SvmSums& sums);
    // Sets what rows say of SVMs at `weights` (problems, width + 1). Each has `labels` problems: one if there are two
    // classes, of which the second is positive, and otherwise one for every class.
    void (*judge_svms)(const LearnedRows& rows, const double* weights, size_t problems, size_t labels,
                       const JudgedSvms& judged);
};

// The transforms of integers.
struct IntegerKernels {
    TransformKernels<uint32_t> transform32;
    TransformKernels<uint64_t> transform64;
};

// Numbers of 16 bits, as their bits: bfloat16 if `brain`, else halves of IEEE.
struct HalfKernels {
    // Sets `to` to the values.
    void (*widen)(const uint16_t* from, size_t count, bool brain, float* to);
    // Sets `to` to the nearest numbers, ties to even; values that are too large become infinite.
    void (*narrow)(const float* from, size_t count, bool brain, uint16_t* to);
};

// The kernels of one variant, for every type of value and of index.
struct Kernels {
    const char* name;
    TransformKernels<float> transform32;
    TransformKernels<double> transform64;
    const IntegerKernels* integers;
    HalfKernels halves;
    DenseKernels<float> dense32;
    DenseKernels<double> dense64;
    SparseKernels<float, int32_t> sparse32;
    SparseKernels<float, int64_t> sparse32_long;
    SparseKernels<double, int32_t> sparse64;
    SparseKernels<double, int64_t> sparse64_long;
    BoostingKernels boosting;
};

// core/variants has a file for each of these; infra/dispatch.hpp chooses among them.
namespace baseline {
extern const Kernels kernels;
}
namespace avx2 {
extern const IntegerKernels integers;
extern const Kernels kernels;
}  // namespace avx2
namespace avx512 {
extern const Kernels kernels;
}

}  // namespace isrht
