// Diagonals from moments: what each feature says of the problems at hand, over its standard error.
//
// Plain loops over features, compiled once for every processor: they are bound by a square root and a division each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isrht {

// How a diagonal is made of z: divided by the deviation of its feature, as it is, or its sign alone.
enum class DiagonalKind : int64_t { standard, plain, signs };

// Mean and deviation of every feature, and whether it varies, in each of several folds: arrays (count, folds).
struct FeatureTable {
    const double* mean;
    const double* deviation;
    const bool* varies;
    size_t count, folds;
};

// What each problem brings: its fold, the sums over rows of its two factors, the kind of its diagonal and the threshold.
struct DiagonalProblems {
    const int64_t* fold;
    const double* first_sum;
    const double* second_sum;
    const int64_t* kind;
    const double* threshold;
    size_t count;
};

// Arrays (problems, features), but for `diagonals` (features, problems), whose rows lie `stride` values apart.
struct DiagonalResults {
    float* z;
    double* weighted;   // z times its metric
    double* diagonals;  // on features as they are
    ptrdiff_t stride;
    double* squares;  // (problems) z times weighted, added up over the features
    double* offsets;  // (problems) diagonals times means, added up over the features
};

// `moments` (features, 3, problems) as SparseKernels::add_moments leaves them. z is the centred gradient over its
// standard error, soft-thresholded, and zero where that error is less than `constant` of its parts.
void make_diagonals(const double* moments, FeatureTable features, DiagonalProblems problems, double constant,
                    DiagonalResults results);

}  // namespace isrht
