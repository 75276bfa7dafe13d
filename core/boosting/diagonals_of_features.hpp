// The kernel that makes learned diagonals of sparse data that are stored by feature, and the products of the rows with
// them.
//
// It works on a piece of the features at a time, so that the moments, the diagonals and the products of a feature meet
// in the cache and need not be stored.
#pragma once

#include "boosting/diagonals.hpp"
#include "sparse/moments.hpp"

namespace isrht::ISRHT_VARIANT {

// Adds one feature times its entries in the diagonals of all problems to the products of the rows.
template <class T, class Index> struct FeatureProducts {
    SparseRows<T, Index> features;
    const double* diagonals;
    size_t problems;
    double* products;
    size_t feature;

    template <size_t Problems> ISRHT_INLINE void of(size_t p) const {
        using Lane = typename ProblemLanes<Problems>::Type;
        const Lane factor = *reinterpret_cast<const Lane*>(diagonals + feature * problems + p);
        const size_t end = features.end(feature);
        for (size_t entry = features.begin(feature); entry < end; ++entry) {
            Lane& sum = *reinterpret_cast<Lane*>(products + size_t(features.indices[entry]) * problems + p);
            sum += double(features.data[entry]) * factor;
        }
    }
};

template <class T, class Index>
void diagonals_of_features(SparseRows<T, Index> features, const double* factors, const DiagonalTask& task,
                           double* products) {
    const size_t problems = task.problems.count;
    Scratch scratch(kFeaturePiece * 4 * problems * sizeof(double));
    double *moments = static_cast<double*>(scratch.data), *diagonals = moments + kFeaturePiece * 3 * problems;
    for (size_t from = 0; from < features.count; from += kFeaturePiece) {
        const size_t left = features.count - from, size = left < kFeaturePiece ? left : kFeaturePiece;
        const SparseRows<T, Index> piece{features.data, features.indices, features.indptr + from, size, features.width};
        moments_of_features(piece, factors, problems, moments);
        make_diagonals(moments, task.piece(from, size), diagonals);
        for (size_t k = 0; k < size; ++k)
            for_problems(problems, FeatureProducts<T, Index>{piece, diagonals, problems, products, k});
    }
}

}  // namespace isrht::ISRHT_VARIANT
