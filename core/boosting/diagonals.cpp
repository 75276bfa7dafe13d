// Learned diagonals, made from the moments of the features: see diagonals.hpp.
#include "boosting/diagonals.hpp"

#include <cmath>

#include "infra/scratch.hpp"

namespace isrht {
namespace {

constexpr size_t kPiece = kFeaturePiece;

// What one problem needs of the features of a piece, side by side. All that follows is arithmetic on plain arrays,
// which compilers turn into vectors.
struct Piece {
    size_t count;
    double mean[kPiece], deviation[kPiece], varies[kPiece];
    double gradient[kPiece], variance[kPiece], least[kPiece];
    double z[kPiece];
};

// Takes the features of problem p together, and centres their gradients and squares.
void gather(const double* moments, const DiagonalTask& task, size_t p, Piece& piece) {
    const FeatureTable& features = task.features;
    const DiagonalProblems& problems = task.problems;
    const size_t stride = problems.count, folds = features.folds, fold = size_t(problems.fold[p]);
    const double first_sum = problems.first_sum[p], second_sum = problems.second_sum[p], constant = problems.constant;
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
        const double z = piece.z[i], below = z < threshold ? z : threshold;
        const double inner = below > -threshold ? below : -threshold;
        piece.z[i] = piece.varies[i] != 0 ? z - inner : 0;
    }
}

void take_signs(Piece& piece) {
    for (size_t i = 0; i < piece.count; ++i) piece.z[i] = piece.z[i] < 0 ? -piece.varies[i] : piece.varies[i];
}

double total_of_eight(const double* sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Returns the sum of products. There are eight partial sums, so that no addition waits for the one before.
template <class T> double product(const T* left, const double* right, size_t count) {
    double sums[8] = {};
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t lane = 0; lane < 8; ++lane) sums[lane] += double(left[i + lane]) * right[i + lane];
    for (; i < count; ++i) sums[0] += double(left[i]) * right[i];
    return total_of_eight(sums);
}

// Adds the products of a row of a path with two problems, each in its own eight partial sums, as product() does.
void add_two_products(const float* left, const double* const right[2], size_t count, double* const totals[2]) {
    double first[8] = {}, second[8] = {};
    const double *a = right[0], *b = right[1];
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t lane = 0; lane < 8; ++lane) {
            const double value = double(left[i + lane]);
            first[lane] += value * a[i + lane];
            second[lane] += value * b[i + lane];
        }
    for (; i < count; ++i) {
        first[0] += double(left[i]) * a[i];
        second[0] += double(left[i]) * b[i];
    }
    *totals[0] += total_of_eight(first);
    *totals[1] += total_of_eight(second);
}

// Writes the diagonal of problem p, and what is told of it alone. `weighted` becomes z in its metric.
void finish(const Piece& piece, const DiagonalTask& task, size_t p, double* weighted, double* diagonals) {
    const size_t problems = task.problems.count;
    float* z = task.paths.diagonal(p, size_t(task.paths.row[p]), task.features.start);
    double diagonal[kPiece];
    for (size_t i = 0; i < piece.count; ++i) z[i] = float(piece.z[i]);
    if (DiagonalKind(task.problems.kind[p]) == DiagonalKind::standard)
        for (size_t i = 0; i < piece.count; ++i) {
            weighted[i] = double(z[i]);
            diagonal[i] = double(z[i]) / piece.deviation[i];
        }
    else
        for (size_t i = 0; i < piece.count; ++i) {
            weighted[i] = double(z[i]) * piece.deviation[i];
            diagonal[i] = double(z[i]);
        }
    for (size_t i = 0; i < piece.count; ++i) diagonals[i * problems + p] = diagonal[i];
    task.results.offsets[p] += product(diagonal, piece.mean, piece.count);
    if (double* signals = task.results.signals)
        for (size_t i = 0; i < piece.count; ++i) signals[i * problems + p] = diagonal[i] * piece.gradient[i];
}

// Multiplies the diagonal of problem p with the rows of its path, and that of the next problem, too, if it is of the same
// path: the rows are read once for both. Returns how many problems these were.
size_t multiply_with_path(const DiagonalTask& task, size_t p, const double* weighted) {
    const size_t count = task.features.count, most = task.results.most_rows, rows = size_t(task.paths.rows[p]);
    double* const grams = task.results.grams + p * most;
    const bool two = p + 1 < task.problems.count && task.paths.z[p] == task.paths.z[p + 1];
    const double* const right[2] = {weighted + p * kPiece, weighted + (p + 1) * kPiece};
    for (size_t t = 0; t < rows; ++t) {
        const float* row = task.paths.diagonal(p, t, task.features.start);
        double* const totals[2] = {grams + t, grams + most + t};
        if (two) add_two_products(row, right, count, totals);
        else *totals[0] += product(row, right[0], count);
    }
    return two ? 2 : 1;
}

// Makes the diagonals of at most kPiece features. The products of a diagonal with the rows of its path come last,
// because the other new diagonals of the path are among these rows. `weighted` has room for kPiece features of each
// problem.
void make_piece(const double* moments, const DiagonalTask& task, double* weighted, double* diagonals) {
    Piece piece;
    piece.count = task.features.count;
    for (size_t p = 0; p < task.problems.count; ++p) {
        gather(moments, task, p, piece);
        standardise(piece);
        if (DiagonalKind(task.problems.kind[p]) == DiagonalKind::signs) take_signs(piece);
        else shrink(piece, task.problems.threshold[p]);
        finish(piece, task, p, weighted + p * kPiece, diagonals);
    }
    for (size_t p = 0; p < task.problems.count;) p += multiply_with_path(task, p, weighted);
}

}  // namespace

void make_diagonals(const double* moments, const DiagonalTask& task, double* diagonals) {
    const size_t problems = task.problems.count;
    Scratch scratch(problems * kPiece * sizeof(double));
    for (size_t from = 0; from < task.features.count; from += kPiece) {
        const size_t left = task.features.count - from, size = left < kPiece ? left : kPiece;
        make_piece(moments + from * 3 * problems, task.piece(from, size), static_cast<double*>(scratch.data),
                   diagonals + from * problems);
    }
}

}  // namespace isrht
