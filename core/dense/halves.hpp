// Numbers of 16 bits, IEEE's half precision and bfloat16, as float and back, a vector at a time.
//
// A half has 5 bits of exponent and 10 of fraction. Its bits, moved to where a float has them, are a float that is 2^112
// times too small, of zeros and of subnormal halves too, so one exact product widens it. To narrow a float is to
// round its bits to the nearest, ties to even; those of a subnormal half by a sum with a power of two, which lets the
// processor round. A bfloat16 is the upper half of a float.
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

typedef uint32_t Bits32 __attribute__((vector_size(kVectorBytes)));
typedef uint16_t Bits16 __attribute__((vector_size(kVectorBytes / 2)));
typedef uint16_t Bits16Anywhere __attribute__((vector_size(kVectorBytes / 2), aligned(2), may_alias));

// Returns a where the mask is all ones, and b where it is zero.
ISRHT_INLINE Bits32 chosen(Words mask, Bits32 a, Bits32 b) { return (a & (Bits32)mask) | (b & ~(Bits32)mask); }

ISRHT_INLINE Vector<float> widened(Bits32 half) {
    const Bits32 sign = (half & 0x8000u) << 16, rest = (half & 0x7fffu) << 13;
    const Vector<float> value = (Vector<float>)rest * 0x1p112f;
    const Words not_finite = (Words)(rest >= (Bits32{} + 0x0f800000u));
    return (Vector<float>)((Bits32)value | sign | ((Bits32)not_finite & 0x7f800000u));
}

ISRHT_INLINE Bits32 narrowed(Vector<float> value) {
    const Bits32 bits = (Bits32)value, rest = bits & 0x7fffffffu, odd = (rest >> 13) & 1u;
    const Bits32 normal = (rest + (0xc8000fffu + odd)) >> 13;  // 112 less in the exponent, and half of the last place
    const Bits32 small = (Bits32)((Vector<float>)rest + 0.5f) - 0x3f000000u;
    const Words is_small = (Words)(rest < (Bits32{} + 0x38800000u));
    const Words is_large = (Words)(rest >= (Bits32{} + 0x47800000u));
    const Words is_nan = (Words)(rest > (Bits32{} + 0x7f800000u));
    const Bits32 large = 0x7c00u | ((Bits32)is_nan & 0x200u);
    return (bits >> 16 & 0x8000u) | chosen(is_large, large, chosen(is_small, small, normal));
}

ISRHT_INLINE Vector<float> widened_brain(Bits32 brain) { return (Vector<float>)(brain << 16); }

ISRHT_INLINE Bits32 narrowed_brain(Vector<float> value) {
    const Bits32 bits = (Bits32)value, rounded = bits + 0x7fffu + (bits >> 16 & 1u);
    const Words is_nan = (Words)((bits & 0x7fffffffu) > (Bits32{} + 0x7f800000u));
    return chosen(is_nan, bits | 0x400000u, rounded) >> 16;
}

// Calls `convert` for whole vectors, and for what is left by way of arrays of that size.
template <class From, class To, class Convert>
ISRHT_INLINE void convert_all(const From* from, size_t count, To* to, Convert convert) {
    constexpr size_t N = size_t(Lanes<float>::count);
    size_t k = 0;
    for (; k + N <= count; k += N) convert(from + k, to + k);
    if (k == count) return;
    const size_t left = count - k;
    From last[N] = {};
    To result[N];
    for (size_t i = 0; i < left; ++i) last[i] = from[k + i];
    convert(last, result);
    for (size_t i = 0; i < left; ++i) to[k + i] = result[i];
}

inline void widen_halves(const uint16_t* from, size_t count, bool brain, float* to) {
    const auto read = [](const uint16_t* at) {
        return __builtin_convertvector(*reinterpret_cast<const Bits16Anywhere*>(at), Bits32);
    };
    if (brain)
        convert_all(from, count, to, [=](const uint16_t* at, float* out) { store(out, widened_brain(read(at))); });
    else convert_all(from, count, to, [=](const uint16_t* at, float* out) { store(out, widened(read(at))); });
}

inline void narrow_halves(const float* from, size_t count, bool brain, uint16_t* to) {
    const auto write = [](Bits32 bits, uint16_t* at) {
        *reinterpret_cast<Bits16Anywhere*>(at) = __builtin_convertvector(bits, Bits16);
    };
    if (brain)
        convert_all(from, count, to, [=](const float* at, uint16_t* out) { write(narrowed_brain(load(at)), out); });
    else convert_all(from, count, to, [=](const float* at, uint16_t* out) { write(narrowed(load(at)), out); });
}

}  // namespace isrht::ISRHT_VARIANT
