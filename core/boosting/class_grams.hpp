// The kernel that finds how alike the classes pull at the features of sparse data that are stored by feature.
//
// The gradients of all classes in all features would be a large array, of which only their products are wanted: a matrix
// (classes, classes). So the gradients of a feature are summed, centred and multiplied while they are in the cache.
#pragma once

#include "boosting/outer_products.hpp"
#include "boosting/small_svms.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// So many vectors of classes are summed at a time.
constexpr size_t kClassVectors = 4;

// Sums over rows of a feature times the residuals of some classes.
template <class T, class Index> struct FeatureGradient {
    const SparseRows<T, Index>& features;
    const ClassResiduals& residuals;
    size_t feature;
    double* gradient;

    template <size_t Vectors> ISRHT_INLINE void of(size_t first) const {
        constexpr size_t lanes = size_t(Lanes<double>::count);
        const size_t stride = gram_stride(residuals.classes), end = features.end(feature);
        const double* values = residuals.values + first * lanes;
        Vector<double> sum[Vectors] = {};
        for (size_t entry = features.begin(feature); entry < end; ++entry) {
            const double value = double(features.data[entry]);
            const double* row = values + size_t(features.indices[entry]) * stride;
            for (size_t v = 0; v < Vectors; ++v) sum[v] += value * load(row + v * lanes);
        }
        for (size_t v = 0; v < Vectors; ++v) store(gradient + (first + v) * lanes, sum[v]);
    }
};

// Sets `gradient` to the sums over rows of a feature times the residuals of all classes, less what its mean gives.
template <class T, class Index> ISRHT_INLINE void centred_gradient(const FeatureGradient<T, Index>& sums, double mean) {
    const ClassResiduals& residuals = sums.residuals;
    in_groups<kClassVectors>(0, gram_stride(residuals.classes) / size_t(Lanes<double>::count), sums);
    for (size_t c = 0; c < residuals.classes; ++c) sums.gradient[c] -= mean * residuals.sums[c];
}

template <class T, class Index>
void add_class_gram(SparseRows<T, Index> features, const ClassResiduals& residuals, const double* mean,
                    const double* factor, double* gram) {
    const size_t classes = residuals.classes, stride = gram_stride(classes);
    Scratch scratch((kGathered * stride + classes * stride) * sizeof(double));
    double *gathered = static_cast<double*>(scratch.data), *sums = gathered + kGathered * stride;
    double factors[kGathered];
    size_t waiting = 0;
    for (size_t i = 0; i < classes * stride; ++i) sums[i] = 0;
    for (size_t k = 0; k < features.count; ++k) {
        if (factor[k] != 0) {
            centred_gradient<T, Index>({features, residuals, k, gathered + waiting * stride}, mean[k]);
            factors[waiting++] = factor[k];
        }
        if (waiting == kGathered || k + 1 == features.count) {
            add_outer_products({gathered, factors, waiting, classes}, sums);
            waiting = 0;
        }
    }
    for (size_t i = 0; i < classes; ++i)
        for (size_t j = 0; j < classes; ++j)
            gram[i * classes + j] += j <= i ? sums[i * stride + j] : sums[j * stride + i];
}

}  // namespace isrht::ISRHT_VARIANT
