#include "diagonals.hpp"

#include <cmath>

namespace isrht {
namespace {

double shrunk(double z, double threshold) {
    if (z > threshold) return z - threshold;
    if (z < -threshold) return z + threshold;
    return 0;
}

constexpr size_t kPiece = 512;

void make_piece(const double* moments, const FeatureTable& features, const DiagonalProblems& problems, double constant,
                const DiagonalResults& results, size_t p, size_t from, size_t to) {
    const size_t count = problems.count, folds = features.folds, fold = size_t(problems.fold[p]);
    const double first_sum = problems.first_sum[p], second_sum = problems.second_sum[p];
    const double threshold = problems.threshold[p];
    const DiagonalKind kind = DiagonalKind(problems.kind[p]);
    float* z_row = results.z + p * features.count;
    double* weighted_row = results.weighted + p * features.count;
    double squares = results.squares[p], offsets = results.offsets[p];
    for (size_t k = from; k < to; ++k) {
        const double mean = features.mean[k * folds + fold], deviation = features.deviation[k * folds + fold];
        const double* totals = moments + k * 3 * count + p;
        const double gradient = totals[0] - mean * first_sum, square = totals[2 * count];
        const double variance = (mean * second_sum - 2 * totals[count]) * mean + square;
        double z = 0;
        if (features.varies[k * folds + fold]) {
            if (variance > constant * square) z = gradient / std::sqrt(variance);
            z = kind == DiagonalKind::signs ? (z < 0 ? -1 : 1) : shrunk(z, threshold);
        }
        const float rounded = float(z);
        const double entry = rounded, weighted = kind == DiagonalKind::standard ? entry : entry * deviation;
        const double diagonal = kind == DiagonalKind::standard ? entry / deviation : entry;
        z_row[k] = rounded;
        weighted_row[k] = weighted;
        results.diagonals[ptrdiff_t(k) * results.stride + ptrdiff_t(p)] = diagonal;
        squares += weighted * entry;
        offsets += diagonal * mean;
    }
    results.squares[p] = squares;
    results.offsets[p] = offsets;
}

}  // namespace

void make_diagonals(const double* moments, FeatureTable features, DiagonalProblems problems, double constant,
                    DiagonalResults results) {
    const size_t width = features.count, count = problems.count;
    // Problem by problem over a piece of features that stays in the cache: what belongs to a problem stays in registers.
    for (size_t p = 0; p < count; ++p) results.squares[p] = results.offsets[p] = 0;
    for (size_t from = 0; from < width; from += kPiece) {
        const size_t to = width - from < kPiece ? width : from + kPiece;
        for (size_t p = 0; p < count; ++p) make_piece(moments, features, problems, constant, results, p, from, to);
    }
}

}  // namespace isrht
