// The kernels that transform arrays in place: all rows, or along an axis that is not the last.
#pragma once

#include "dense/abreast.hpp"
#include "dense/stages.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// While a row of up to this many bytes is transformed, the memory of the next row is asked for; if rows are short, that
// of the row that lies a part ahead, because memory needs its time. In a longer row it is the next part of the row
// itself.
constexpr size_t kRowAhead = 131072;

// Short rows that follow one another are taken together, so many values at a time.
template <class T> constexpr size_t kTogether = 8192 / sizeof(T);

// Transforms rows, or pairs of rows that lie in turns (complex numbers): those are rows of twice the length without the
// stage of stride 1. The first pass over a row of several parts reads all of it, so there the requests have to end half
// a part beyond the next row.
template <class T, int Skip> void transform_rows(Cube<T> rows, T scale) {
    const size_t length = rows.length << Skip;
    constexpr ptrdiff_t part = kPart<T> * sizeof(T);
    if (length < kGroup<T>) {
        const bool following = rows.stride == ptrdiff_t(length);
        const size_t count = following ? 1 : rows.outer, total = following ? rows.outer * length : length;
        for (size_t i = 0; i < count; ++i)
            transform_short<T, Skip>(rows.block(i), total, length, scale, part + rows.elsewhere);
        return;
    }
    const bool long_row = length * sizeof(T) > kRowAhead;
    const ptrdiff_t rows_ahead = rows.stride * ptrdiff_t((kPart<T> - 1) / length + 1);
    const ptrdiff_t beyond = length > kPart<T> ? ptrdiff_t(kPart<T> / 2) : 0;
    const ptrdiff_t ahead = long_row ? ptrdiff_t(kPart<T>) : rows_ahead + beyond;
    const Transform<T> transform{scale, 1, length, {nullptr}, Skip == 1};
    const size_t together = rows.stride == ptrdiff_t(length) ? kTogether<T> / length : 0;
    if (together > 1) {
        for (size_t i = 0; i < rows.outer; i += together) {
            T* row = rows.block(i);
            const size_t count = rows.outer - i < together ? rows.outer - i : together;
            transform.run_rows(row, count * length, reinterpret_cast<intptr_t>(row) + part + rows.elsewhere);
        }
        return;
    }
    for (size_t i = 0; i < rows.outer; ++i) {
        T* row = rows.block(i);
        transform.run(row, reinterpret_cast<intptr_t>(row) + ahead * ptrdiff_t(sizeof(T)) + rows.elsewhere);
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
    else if (kFloating<T> && scale != T(1))
        for (size_t i = 0; i < length * inner; ++i) data[i] *= scale;
}

template <class T> void transform(Cube<T> cube, T scale) {
    if (cube.inner == 1) return transform_rows<T, 0>(cube, scale);
    if constexpr (kFloating<T>)
        if (cube.inner == 2) return transform_rows<T, 1>(cube, scale);
    for (size_t i = 0; i < cube.outer; ++i) transform_stack(cube.block(i), cube.length, cube.inner, scale);
}

// Transforms rows of 12 streams of up to 2^Log values, or of pairs of them, shorter than a vector.
template <class T, int Log = log2_of(size_t(Lanes<T>::count)) - 1>
void transform_twelve(Cube<T> cube, size_t stream, T scale) {
    if (stream == size_t(1) << Log)
        Twelve<T, Log>::transform_rows(cube.data, cube.outer, cube.stride, scale, cube.inner == 2);
    else if constexpr (Log > 0) transform_twelve<T, Log - 1>(cube, stream, scale);
}

// Transforms lengths 2^a * m * 2^b. What is left after the stages of the a largest strides are blocks of m * 2^b values,
// the largest that fit the first-level cache: the streams of a block lie near each other then, and do not fight for the
// same few places.
//
// All rows are multiplied by signs first, if there are any, in the pass that combines the streams, for which that must be
// the first one, and of 12.
template <class T> void transform_signed_streams(Cube<T> cube, const SmallMatrix& plan, T scale, const T* signs) {
    const size_t block = streams_block(plan, cube.length), length = block / plan.order, columns = length * cube.inner;
    if (plan.order == kTwelve && cube.length == block && cube.inner <= 2 && columns < size_t(Lanes<T>::count))
        return transform_twelve(cube, columns, scale);
    if (cube.length == block && goes_abreast(cube, plan)) return transform_abreast(cube, plan, scale);
    // Streams of short rows that follow one another are transformed together.
    const bool in_turn = cube.length == block && cube.stride == ptrdiff_t(plan.order * columns);
    const size_t fitting = in_turn ? kTogether<T> / (plan.order * columns) : 1, together = fitting ? fitting : 1;
    // What lies a part ahead in a row longer than that is cached already, so the next row is asked for.
    const size_t row = cube.length * cube.inner;
    const ptrdiff_t to_next = row > kPart<T> && row * sizeof(T) <= kRowAhead ? cube.stride - ptrdiff_t(kPart<T>) : 0;
    const ptrdiff_t elsewhere = cube.elsewhere + to_next * ptrdiff_t(sizeof(T));
    for (size_t i = 0; i < cube.outer; i += together) {
        const size_t rows = cube.outer - i < together ? cube.outer - i : together;
        if (cube.length > block) transform_stack(cube.block(i), cube.length / block, block * cube.inner, T(1));
        for (size_t at = 0; at < cube.length; at += block) {
            T* const data = cube.block(i) + at * cube.inner;
            for (size_t k = 0; k < rows; ++k) combine(data + k * plan.order * columns, columns, columns, plan, signs);
            transform<T>({data, rows * plan.order, length, cube.inner, ptrdiff_t(columns), elsewhere}, scale);
        }
    }
}

template <class T> void transform_streams(Cube<T> cube, SmallMatrix plan, T scale) {
    transform_signed_streams<T>(cube, plan, scale, nullptr);
}

// Returns whether rows of this length can be multiplied by signs there.
template <class T> bool takes_signs(const SmallMatrix& plan, size_t length) {
    return plan.order == kTwelve && length == streams_block(plan, length) &&
           length / plan.order >= size_t(Lanes<T>::count);
}

template <class T> void transform_top(T* data, size_t columns, size_t stride) {
    Upcoming nothing{0, false};
    radix_pass<T, 3>(data, columns, stride, nothing);
}

}  // namespace isrht::ISRHT_VARIANT
