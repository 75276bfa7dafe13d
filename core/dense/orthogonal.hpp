// The kernel that rotates rows without padding them: signs and an orthonormal transform, several times, in place.
//
// Where the width of a row is no length of a transform, a step rotates the first values of it, as many as the greatest
// length within, and the next step the last ones: the two overlap, and what one step leaves apart the other mixes. Rows
// go through all steps a few at a time, while they are in the first-level cache.
#pragma once

#include <limits>
#include <type_traits>

#include "dense/transform.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// So many bytes of rows go through all steps together.
constexpr size_t kRotatedTogether = 16384;

// Values are moderate if no transform of a row of them can overflow. The largest numbers that come up on the way are sums of
// all values of a row, because every step keeps the norm of a row. Values that are not finite are not moderate.
//
// What is too large, and everything that is not finite, has an exponent from a limit on: once its sign is cut off, the sum
// of its bits and `beyond` reaches the bit of the sign.
template <class T> struct Moderate {
    using Word = std::make_unsigned_t<typename BitsOf<T>::Type>;
    static constexpr Word kExponent = Word(1) << (std::numeric_limits<T>::digits - 1), kSign = ~(~Word(0) / 2);
    Vector<Word> beyond, found{};

    explicit Moderate(size_t width) : beyond(broadcast(Word(kExponent * Word(3 + log2_of(width))))) {}
    ISRHT_INLINE void look(Vector<T> x) { found |= ((Vector<Word>)x & ~kSign) + beyond; }
    bool all() const {
        Word any = 0;
        for (int lane = 0; lane < Lanes<T>::count; ++lane) any |= found[lane];
        return !(any & kSign);
    }
};

// Copies values to another place, which may be their own, times signs if there are any, and looks at them.
template <bool Signed, class T>
ISRHT_INLINE void move_values(const T* from, const T* signs, size_t count, T* to, Moderate<T>& moderate) {
    constexpr size_t N = size_t(Lanes<T>::count);
    Moderate<T> seen = moderate;  // a copy that stays in registers
    const auto moved = [&](const T* x, const T* s) {
        const Vector<T> value = load(x);
        seen.look(value);
        if constexpr (Signed) return value * load(s);
        else return value;
    };
    size_t k = 0;
#pragma GCC unroll 4
    for (; k + N <= count; k += N) store(to + k, moved(from + k, signs + k));
    if (k < count) {
        T rest[N] = {}, factors[N] = {};
        for (size_t i = 0; i < count - k; ++i) rest[i] = from[k + i];
        if constexpr (Signed)
            for (size_t i = 0; i < count - k; ++i) factors[i] = signs[k + i];
        store(rest, moved(rest, factors));
        for (size_t i = 0; i < count - k; ++i) to[k + i] = rest[i];
    }
    moderate = seen;
}

// Multiplies values by signs.
template <class T> inline void flip_signs(T* values, const T* signs, size_t count) {
    for (size_t k = 0; k < count; ++k) values[k] *= signs[k];
}

template <class T> struct Orthogonal {
    RotationSteps<T> steps;
    SmallMatrix plan;

    void transform_step(T* rows, size_t step, size_t count, ptrdiff_t stride, ptrdiff_t elsewhere,
                        const T* signs = nullptr) const {
        const Cube<T> cube{rows + steps.starts[step], count, steps.length, 1, stride, elsewhere};
        if (plan.order == 1) transform<T>(cube, steps.scale);
        else transform_signed_streams<T>(cube, plan, steps.scale, signs);
    }
    const T* signs_of(size_t step) const { return steps.signs + step * steps.length; }
    void flip(T* rows, size_t step, size_t count, ptrdiff_t stride) const {
        for (size_t i = 0; i < count; ++i)
            flip_signs(rows + ptrdiff_t(i) * stride + steps.starts[step], signs_of(step), steps.length);
    }
    // The first step asks for the memory that will be written next, and those after it for the rows that will be read.
    static ptrdiff_t apart(DenseRows<T> rows, const T* to) {
        return reinterpret_cast<intptr_t>(rows.row(0)) - reinterpret_cast<intptr_t>(to);
    }
    // Rotates rows that are on their way to `to`, and returns whether they were moderate. The first signs are flipped while
    // they are copied.
    bool forward(DenseRows<T> rows, T* to, ptrdiff_t stride) const {
        const size_t start = size_t(steps.starts[0]), end = start + steps.length;
        Moderate<T> moderate(rows.width);
        for (size_t i = 0; i < rows.count; ++i) {
            const T* const from = rows.row(i);
            T* const row = to + ptrdiff_t(i) * stride;
            move_values<false>(from, from, start, row, moderate);
            move_values<true>(from + start, steps.signs, steps.length, row + start, moderate);
            move_values<false>(from + end, from, rows.width - end, row + end, moderate);
        }
        const bool fused = takes_signs<T>(plan, steps.length);
        for (size_t step = 0; step < steps.count; ++step) {
            if (step && !fused) flip(to, step, rows.count, stride);
            transform_step(to, step, rows.count, stride, step ? apart(rows, to) : 0,
                           step && fused ? signs_of(step) : nullptr);
        }
        return moderate.all();
    }
    bool backward(DenseRows<T> rows, T* to, ptrdiff_t stride) const {
        Moderate<T> moderate(rows.width);
        for (size_t i = 0; i < rows.count; ++i)
            move_values<false>(rows.row(i), rows.row(i), rows.width, to + ptrdiff_t(i) * stride, moderate);
        for (size_t step = steps.count; step-- > 0;) {
            transform_step(to, step, rows.count, stride, step + 1 < steps.count ? apart(rows, to) : 0);
            flip(to, step, rows.count, stride);
        }
        return moderate.all();
    }
};

template <class T> ISRHT_SMALL bool all_finite(const T* values, size_t count) {
    bool finite = true;
    for (size_t k = 0; k < count; ++k) finite &= values[k] - values[k] == T(0);
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
        if (inverse ? rotation.backward(some, to, out.stride) : rotation.forward(some, to, out.stride)) continue;
        for (size_t k = 0; k < count; ++k) finite &= all_finite(to + ptrdiff_t(k) * out.stride, rows.width);
    }
    return finite;
}

}  // namespace isrht::ISRHT_VARIANT
