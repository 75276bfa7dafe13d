#include "diagonals.hpp"

#include <cmath>

#include "kernels.hpp"

namespace isrht {
namespace {

constexpr size_t kPiece = kFeaturePiece;

// What one problem needs of the features of a piece, side by side: all that follows is arithmetic on plain arrays, which
// compilers turn into vectors.
struct Piece {
    size_t count;
    double mean[kPiece], deviation[kPiece], varies[kPiece];
    double gradient[kPiece], variance[kPiece], least[kPiece];
    double z[kPiece];
};

void gather(const double* moments, const FeatureTable& features, const DiagonalProblems& problems, double constant,
            size_t p, Piece& piece) {
    const size_t stride = problems.count, folds = features.folds, fold = size_t(problems.fold[p]);
    const double first_sum = problems.first_sum[p], second_sum = problems.second_sum[p];
    for (size_t i = 0; i < piece.count; ++i) {
        const size_t entry = i * folds + fold;
        const double mean = features.mean[entry], *totals = moments + i * 3 * stride + p;
        const double square = totals[2 * stride];
        piece.mean[i] = mean;
        piece.deviation[i] = features.deviation[entry];
        piece.varies[i] = features.varies[entry] ? 1 : 0;
        piece.gradient[i] = totals[0] - mean * first_sum;
        piece.variance[i] = (mean * second_sum - 2 * totals[stride]) * mean + square;
        piece.least[i] = constant * square;
    }
}

void standardise(Piece& piece) {
    for (size_t i = 0; i < piece.count; ++i) {
        const double z = piece.gradient[i] / std::sqrt(piece.variance[i]);
        piece.z[i] = piece.variance[i] > piece.least[i] ? z : 0;
    }
}

void shrink(Piece& piece, double threshold) {
    for (size_t i = 0; i < piece.count; ++i) {
        const double z = piece.z[i], below = z < threshold ? z : threshold, inner = below > -threshold ? below : -threshold;
        piece.z[i] = piece.varies[i] != 0 ? z - inner : 0;
    }
}

void take_signs(Piece& piece) {
    for (size_t i = 0; i < piece.count; ++i) piece.z[i] = piece.z[i] < 0 ? -piece.varies[i] : piece.varies[i];
}

// Eight partial sums, so that no addition waits for the one before.
template <class T> double product(const T* left, const double* right, size_t count) {
    double sums[8] = {};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t lane = 0; lane < 8; ++lane) sums[lane] += double(left[i + lane]) * right[i + lane];
    for (; i < count; ++i) sums[0] += double(left[i]) * right[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// `weighted` is z in its metric.
void finish(const Piece& piece, DiagonalKind kind, const DiagonalResults& results, size_t problems, size_t p,
            double* weighted) {
    float* z = results.z_row(p, size_t(results.row[p]));
    double diagonal[kPiece];
    for (size_t i = 0; i < piece.count; ++i) z[i] = float(piece.z[i]);
    if (kind == DiagonalKind::standard)
        for (size_t i = 0; i < piece.count; ++i) {
            weighted[i] = double(z[i]);
            diagonal[i] = double(z[i]) / piece.deviation[i];
        }
    else
        for (size_t i = 0; i < piece.count; ++i) {
            weighted[i] = double(z[i]) * piece.deviation[i];
            diagonal[i] = double(z[i]);
        }
    for (size_t i = 0; i < piece.count; ++i) results.diagonals[i * problems + p] = diagonal[i];
    results.offsets[p] += product(diagonal, piece.mean, piece.count);
    if (results.signals)
        for (size_t i = 0; i < piece.count; ++i) results.signals[i * problems + p] = diagonal[i] * piece.gradient[i];
}

// Problems of one path see each other's diagonals, so all of them are made first.
void make_piece(const double* moments, const FeatureTable& features, const DiagonalProblems& problems, double constant,
                const DiagonalResults& results, double* weighted) {
    Piece piece;
    piece.count = features.count;
    for (size_t p = 0; p < problems.count; ++p) {
        const DiagonalKind kind = DiagonalKind(problems.kind[p]);
        gather(moments, features, problems, constant, p, piece);
        standardise(piece);
        if (kind == DiagonalKind::signs) take_signs(piece);
        else shrink(piece, problems.threshold[p]);
        finish(piece, kind, results, problems.count, p, weighted + p * kPiece);
    }
    for (size_t p = 0; p < problems.count; ++p)
        for (size_t t = 0; t < size_t(results.rows[p]); ++t)
            results.grams[p * results.most_rows + t] += product(results.z_row(p, t), weighted + p * kPiece, piece.count);
}

}  // namespace

void make_diagonals(const double* moments, FeatureTable features, DiagonalProblems problems, double constant,
                    DiagonalResults results) {
    Scratch scratch(problems.count * kPiece * sizeof(double));
    for (size_t from = 0; from < features.count; from += kPiece) {
        const size_t left = features.count - from, size = left < kPiece ? left : kPiece;
        make_piece(moments + from * 3 * problems.count, features.piece(from, size), problems, constant,
                   results.from(from, problems.count), static_cast<double*>(scratch.data));
    }
}

}  // namespace isrht
