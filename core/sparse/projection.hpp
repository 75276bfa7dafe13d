// The kernel that projects sparse rows, exactly and without rotating them, in one of two ways.
#pragma once

#include "sparse/grouped_projection.hpp"
#include "sparse/tabled_projection.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T, class Index>
void project_sparse(SparseRows<T, Index> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if (columns.count == 0) return;
    if constexpr (sizeof(T) == 8)
        if (columns.count >= kManyColumns) return project_tabled(rows, diagonal, length, columns, out);
    project_grouped(rows, diagonal, length, columns, out);
}

}  // namespace isrht::ISRHT_VARIANT
