// The table of all kernels of one variant. This is the whole of baseline.cpp, avx2.cpp and avx512.cpp, each of which
// compiles the same source for another instruction set.
//
// Before it includes this file, a variant defines
// - ISRHT_VARIANT, its name, which is also the namespace of everything that it compiles;
// - ISRHT_VECTOR_BYTES, the width of its vectors;
// - ISRHT_PERMUTE, if its instruction set can permute the 32-bit words of a vector by indices in another vector;
// - ISRHT_INTEGERS, if the kernels of another variant, which it names, are to transform integers.
#pragma once

#include "boosting/class_grams.hpp"
#include "boosting/diagonals_of_features.hpp"
#include "boosting/judge_small_svms.hpp"
#include "boosting/solve_small_svms.hpp"
#include "boosting/sum_small_svms.hpp"
#include "dense/halves.hpp"
#include "dense/moments.hpp"
#include "dense/orthogonal.hpp"
#include "dense/projection.hpp"
#include "dense/sums.hpp"
#include "dense/transform.hpp"
#include "infra/clean.hpp"
#include "kernels.hpp"
#include "linear/descent.hpp"
#include "linear/scores.hpp"
#include "sparse/autocorrelation.hpp"
#include "sparse/moments.hpp"
#include "sparse/projection.hpp"
#include "sparse/sums.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T>
constexpr TransformKernels<T> transform_table{clean<transform<T>>, clean<transform_top<T>>,
                                              clean<transform_streams<T>>};
template <class T>
constexpr DenseKernels<T> dense_table{clean<project_dense<T>>,    clean<rotate_rows<T>>,       clean<add_dense_rows<T>>,
                                      clean<add_squares<T>>,      clean<add_dense_moments<T>>, clean<score_dense<T>>,
                                      descent_table<DenseRows<T>>};
template <class T, class Index>
constexpr SparseKernels<T, Index> sparse_table{
    clean<project_sparse<T, Index>>, clean<add_sparse_rows<T, Index>>,     clean<add_autocorrelation<T, Index>>,
    clean<add_moments<T, Index>>,    clean<moments_of_features<T, Index>>, clean<diagonals_of_features<T, Index>>,
    clean<add_class_gram<T, Index>>, clean<score_sparse<T, Index>>,        descent_table<SparseRows<T, Index>>};

#define ISRHT_STRING_OF(name) #name
#define ISRHT_STRING(name) ISRHT_STRING_OF(name)

#ifndef ISRHT_INTEGERS
#define ISRHT_INTEGERS ISRHT_VARIANT
extern const IntegerKernels integers;
const IntegerKernels integers{transform_table<uint32_t>, transform_table<uint64_t>};
#endif

extern const Kernels kernels;
const Kernels kernels{ISRHT_STRING(ISRHT_VARIANT),
                      transform_table<float>,
                      transform_table<double>,
                      &isrht::ISRHT_INTEGERS::integers,
                      {clean<widen_halves>, clean<narrow_halves>},
                      dense_table<float>,
                      dense_table<double>,
                      sparse_table<float, int32_t>,
                      sparse_table<float, int64_t>,
                      sparse_table<double, int32_t>,
                      sparse_table<double, int64_t>,
                      {clean<solve_small_svms>, clean<sum_small_svms>, clean<judge_small_svms>}};

}  // namespace isrht::ISRHT_VARIANT
