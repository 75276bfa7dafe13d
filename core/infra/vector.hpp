// Vectors of ISRHT_VECTOR_BYTES bytes, by the vector extensions of GCC and Clang: one source for every width.
//
// This file is compiled only as part of a variant (core/variants), which has defined ISRHT_VARIANT, its namespace, and
// ISRHT_VECTOR_BYTES. Everything here has the variant's name in its symbol, so the linker can never hand code that was
// compiled for a newer processor to an older one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "infra/inline.hpp"
#include "infra/scratch.hpp"

#if defined(__FMA__) || defined(__AVX2__)
#include <immintrin.h>
#endif

#ifdef __aarch64__
#include <arm_neon.h>
#endif

#if (defined(__FMA__) && ISRHT_VECTOR_BYTES == 32) || (defined(__AVX512F__) && ISRHT_VECTOR_BYTES == 64)
#define ISRHT_FUSES 1
#endif

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define ISRHT_HAS_SHUFFLEVECTOR 1
#endif
#endif

namespace isrht::ISRHT_VARIANT {

constexpr size_t kVectorBytes = ISRHT_VECTOR_BYTES;
// Whether a product and a sum can be one instruction.
#ifdef ISRHT_FUSES
constexpr bool kFuses = true;
#else
constexpr bool kFuses = false;
#endif

// The integer that is as wide as a value.
template <class T> struct BitsOf {
    using Type = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
};

// Whether values are floating-point numbers. Others are unsigned integers, whose sums wrap around as those of signed
// ones do in memory, but by the rules of the language.
template <class T> constexpr bool kFloating = std::is_floating_point_v<T>;

// The types of a vector of values. They are typedefs in a struct rather than alias templates, from which GCC drops the
// attribute.
template <class T> struct Lanes {
    using Bit = typename BitsOf<T>::Type;
    static constexpr int count = int(kVectorBytes / sizeof(T));
    typedef T Vector __attribute__((vector_size(kVectorBytes)));
    typedef Bit Bits __attribute__((vector_size(kVectorBytes)));
    typedef T Unaligned __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));
};
template <class T> using Vector = typename Lanes<T>::Vector;

// The types of half a vector; the second one may lie at any address.
template <class T> struct Half {
    typedef T Vector __attribute__((vector_size(kVectorBytes / 2)));
    typedef T Unaligned __attribute__((vector_size(kVectorBytes / 2), aligned(alignof(T)), may_alias));
};

// A vector of 16 bytes, the narrowest, which may lie at any address.
template <class T> struct Narrow {
    static constexpr int count = int(16 / sizeof(T));
    typedef T Unaligned __attribute__((vector_size(16), aligned(alignof(T)), may_alias));
};

typedef int32_t Words __attribute__((vector_size(kVectorBytes)));

template <class T> ISRHT_INLINE Vector<T> load(const T* from) {
    return *reinterpret_cast<const typename Lanes<T>::Unaligned*>(from);
}
template <class T> ISRHT_INLINE void store(T* to, Vector<T> value) {
    *reinterpret_cast<typename Lanes<T>::Unaligned*>(to) = value;
}
template <class T> ISRHT_INLINE Vector<T> broadcast(T value) { return Vector<T>{} + value; }

// load_few reads as many values as a vector of doubles holds, and as_doubles widens them.
ISRHT_INLINE Vector<double> load_few(const double* from) { return load(from); }
ISRHT_INLINE Half<float>::Vector load_few(const float* from) {
    return *reinterpret_cast<const typename Half<float>::Unaligned*>(from);
}
ISRHT_INLINE Vector<double> as_doubles(Vector<double> few) { return few; }
ISRHT_INLINE Vector<double> as_doubles(Half<float>::Vector few) { return __builtin_convertvector(few, Vector<double>); }
template <class T> ISRHT_INLINE Vector<double> load_as_double(const T* from) { return as_doubles(load_few(from)); }

// Asks for memory before it is needed. The address is computed as an integer, because it may lie outside of any object,
// to which a pointer must not point. A prefetch does not mind.
ISRHT_INLINE void prefetch_at(const void* from, ptrdiff_t bytes) {
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<intptr_t>(from) + bytes), 0, 3);
}

// Lane i of the result is lane i ^ Stride of x.
template <class T, int Stride, size_t... Lane>
ISRHT_INLINE Vector<T> swap_lanes(Vector<T> x, std::index_sequence<Lane...>) {
#if defined(__AVX2__) && ISRHT_VECTOR_BYTES == 32
    // This is one instruction for float and double. GCC would take a slower one for double.
    if constexpr (2 * Stride == Lanes<T>::count) return (Vector<T>)_mm256_permute2f128_pd((__m256d)x, (__m256d)x, 1);
#endif
#ifdef ISRHT_HAS_SHUFFLEVECTOR
    return __builtin_shufflevector(x, x, (int(Lane) ^ Stride)...);
#else
    return __builtin_shuffle(x, typename Lanes<T>::Bits{typename BitsOf<T>::Type(int(Lane) ^ Stride)...});
#endif
}

// Lane i of the result is -1 where i has the bit of Stride, else 1.
template <class T, int Stride, size_t... Lane> ISRHT_INLINE Vector<T> alternate(std::index_sequence<Lane...>) {
    return Vector<T>{((int(Lane) & Stride) ? T(-1) : T(1))...};
}

// The bit of each lane that is the sign of its value.
template <class T> ISRHT_INLINE typename Lanes<T>::Bits top_bit() {
    using Bit = typename BitsOf<T>::Type;
    return typename Lanes<T>::Bits{} + Bit(uint64_t(1) << (8 * sizeof(T) - 1));
}

// Returns x * sign for integers, where sign is +1 or -1 in each lane.
template <class T> ISRHT_INLINE Vector<T> with_sign(Vector<T> x, Vector<T> sign) {
#if defined(__AVX2__) && ISRHT_VECTOR_BYTES == 32
    if constexpr (sizeof(T) == 4) return (Vector<T>)_mm256_sign_epi32((__m256i)x, (__m256i)sign);
#endif
    const Vector<T> negated = (Vector<T>)((typename Lanes<T>::Bits)sign < 0);
    return (x ^ negated) - negated;
}

// Returns x * sign + y, where sign is +1 or -1. The product is exact, so the bits are the same whether it is fused or
// not.
template <class T> ISRHT_INLINE Vector<T> signed_add(Vector<T> x, Vector<T> sign, Vector<T> y) {
    if constexpr (!kFloating<T>) {
        return y + with_sign<T>(x, sign);
    } else {
#if defined(ISRHT_FUSES) && ISRHT_VECTOR_BYTES == 32
        if constexpr (sizeof(T) == 4) return (Vector<T>)_mm256_fmadd_ps((__m256)x, (__m256)sign, (__m256)y);
        else return (Vector<T>)_mm256_fmadd_pd((__m256d)x, (__m256d)sign, (__m256d)y);
#elif defined(ISRHT_FUSES)
        if constexpr (sizeof(T) == 4) return (Vector<T>)_mm512_fmadd_ps((__m512)x, (__m512)sign, (__m512)y);
        else return (Vector<T>)_mm512_fmadd_pd((__m512d)x, (__m512d)sign, (__m512d)y);
#elif defined(__aarch64__) && ISRHT_VECTOR_BYTES == 16
        if constexpr (sizeof(T) == 4) return (Vector<T>)vfmaq_f32((float32x4_t)y, (float32x4_t)x, (float32x4_t)sign);
        else return (Vector<T>)vfmaq_f64((float64x2_t)y, (float64x2_t)x, (float64x2_t)sign);
#else
        using Bits = typename Lanes<T>::Bits;
        return y + (Vector<T>)((Bits)x ^ ((Bits)sign & top_bit<T>()));
#endif
    }
}

// Replaces the pair (a, b) by (a + b, a - b).
template <class V> ISRHT_INLINE void butterfly(V& a, V& b) {
    const V low = a, high = b;
    a = low + high;
    b = low - high;
}

// The same, but the difference is a fused product with -1. Processors compute those in other units than sums, at the
// same time.
template <class T> ISRHT_INLINE void butterfly_fused(Vector<T>& a, Vector<T>& b, Vector<T> minus_one) {
    const Vector<T> low = a, high = b;
    a = low + high;
    b = signed_add<T>(high, minus_one, low);
}

// The butterfly of `a` and a vector in memory. With AVX2, the sum and the difference each read the vector as an
// operand, which saves the instruction that loads it. Compilers load it once for both, hence the assembler.
template <class T> ISRHT_INLINE void butterfly_memory(Vector<T>& a, Vector<T>& b, const T* from) {
#if defined(ISRHT_FUSES) && ISRHT_VECTOR_BYTES == 32
    const auto& high = *reinterpret_cast<const typename Lanes<T>::Unaligned*>(from);
    const Vector<T> low = a;
    if constexpr (!kFloating<T>) {
        a = low + high;
        b = low - high;
    } else if constexpr (sizeof(T) == 4) {
        asm("vaddps %2, %1, %0" : "=x"(a) : "x"(low), "m"(high));
        asm("vsubps %2, %1, %0" : "=x"(b) : "x"(low), "m"(high));
    } else {
        asm("vaddpd %2, %1, %0" : "=x"(a) : "x"(low), "m"(high));
        asm("vsubpd %2, %1, %0" : "=x"(b) : "x"(low), "m"(high));
    }
#else
    b = load(from);
    butterfly(a, b);
#endif
}

// Keeps a vector in a register and its value unknown to the compiler, which would else read it from memory twice, or
// simplify what is done with a constant.
template <class V> ISRHT_INLINE void keep([[maybe_unused]] V& v) {
#ifdef ISRHT_FUSES
    asm("" : "+x"(v));
#endif
}

// Returns -1 in every lane, unknown to the compiler, which would else turn a fused difference back into a subtraction.
template <class T> ISRHT_INLINE Vector<T> minus_one() {
    Vector<T> value = broadcast(T(-1));
    keep(value);
    return value;
}

// Does a stage within a vector: lane i becomes lane[i & ~Stride] + lane[i | Stride], or their difference where i has
// the bit of Stride.
template <class T, int Stride> ISRHT_INLINE Vector<T> butterfly_lanes(Vector<T> x) {
    constexpr auto lanes = std::make_index_sequence<size_t(Lanes<T>::count)>{};
    return signed_add<T>(x, alternate<T, Stride>(lanes), swap_lanes<T, Stride>(x, lanes));
}

}  // namespace isrht::ISRHT_VARIANT
