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

    FeatureTable piece(size_t from, size_t size) const {
        return {mean + from * folds, deviation + from * folds, varies + from * folds, size, folds};
    }
};

// So many features at a time keep what belongs to them in the first caches.
constexpr size_t kFeaturePiece = 512;

// What each problem brings: its fold, the sums over rows of its two factors, the kind of its diagonal and the threshold.
struct DiagonalProblems {
    const int64_t* fold;
    const double* first_sum;
    const double* second_sum;
    const int64_t* kind;
    const double* threshold;
    size_t count;
};

// Each problem writes its diagonal z, as float, behind those that its path has: row `row` of an array of `stride` features
// a row, from feature `offset` on, whose first `rows` rows its products are taken with. Diagonals and signals are arrays
// (features, problems); signals is null where nobody asks for it. All sums over the features are added to what is there.
struct DiagonalResults {
    float* const* z;
    const int64_t* row;
    const int64_t* rows;
    size_t stride, offset;
    double* diagonals;  // on features as they are
    double* signals;    // diagonals times centred gradients
    double* offsets;    // (problems) diagonals times means
    double* grams;      // (problems, most_rows) z in its metric times every row, itself among them
    size_t most_rows;

    DiagonalResults from(size_t feature, size_t problems) const {
        DiagonalResults moved = *this;
        moved.offset += feature;
        if (diagonals) moved.diagonals += feature * problems;
        if (signals) moved.signals += feature * problems;
        return moved;
    }

    float* z_row(size_t problem, size_t number) const { return z[problem] + number * stride + offset; }
};

// `moments` (features, 3, problems) as SparseKernels::add_moments leaves them. z is the centred gradient over its
// standard error, soft-thresholded, and zero where that error is less than `constant` of its parts.
void make_diagonals(const double* moments, FeatureTable features, DiagonalProblems problems, double constant,
                    DiagonalResults results);

}  // namespace isrht
