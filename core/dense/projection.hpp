// The kernel that projects dense rows. Each row is rotated in a buffer that stays in the cache, and only its wanted
// columns leave the buffer, so the rotated matrix never exists.
#pragma once

#include "dense/finish.hpp"
#include "dense/rotation.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T, bool InTwo>
void project_rows(DenseRows<T> rows, const RowRotation<T>& rotate, Columns<T> columns, T* out) {
    const Finish<T, InTwo> finish(columns, rotate.head_length, rotate.tail_length, rotate.few, rows.count);
    Scratch scratch(rotate.size() * sizeof(T));
    T* buffer = static_cast<T*>(scratch.data);
    for (size_t i = 0; i < rows.count; ++i, out += columns.count) {
        rotate(rows.row(i), rows.row(i + 1 < rows.count ? i + 1 : i), buffer);
        finish(buffer, out);
    }
}

template <class T> void project_dense(DenseRows<T> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if (rows.count == 0) return;
    const RowRotation<T> rotate(rows.width, length, diagonal, &columns, rows.count);
    if (rotate.tail_length) project_rows<T, true>(rows, rotate, columns, out);
    else project_rows<T, false>(rows, rotate, columns, out);
}

}  // namespace isrht::ISRHT_VARIANT
