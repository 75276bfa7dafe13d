#include "diagonals.hpp"

#include <cmath>

namespace isrht {
namespace {

double shrunk(double z, double threshold) {
    if (z > threshold) return z - threshold;
    if (z < -threshold) return z + threshold;
    return 0;
}

}  // namespace

void make_diagonals(const double* moments, FeatureTable features, DiagonalProblems problems, double constant,
                    DiagonalResults results) {
    const size_t count = problems.count;
    for (size_t p = 0; p < count; ++p) results.squares[p] = results.offsets[p] = 0;
    for (size_t k = 0; k < features.count; ++k) {
        const double* gradients = moments + k * 3 * count;
        double* diagonals = results.diagonals + ptrdiff_t(k) * results.stride;
        for (size_t p = 0; p < count; ++p) {
            const size_t at = k * features.folds + size_t(problems.fold[p]);
            const double mean = features.mean[at], deviation = features.deviation[at];
            const double gradient = gradients[p] - mean * problems.first_sum[p];
            const double square = gradients[2 * count + p];
            const double variance = (mean * problems.second_sum[p] - 2 * gradients[count + p]) * mean + square;
            const DiagonalKind kind = DiagonalKind(problems.kind[p]);
            double z = 0;
            if (features.varies[at]) {
                if (variance > constant * square) z = gradient / std::sqrt(variance);
                z = kind == DiagonalKind::signs ? (z < 0 ? -1 : 1) : shrunk(z, problems.threshold[p]);
            }
            const float rounded = float(z);
            const double entry = rounded, weighted = kind == DiagonalKind::standard ? entry : entry * deviation;
            const double diagonal = kind == DiagonalKind::standard ? entry / deviation : entry;
            results.z[p * features.count + k] = rounded;
            results.weighted[p * features.count + k] = weighted;
            diagonals[p] = diagonal;
            results.squares[p] += weighted * entry;
            results.offsets[p] += diagonal * mean;
        }
    }
}

}  // namespace isrht
