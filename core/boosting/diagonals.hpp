// Learned diagonals: how sure each feature is to help with the problems at hand, z = gradient / standard error.
//
// They are made from the moments of the features by plain loops over features. The loops are bound by a square root and
// a division each, not by the width of a vector, so they are compiled once for every processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "infra/inline.hpp"

namespace isrht {

// So many features at a time keep all that belongs to them in the first-level cache.
constexpr size_t kFeaturePiece = 512;

// How a diagonal is made from z: z divided by the deviation of its feature, z itself, or the sign of z.
enum class DiagonalKind : int64_t { standard, plain, signs };

// Consecutive features, the first of which is feature `start` of the paths: their mean, their deviation and whether
// they vary, in each of several folds, as arrays (count, folds).
struct FeatureTable {
    const double* mean;
    const double* deviation;
    const bool* varies;
    size_t count, folds, start;

    ISRHT_INLINE FeatureTable piece(size_t from, size_t size) const {
        const size_t entry = from * folds;
        return {mean + entry, deviation + entry, varies + entry, size, folds, start + from};
    }
};

// What each problem brings, as arrays (count): its fold, the kind of its diagonal, the threshold by which z is shrunk,
// and the sums over rows of its two factors. A standard error that is less than `constant` of its parts counts as zero.
struct DiagonalProblems {
    const int64_t* fold;
    const int64_t* kind;
    const double* threshold;
    const double* first_sum;
    const double* second_sum;
    double constant;
    size_t count;
};

// Where the diagonal of each problem goes. A problem belongs to a path, which has an array of diagonals, one row of
// `width` features each. z[p] is that of the path of problem p; its diagonal becomes row row[p], and is multiplied with
// the first rows[p] rows.
struct DiagonalPaths {
    float* const* z;
    const int64_t* row;
    const int64_t* rows;
    size_t width;

    ISRHT_INLINE float* diagonal(size_t problem, size_t number, size_t feature) const {
        return z[problem] + number * width + feature;
    }
};

// What else is told of each diagonal. Sums over the features are added to what is there.
struct DiagonalResults {
    double* offsets;  // (problems): the products of the diagonals and the means.
    double* grams;    // (problems, most_rows): the products of z, in its metric, and the rows of its path.
    double* signals;  // (features, problems): the diagonals times the centred gradients; null if not asked for.
    size_t most_rows;
};

// Everything that make_diagonals is asked to do with the moments of some features.
struct DiagonalTask {
    FeatureTable features;
    DiagonalProblems problems;
    DiagonalPaths paths;
    DiagonalResults results;

    // Returns what is to be done with `size` of the features, from number `from` on.
    ISRHT_INLINE DiagonalTask piece(size_t from, size_t size) const {
        DiagonalTask task = *this;
        task.features = features.piece(from, size);
        if (results.signals) task.results.signals += from * problems.count;
        return task;
    }
};

// Makes the diagonals of all problems from `moments` (features, 3, problems), as SparseKernels::add_moments leaves
// them, and writes them to `diagonals` (features, problems) as factors of features that are neither centred nor scaled.
// z is the centred gradient over its standard error, soft-thresholded, in float.
void make_diagonals(const double* moments, const DiagonalTask& task, double* diagonals);

}  // namespace isrht
