// The kernels that score rows under linear models: rows @ weights.T + intercept, in double whatever the rows are.
//
// The order of additions is fixed, so a row has the same score in any batch and under any instruction set. A value that
// is not finite is multiplied by every weight, weights of zero too, so finite scores prove that the row was finite.
#pragma once

#include "infra/vector.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// The partial sums of a dense product: the product of feature k is added to sum k % kPartials.
constexpr size_t kPartials = 8;
// So many rows share each load of the weights; so many features stay in the cache while all problems pass over them.
constexpr size_t kScoredRows = 4, kScoredFeatures = 2048;

// Adds the products of `count` features to partial (Rows, kPartials). The number of the first one is a multiple of
// kPartials.
template <size_t Rows, class T>
ISRHT_INLINE void add_products(const T* x, ptrdiff_t stride, const double* weights, size_t count, double* partial) {
    constexpr size_t lanes = size_t(Lanes<double>::count), vectors = kPartials / lanes;
    Vector<double> sums[Rows][vectors];
    for (size_t r = 0; r < Rows; ++r)
        for (size_t v = 0; v < vectors; ++v) sums[r][v] = load(partial + r * kPartials + v * lanes);
    size_t k = 0;
    for (; k + kPartials <= count; k += kPartials)
        for (size_t v = 0; v < vectors; ++v) {
            const Vector<double> weight = load(weights + k + v * lanes);
            for (size_t r = 0; r < Rows; ++r)
                sums[r][v] += load_as_double(x + ptrdiff_t(r) * stride + k + v * lanes) * weight;
        }
    for (size_t r = 0; r < Rows; ++r)
        for (size_t v = 0; v < vectors; ++v) store(partial + r * kPartials + v * lanes, sums[r][v]);
    for (size_t r = 0; r < Rows; ++r)
        for (size_t i = k; i < count; ++i)
            partial[r * kPartials + i - k] += double(x[ptrdiff_t(r) * stride + ptrdiff_t(i)]) * weights[i];
}

// Adds the partial sums by halves.
ISRHT_INLINE double total_of(double* partial) {
    for (size_t half = kPartials / 2; half; half /= 2)
        for (size_t l = 0; l < half; ++l) partial[l] += partial[l + half];
    return partial[0];
}

// Scores so many rows at once. `partial` has room for (problems, Rows, kPartials).
template <size_t Rows, class T>
void score_some_rows(const T* x, ptrdiff_t stride, LinearModels models, double* partial, double* out) {
    for (size_t i = 0; i < models.problems * Rows * kPartials; ++i) partial[i] = 0;
    for (size_t from = 0; from < models.width; from += kScoredFeatures) {
        const size_t left = models.width - from, count = left < kScoredFeatures ? left : kScoredFeatures;
        for (size_t p = 0; p < models.problems; ++p)
            add_products<Rows>(x + from, stride, models.weights + ptrdiff_t(p) * models.problem_stride + from, count,
                               partial + p * Rows * kPartials);
    }
    for (size_t p = 0; p < models.problems; ++p)
        for (size_t r = 0; r < Rows; ++r)
            out[r * models.problems + p] = total_of(partial + (p * Rows + r) * kPartials) + models.intercept[p];
}

template <class T> void score_dense(DenseRows<T> rows, LinearModels models, double* out) {
    Scratch scratch(models.problems * kScoredRows * kPartials * sizeof(double));
    double* partial = static_cast<double*>(scratch.data);
    size_t i = 0;
    for (; i + kScoredRows <= rows.count; i += kScoredRows)
        score_some_rows<kScoredRows>(rows.row(i), rows.stride, models, partial, out + i * models.problems);
    for (; i < rows.count; ++i)
        score_some_rows<1>(rows.row(i), rows.stride, models, partial, out + i * models.problems);
}

// The partial sums of a sparse product, to which the entries of a row are added in turn.
constexpr size_t kSparsePartials = 4;

// Scores one row in all problems at once, where the weights of a feature lie side by side. `partial` has room for
// (kSparsePartials, problems).
template <class T, class Index>
void score_by_feature(SparseRows<T, Index> rows, LinearModels models, size_t row, double* partial, double* out) {
    const size_t problems = models.problems, from = rows.begin(row), to = rows.end(row);
    for (size_t i = 0; i < kSparsePartials * problems; ++i) partial[i] = 0;
    for (size_t at = from; at < to; ++at) {
        const double x = double(rows.data[at]);
        const double* weight = models.weights + ptrdiff_t(rows.indices[at]) * models.feature_stride;
        double* __restrict__ sum = partial + (at - from) % kSparsePartials * problems;
        for (size_t p = 0; p < problems; ++p) sum[p] += x * weight[p];
    }
    for (size_t p = 0; p < problems; ++p)
        out[p] = ((partial[p] + partial[2 * problems + p]) + (partial[problems + p] + partial[3 * problems + p])) +
                 models.intercept[p];
}

// Returns the sum of one row in one problem, with partial sums in registers. The stride of the weights is a constant of
// the compiler where it is 1, which saves a product; else Stride is 0.
template <ptrdiff_t Stride, class T, class Index>
ISRHT_INLINE double sum_of_row(SparseRows<T, Index> rows, size_t row, const double* weights, ptrdiff_t any_stride) {
    const ptrdiff_t stride = Stride ? Stride : any_stride;
    const T* x = rows.data + rows.begin(row);
    const Index* feature = rows.indices + rows.begin(row);
    const size_t count = rows.end(row) - rows.begin(row);
    double sum[kSparsePartials] = {};
    size_t at = 0;
    for (; at + kSparsePartials <= count; at += kSparsePartials)
        for (size_t s = 0; s < kSparsePartials; ++s)
            sum[s] += double(x[at + s]) * weights[ptrdiff_t(feature[at + s]) * stride];
    for (size_t s = 0; at + s < count; ++s) sum[s] += double(x[at + s]) * weights[ptrdiff_t(feature[at + s]) * stride];
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// Scores rows one problem after another.
template <ptrdiff_t Stride, class T, class Index>
void score_by_problem(SparseRows<T, Index> rows, LinearModels models, double* out) {
    for (size_t row = 0; row < rows.count; ++row)
        for (size_t p = 0; p < models.problems; ++p) {
            const double* weights = models.weights + ptrdiff_t(p) * models.problem_stride;
            *out++ = sum_of_row<Stride>(rows, row, weights, models.feature_stride) + models.intercept[p];
        }
}

template <class T, class Index> void score_sparse(SparseRows<T, Index> rows, LinearModels models, double* out) {
    if (models.feature_stride == 1) return score_by_problem<1>(rows, models, out);
    if (models.problem_stride != 1) return score_by_problem<0>(rows, models, out);
    Scratch scratch(kSparsePartials * models.problems * sizeof(double));
    double* partial = static_cast<double*>(scratch.data);
    for (size_t row = 0; row < rows.count; ++row)
        score_by_feature(rows, models, row, partial, out + row * models.problems);
}

}  // namespace isrht::ISRHT_VARIANT
