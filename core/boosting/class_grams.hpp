// The kernel that finds how alike the classes pull at the features of sparse data that are stored by feature.
//
// The gradients of all classes in all features would be a large array, of which only their products are wanted: a matrix
// (classes, classes). So the gradients of a feature are summed, centred and multiplied while they are in the cache.
#pragma once

#include "boosting/outer_products.hpp"
#include "boosting/small_svms.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// Sets `gradient` to the sums over rows of a feature times the residuals of all classes, less what its mean gives.
template <class T, class Index>
ISRHT_INLINE void centred_gradient(const SparseRows<T, Index>& features, size_t k, const ClassResiduals& residuals,
                                   double mean, double* gradient) {
    const size_t stride = gram_stride(residuals.classes), lanes = size_t(Lanes<double>::count);
    for (size_t c = 0; c < stride; ++c) gradient[c] = 0;
    for (size_t entry = features.begin(k); entry < features.end(k); ++entry) {
        const double value = double(features.data[entry]);
        const double* row = residuals.values + size_t(features.indices[entry]) * stride;
        for (size_t c = 0; c < stride; c += lanes) store(gradient + c, load(gradient + c) + value * load(row + c));
    }
    for (size_t c = 0; c < residuals.classes; ++c) gradient[c] -= mean * residuals.sums[c];
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
            centred_gradient(features, k, residuals, mean[k], gathered + waiting * stride);
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
