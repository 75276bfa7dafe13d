// The entries of one row, whatever the row is, for kernels that do the same with dense and with sparse rows.
#pragma once

#include "infra/inline.hpp"
#include "infra/scratch.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// Asks for memory before it is needed, but not for so much that it drives out what is needed now.
ISRHT_INLINE void fetch_some(const void* from, size_t bytes) {
    constexpr size_t most = 2048;
    for (size_t at = 0; at < bytes && at < most; at += kCacheLine)
        __builtin_prefetch(static_cast<const char*>(from) + at, 0, 3);
}

// An entry has a value and a feature. A dense row has an entry for every feature.
template <class T> struct DenseEntries {
    const T* values;
    size_t count;

    ISRHT_INLINE T value(size_t entry) const { return values[entry]; }
    ISRHT_INLINE size_t feature(size_t entry) const { return entry; }
    ISRHT_INLINE void fetch() const { fetch_some(values, count * sizeof(T)); }
};
template <class T, class Index> struct SparseEntries {
    const T* values;
    const Index* features;
    size_t count;

    ISRHT_INLINE T value(size_t entry) const { return values[entry]; }
    ISRHT_INLINE size_t feature(size_t entry) const { return size_t(features[entry]); }
    ISRHT_INLINE void fetch() const {
        fetch_some(values, count * sizeof(T));
        fetch_some(features, count * sizeof(Index));
    }
};

template <class T> ISRHT_INLINE DenseEntries<T> entries_of(DenseRows<T> rows, size_t row) {
    return {rows.row(row), rows.width};
}
template <class T, class Index> ISRHT_INLINE SparseEntries<T, Index> entries_of(SparseRows<T, Index> rows, size_t row) {
    return {rows.data + rows.begin(row), rows.indices + rows.begin(row), rows.end(row) - rows.begin(row)};
}

}  // namespace isrht::ISRHT_VARIANT
