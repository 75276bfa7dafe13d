// The whole of a kernels_*.cpp: every kernel, compiled for the instruction set of that file.
#pragma once

#include "scores.hpp"
#include "sparse.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T>
constexpr DenseKernels<T> dense_kernels{transform<T>, transform_top<T>, project<T>, add_rows<T>, add_squares<T>,
                                        score_rows<T>};
template <class T, class Index>
constexpr SparseKernels<T, Index> sparse_kernels{
    project_sparse<T, Index>,      add_sparse_rows<T, Index>,       add_autocorrelation<T, Index>, add_moments<T, Index>,
    moments_of_features<T, Index>, diagonals_of_features<T, Index>, score_sparse<T, Index>};

#define ISRHT_STRING_OF(name) #name
#define ISRHT_STRING(name) ISRHT_STRING_OF(name)

extern const Kernels kernels;
const Kernels kernels{ISRHT_STRING(ISRHT_VARIANT),       dense_kernels<float>,           dense_kernels<double>,
                      sparse_kernels<float, int32_t>,  sparse_kernels<float, int64_t>,
                      sparse_kernels<double, int32_t>, sparse_kernels<double, int64_t>};

}  // namespace isrht::ISRHT_VARIANT
