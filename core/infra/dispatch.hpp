// Which variant of the kernels serves: the best that this processor can run, unless another one is asked for.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "kernels.hpp"

namespace isrht {

// Returns the names of the variants that are built in and run on this processor, the best last.
std::vector<std::string> available_variants();

// Returns the names of the instruction sets that this processor has and some variant could use.
std::vector<std::string> processor_features();

// Returns the kernels that serve now.
const Kernels& active_kernels();

// Lets the variant of this name serve. Throws std::invalid_argument for one that is not available.
void use_variant(const std::string& name);

// Returns the transforms that serve now for values of type T.
template <class T> const TransformKernels<T>& transform_kernels() {
    if constexpr (std::is_same_v<T, float>) return active_kernels().transform32;
    else if constexpr (std::is_same_v<T, double>) return active_kernels().transform64;
    else if constexpr (sizeof(T) == 4) return active_kernels().integers->transform32;
    else return active_kernels().integers->transform64;
}

// Returns the kernels that serve now for values of type T.
template <class T> const DenseKernels<T>& dense_kernels() {
    if constexpr (sizeof(T) == 4) return active_kernels().dense32;
    else return active_kernels().dense64;
}

// Returns the kernels that serve now for values of type T with indices of type Index.
template <class T, class Index> const SparseKernels<T, Index>& sparse_kernels() {
    if constexpr (sizeof(T) == 4 && sizeof(Index) == 4) return active_kernels().sparse32;
    else if constexpr (sizeof(T) == 4) return active_kernels().sparse32_long;
    else if constexpr (sizeof(Index) == 4) return active_kernels().sparse64;
    else return active_kernels().sparse64_long;
}

}  // namespace isrht
