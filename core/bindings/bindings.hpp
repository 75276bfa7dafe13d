// Python's door to the kernels. Each file of this folder binds the functions of one topic, and module.cpp puts them
// together.
//
// A binding checks its arguments (arrays.hpp), lets go of the GIL, and calls a kernel of the variant that serves.
#pragma once

#include <nanobind/nanobind.h>

namespace isrht {

void bind_transform(nanobind::module_& m);
void bind_dense(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_descent(nanobind::module_& m);
void bind_boosting(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_variants(nanobind::module_& m);

}  // namespace isrht
