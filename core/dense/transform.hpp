// The kernels that transform arrays in place: all rows, or along an axis that is not the last.
#pragma once

#include "dense/stages.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// While a row of up to this many bytes is transformed, the memory of the next row is asked for; if rows are short, that
// of the row that lies a part ahead, because memory needs its time. In a longer row it is the next part of the row
// itself.
constexpr size_t kRowAhead = 131072;

// Transforms rows. The first pass over a row of several parts reads all of it, so there the requests have to end half a
// part beyond the next row.
template <class T> void transform_rows(Cube<T> rows, T scale) {
    const size_t length = rows.length;
    if (length < kGroup<T>) {
        if (rows.stride == ptrdiff_t(length)) return transform_short(rows.data, rows.outer * length, length, scale);
        for (size_t i = 0; i < rows.outer; ++i) transform_short(rows.block(i), length, length, scale);
        return;
    }
    const bool long_row = length * sizeof(T) > kRowAhead;
    const ptrdiff_t rows_ahead = rows.stride * ptrdiff_t((kPart<T> - 1) / length + 1);
    const ptrdiff_t beyond = length > kPart<T> ? ptrdiff_t(kPart<T> / 2) : 0;
    const ptrdiff_t ahead = long_row ? ptrdiff_t(kPart<T>) : rows_ahead + beyond;
    const Transform<T> transform{scale, 1, length, {nullptr}};
    for (size_t i = 0; i < rows.outer; ++i) {
        T* row = rows.block(i);
        transform.run(row, reinterpret_cast<intptr_t>(row) + ahead * ptrdiff_t(sizeof(T)));
    }
}

// Transforms along an axis that is not the last: whole rows of `inner` values are added to each other, those of large
// strides first, and then block after block of rows, each while it is cached.
template <class T> void transform_stack(T* data, size_t length, size_t inner, T scale) {
    const int stages = __builtin_ctzll(length), radix = stages <= 3 ? stages : stages == 4 ? 2 : 3;
    const size_t child = length >> radix;
    Upcoming nothing{0, false};
    if (radix) radix_pass(data, child * inner, radix, nothing);
    if (child > 1)
        for (size_t k = 0; k < size_t(1) << radix; ++k) transform_stack(data + k * child * inner, child, inner, scale);
    else if (scale != T(1))
        for (size_t i = 0; i < length * inner; ++i) data[i] *= scale;
}

template <class T> void transform(Cube<T> cube, T scale) {
    if (cube.inner == 1) return transform_rows(cube, scale);
    for (size_t i = 0; i < cube.outer; ++i) transform_stack(cube.block(i), cube.length, cube.inner, scale);
}

template <class T> void transform_top(T* data, size_t columns, size_t stride) {
    Upcoming nothing{0, false};
    radix_pass<T, 3>(data, columns, stride, nothing);
}

}  // namespace isrht::ISRHT_VARIANT
