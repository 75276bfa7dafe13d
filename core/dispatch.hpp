// Which variant of the kernels serves: the best this processor can run, unless another is asked for.
#pragma once

#include <string>
#include <vector>

#include "kernels.hpp"

namespace isrht {

// Variants that are built in and run on this processor, the best last.
std::vector<std::string> available_variants();

// Instruction sets the kernels could use that this processor has.
std::vector<std::string> processor_features();

const Kernels& active_kernels();

// Throws std::invalid_argument for a name that is not available.
void use_variant(const std::string& name);

}  // namespace isrht
