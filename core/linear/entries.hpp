// The entries of one row, whatever the row is, for kernels that do the same with dense and with sparse rows.
#pragma once

#include "infra/inline.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// An entry has a value and a feature. A dense row has an entry for every feature.
template <class T> struct DenseEntries {
    const T* values;
    size_t count;

    ISRHT_INLINE T value(size_t entry) const { return values[entry]; }
    ISRHT_INLINE size_t feature(size_t entry) const { return entry; }
};
template <class T, class Index> struct SparseEntries {
    const T* values;
    const Index* features;
    size_t count;

    ISRHT_INLINE T value(size_t entry) const { return values[entry]; }
    ISRHT_INLINE size_t feature(size_t entry) const { return size_t(features[entry]); }
};

template <class T> ISRHT_INLINE DenseEntries<T> entries_of(DenseRows<T> rows, size_t row) {
    return {rows.row(row), rows.width};
}
template <class T, class Index> ISRHT_INLINE SparseEntries<T, Index> entries_of(SparseRows<T, Index> rows, size_t row) {
    return {rows.data + rows.begin(row), rows.indices + rows.begin(row), rows.end(row) - rows.begin(row)};
}

}  // namespace isrht::ISRHT_VARIANT
