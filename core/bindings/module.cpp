// The module isrht.kernels._core.
#include "bindings/bindings.hpp"

NB_MODULE(_core, m) {
    m.doc() = "The compiled kernels. Their twins in isrht.kernels._reference tell what each of them does.";
    isrht::bind_transform(m);
    isrht::bind_dense(m);
    isrht::bind_sparse(m);
    isrht::bind_linear(m);
    isrht::bind_descent(m);
    isrht::bind_boosting(m);
    isrht::bind_text(m);
    isrht::bind_variants(m);
}
