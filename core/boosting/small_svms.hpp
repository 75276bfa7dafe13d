// What the kernels of small SVMs are given: rows with a handful of learned columns, two-class problems on them, and what
// is left of the rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "infra/inline.hpp"

namespace isrht {

// Rows that are stored by column: value i of column j is columns[j * stride + i]. Each row has a weight, which is not
// negative, and the number of its class.
struct LearnedRows {
    const double* columns;
    const double* weights;
    const int32_t* codes;
    size_t count, width;
    ptrdiff_t stride;

    ISRHT_INLINE double value(size_t row, size_t column) const {
        return columns[ptrdiff_t(column) * stride + ptrdiff_t(row)];
    }
};

// Two-class problems: the class `positive[p]` against all others. Problems p and p - labels are of the same class and
// have neighbouring costs. A problem is solved exactly if `tolerance` is 0; otherwise until a full step changes at
// most this part of its active rows, and the Hessian is taken from the Gram matrix of all rows, which all problems share.
struct SvmProblems {
    const int32_t* positive;
    const double* cost;
    size_t count, labels;
    double tolerance;
};

// Sums over rows for every problem: the weighted squared hinge (count), the columns times label, hinge and weight (count,
// width + 1), the Gram matrices of the rows that entered or left the margin, the latter subtracted (count, width + 1,
// width + 1), and how many rows these are (count). The last column is 1 in every row.
struct SvmSums {
    double* loss;
    double* pull;
    double* gram;
    int64_t* changed;
};

// How many sums over rows tell how good a small SVM is.
constexpr size_t kJudgedSums = 5;

// What rows say of small SVMs that were not trained on them: the weights of the rows whose class is guessed, for every
// SVM, and weighted sums for every problem of theirs (kJudgedSums, problems): of the scores, their squares, scores times
// labels +1/-1, labels, and the squared hinge.
struct JudgedSvms {
    double* hits;
    double* sums;
};

// The weighted residuals of rows in every class, (rows, classes rounded up to a multiple of 8) with zeros at the end, and
// their sums over the rows (classes).
struct ClassResiduals {
    const double* values;
    const double* sums;
    size_t classes;
};

}  // namespace isrht
