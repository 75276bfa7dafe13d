// The bindings that tell and choose which variant of the kernels serves.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.hpp"
#include "infra/dispatch.hpp"

namespace isrht {

namespace nb = nanobind;
using namespace nb::literals;

void bind_variants(nb::module_& m) {
    m.def("available_variants", &available_variants);
    m.def("processor_features", &processor_features);
    m.def("active_variant", [] { return std::string(active_kernels().name); });
    m.def("use_variant", &use_variant, "name"_a);
}

}  // namespace isrht
