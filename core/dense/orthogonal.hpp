// The kernel that rotates rows without padding them: signs and an orthonormal transform, several times, in place.
//
// Where the width of a row is no length of a transform, a step rotates the first values of it, as many as the greatest
// length within, and the next step the last ones: the two overlap, and what one step leaves apart the other mixes. Rows
// go through all steps a few at a time, while they are in the first-level cache.
#pragma once

#include <limits>

#include "dense/transform.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// So many bytes of rows go through all steps together.
constexpr size_t kRotatedTogether = 16384;

// Multiplies values by signs on their way to another place, which may be their own.
template <class T> inline void flip_signs(const T* from, const T* signs, size_t count, T* to) {
    for (size_t k = 0; k < count; ++k) to[k] = from[k] * signs[k];
}

template <class T> inline void copy_values(const T* from, size_t count, T* to) {
    if (from == to) return;
    for (size_t k = 0; k < count; ++k) to[k] = from[k];
}

template <class T> struct Orthogonal {
    RotationSteps<T> steps;
    SmallMatrix plan;

    void transform_step(T* rows, size_t step, size_t count, ptrdiff_t stride, ptrdiff_t elsewhere = 0) const {
        const Cube<T> cube{rows + steps.starts[step], count, steps.length, 1, stride, elsewhere};
        if (plan.order == 1) transform<T>(cube, steps.scale);
        else transform_streams<T>(cube, plan, steps.scale);
    }
    void flip(T* rows, size_t step, size_t count, ptrdiff_t stride) const {
        for (size_t i = 0; i < count; ++i) {
            T* const at = rows + ptrdiff_t(i) * stride + steps.starts[step];
            flip_signs(at, steps.signs + step * steps.length, steps.length, at);
        }
    }
    // The first step asks for the memory that will be written next, and those after it for the rows that will be read.
    static ptrdiff_t apart(DenseRows<T> rows, const T* to) {
        return reinterpret_cast<intptr_t>(rows.row(0)) - reinterpret_cast<intptr_t>(to);
    }
    // Rotates rows that are on their way to `to`. The first signs are flipped while they are copied.
    void forward(DenseRows<T> rows, T* to, ptrdiff_t stride) const {
        const size_t start = size_t(steps.starts[0]), end = start + steps.length;
        for (size_t i = 0; i < rows.count; ++i) {
            const T* const from = rows.row(i);
            T* const row = to + ptrdiff_t(i) * stride;
            copy_values(from, start, row);
            flip_signs(from + start, steps.signs, steps.length, row + start);
            copy_values(from + end, rows.width - end, row + end);
        }
        for (size_t step = 0; step < steps.count; ++step) {
            if (step) flip(to, step, rows.count, stride);
            transform_step(to, step, rows.count, stride, step ? apart(rows, to) : 0);
        }
    }
    void backward(DenseRows<T> rows, T* to, ptrdiff_t stride) const {
        for (size_t i = 0; i < rows.count; ++i) copy_values(rows.row(i), rows.width, to + ptrdiff_t(i) * stride);
        for (size_t step = steps.count; step-- > 0;) {
            transform_step(to, step, rows.count, stride, step + 1 < steps.count ? apart(rows, to) : 0);
            flip(to, step, rows.count, stride);
        }
    }
};

// Returns whether all values are finite. The exponent of those that are not is all ones, and one more is the bit of the
// sign. It is compiled for size: its loop is of vectors anyway.
template <class T> ISRHT_SMALL bool all_finite(const T* values, size_t count) {
    using Word = typename BitsOf<T>::Type;
    using Bits = typename Lanes<T>::Bits;
    constexpr size_t N = size_t(Lanes<T>::count);
    constexpr Word lowest = Word(1) << (std::numeric_limits<T>::digits - 1);
    constexpr Word exponent = std::numeric_limits<Word>::max() / lowest * lowest;
    Bits found{};
    size_t k = 0;
    for (; k + N <= count; k += N) found |= ((Bits)load(values + k) & exponent) + lowest;
    bool finite = true;
    for (size_t lane = 0; lane < N; ++lane) finite &= found[lane] >= 0;
    for (; k < count; ++k) finite &= values[k] - values[k] == T(0);
    return finite;
}

template <class T>
bool rotate_rows(DenseRows<T> rows, RotationSteps<T> steps, SmallMatrix plan, bool inverse, RowsTo<T> out) {
    const Orthogonal<T> rotation{steps, plan};
    const size_t fitting = kRotatedTogether / (rows.width * sizeof(T));
    // Rows that are taken side by side should be as many as there are lanes.
    const size_t least = steps.length / plan.order < size_t(Lanes<T>::count) ? size_t(Lanes<T>::count) : 1;
    const size_t together = fitting < least ? least : fitting;
    bool finite = true;
    for (size_t i = 0; i < rows.count; i += together) {
        const size_t count = rows.count - i < together ? rows.count - i : together;
        const DenseRows<T> some{rows.row(i), count, rows.width, rows.stride};
        T* const to = out.data + ptrdiff_t(i) * out.stride;
        if (inverse) rotation.backward(some, to, out.stride);
        else rotation.forward(some, to, out.stride);
        if (out.stride == ptrdiff_t(rows.width)) finite &= all_finite(to, count * rows.width);
        else
            for (size_t k = 0; k < count; ++k) finite &= all_finite(to + ptrdiff_t(k) * out.stride, rows.width);
    }
    return finite;
}

}  // namespace isrht::ISRHT_VARIANT
