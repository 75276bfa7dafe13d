// The kernels that sum the moments of features over sparse rows.
//
// Boosting asks of every feature k, in each of several problems, the sums over rows of x_k first, x_k second and x_k^2
// second, where each row has two factors in each problem. Data may be stored by row, or by feature.
#pragma once

#include "infra/vector.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// The totals of features lie anywhere, mostly beyond the cache. They are asked for so many entries ahead.
constexpr size_t kEntriesAhead = 16;

// The moments of data that are stored by row. The number of problems is a constant of the compiler (Problems) where it
// is one of the usual ones, else 0.
template <size_t Problems, class T, class Index> struct RowMoments {
    SparseRows<T, Index> rows;
    RowFactors factors;
    double* totals;

    void add_all() const {
        for (size_t row = 0; row < rows.count; ++row)
            if (counts(row)) add_row(row);
    }

  private:
    ISRHT_INLINE size_t problems() const { return Problems ? Problems : factors.problems; }

    ISRHT_INLINE double* totals_of(size_t entry) const { return totals + size_t(rows.indices[entry]) * 3 * problems(); }

    // Returns whether some factor of the row is not zero.
    bool counts(size_t row) const {
        bool any = false;
        for (size_t p = row * problems(); p < (row + 1) * problems(); ++p)
            any |= factors.first[p] != 0 || factors.second[p] != 0;
        return any;
    }

    void add_row(size_t row) const {
        const double *first = factors.first + row * problems(), *second = factors.second + row * problems();
        const size_t end = rows.end(row), last = rows.begin(rows.count);
        for (size_t entry = rows.begin(row); entry < end; ++entry) {
            if (entry + kEntriesAhead < last) prefetch(totals_of(entry + kEntriesAhead));
            const double x = double(rows.data[entry]), square = x * x;
            double* total = totals_of(entry);
            for (size_t p = 0; p < problems(); ++p) total[p] += x * first[p];
            for (size_t p = 0; p < problems(); ++p) total[problems() + p] += x * second[p];
            for (size_t p = 0; p < problems(); ++p) total[2 * problems() + p] += square * second[p];
        }
    }

    ISRHT_INLINE void prefetch(const double* total) const {
        for (size_t p = 0; p < 3 * problems(); p += kCacheLine / sizeof(double)) __builtin_prefetch(total + p, 1);
    }
};

template <class T, class Index> void add_moments(SparseRows<T, Index> rows, RowFactors factors, double* totals) {
    if (factors.problems == 1) RowMoments<1, T, Index>{rows, factors, totals}.add_all();
    else if (factors.problems == 2) RowMoments<2, T, Index>{rows, factors, totals}.add_all();
    else if (factors.problems == 4) RowMoments<4, T, Index>{rows, factors, totals}.add_all();
    else RowMoments<0, T, Index>{rows, factors, totals}.add_all();
}

// The values of one, two or four problems, side by side. Four are one vector of AVX2; for other processors the compiler
// splits it.
typedef double TwoDoubles __attribute__((vector_size(16), aligned(8), may_alias));
typedef double FourDoubles __attribute__((vector_size(32), aligned(8), may_alias));

template <size_t Problems> struct ProblemLanes {
    using Type = double;
};
template <> struct ProblemLanes<2> {
    using Type = TwoDoubles;
};
template <> struct ProblemLanes<4> {
    using Type = FourDoubles;
};

// Calls step.of<4>(p), step.of<2>(p) or step.of<1>(p) until all problems have had their turn.
template <class Step> ISRHT_INLINE void for_problems(size_t problems, const Step& step) {
    size_t p = 0;
    for (; p + 4 <= problems; p += 4) step.template of<4>(p);
    for (; p + 2 <= problems; p += 2) step.template of<2>(p);
    if (p < problems) step.template of<1>(p);
}

// The moments of one feature of data that are stored by feature.
template <class T, class Index> struct FeatureMoments {
    SparseRows<T, Index> features;
    const double* factors;
    size_t problems;
    double* totals;
    size_t feature;

    template <size_t Problems> ISRHT_INLINE void of(size_t p) const {
        using Lane = typename ProblemLanes<Problems>::Type;
        Lane gradient{}, slope{}, square{};
        const size_t end = features.end(feature);
        for (size_t entry = features.begin(feature); entry < end; ++entry) {
            const double* of_row = factors + size_t(features.indices[entry]) * 2 * problems + p;
            const Lane first = *reinterpret_cast<const Lane*>(of_row);
            const Lane second = *reinterpret_cast<const Lane*>(of_row + problems);
            const double x = double(features.data[entry]);
            gradient += x * first;
            slope += x * second;
            square += (x * x) * second;
        }
        double* total = totals + feature * 3 * problems + p;
        *reinterpret_cast<Lane*>(total) = gradient;
        *reinterpret_cast<Lane*>(total + problems) = slope;
        *reinterpret_cast<Lane*>(total + 2 * problems) = square;
    }
};

template <class T, class Index>
void moments_of_features(SparseRows<T, Index> features, const double* factors, size_t problems, double* totals) {
    for (size_t k = 0; k < features.count; ++k)
        for_problems(problems, FeatureMoments<T, Index>{features, factors, problems, totals, k});
}

}  // namespace isrht::ISRHT_VARIANT
