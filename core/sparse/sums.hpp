// The kernel that adds up sparse rows, in double.
#pragma once

#include "infra/vector.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T, class Index> void add_sparse_rows(SparseRows<T, Index> rows, RowChoice chosen, double* totals) {
    for (size_t c = 0; c < chosen.count; ++c) {
        const size_t row = size_t(chosen.index[c]), end = rows.end(row);
        for (size_t entry = rows.begin(row); entry < end; ++entry)
            totals[size_t(rows.indices[entry])] += double(rows.data[entry]);
    }
}

}  // namespace isrht::ISRHT_VARIANT
