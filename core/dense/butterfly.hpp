// The passes of which a Walsh-Hadamard transform consists, written once for every vector width.
//
// A transform of length d consists of log2(d) stages. The stage of stride s replaces every pair (a, b) of values that
// stand s apart by (a + b, a - b). Stages run from the largest stride to the smallest in every variant, so each output
// is the same tree of additions, and has the same bits, whatever the width of a vector.
//
// A pass over memory does several stages at once. A radix pass does up to four, on values that lie `stride` apart:
// radix 3 means three stages, which combine 2^3 = 8 vectors while they are in registers. The last pass takes a group of
// eight consecutive vectors and does all stages that remain, those of the smallest strides by shuffles within a vector.
// While a pass adds, it asks for the memory that will be read next, so that memory moves at the same time.
//
// stages.hpp puts the passes together.
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// A group is what the last pass holds in registers; a step is what a radix pass takes of each stream at a time.
template <class T> constexpr size_t kGroup = 8 * size_t(Lanes<T>::count);
template <class T> constexpr size_t kStep = 2 * size_t(Lanes<T>::count);
// A part is worked on while it is in the first-level cache: it is half of one of 32 kB.
template <class T> constexpr size_t kPart = 16384 / sizeof(T);

// From this distance in bytes on, the streams of a radix pass are asked for, so many bytes ahead.
constexpr size_t kFarStride = 8192;
constexpr ptrdiff_t kStreamAhead = 128;

// The address of the memory that will be read next, which passes ask for line by line. Memory idles while nothing is
// asked for, so a transform within one part that has two radix passes spreads its requests: each of the two asks for a
// quarter of the memory, and the last pass for the other half. A transform of several parts asks during the last pass
// alone, because its other passes wait for the second-level cache already.
struct Upcoming {
    intptr_t at;
    bool spread;
};

// Asks for the next `Bytes` bytes.
template <size_t Bytes> ISRHT_INLINE void ask_for(intptr_t& at) {
#pragma GCC unroll 8
    for (size_t from = 0; from < Bytes; from += kCacheLine) prefetch_at(nullptr, at + intptr_t(from));
    at += intptr_t(Bytes);
}

// Whether there is less code for a type, at the price of some speed: for integers, and wherever a variant says so.
#ifdef ISRHT_LEAN
template <class T> constexpr bool kLean = true;
#else
template <class T> constexpr bool kLean = !kFloating<T>;
#endif

constexpr int log2_of(size_t power) { return power <= 1 ? 0 : 1 + log2_of(power / 2); }

// Does the stages of a radix pass on vectors in registers.
template <int Radix, class V> ISRHT_INLINE void butterfly_registers(V (&v)[size_t(1) << Radix]) {
#pragma GCC unroll 4
    for (int bit = Radix - 1; bit >= 0; --bit) {
#pragma GCC unroll 16
        for (int k = 0; k < (1 << Radix); ++k) {
            if (!(k & (1 << bit))) butterfly(v[k], v[k | (1 << bit)]);
        }
    }
}

// Does Radix stages of as many columns as a V holds, from `at` on. A column is one value of each of 2^Radix streams,
// which lie `stride` values apart.
template <class V, int Radix, class T> ISRHT_INLINE void radix_columns(T* at, size_t stride) {
    V v[size_t(1) << Radix];
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) v[k] = *reinterpret_cast<const V*>(at + k * stride);
    butterfly_registers<Radix>(v);
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) *reinterpret_cast<V*>(at + k * stride) = v[k];
}

// Does the same for one vector of columns. The differences of the middle stage of three are fused products with -1,
// which come free; with more of them stores would wait, because both share a way into the arithmetic units.
template <class T, int Radix> ISRHT_INLINE void radix_vectors(T* at, size_t stride, Vector<T> minus_one) {
    constexpr int half = 1 << Radix >> 1;
    constexpr bool from_memory = Radix == 2;
    Vector<T> v[size_t(1) << Radix];
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) {
        if (from_memory && k >= half) {
            butterfly_memory<T>(v[k - half], v[k], at + k * stride);
            continue;
        }
        v[k] = load(at + k * stride);
        if constexpr (Radix == 3) keep(v[k]);
    }
#pragma GCC unroll 4
    for (int bit = Radix - 1 - from_memory; bit >= 0; --bit) {
#pragma GCC unroll 16
        for (int k = 0; k < (1 << Radix); ++k) {
            if (k & (1 << bit)) continue;
            if (kFuses && kFloating<T> && Radix == 3 && bit == 1)
                butterfly_fused<T>(v[k], v[k | (1 << bit)], minus_one);
            else butterfly(v[k], v[k | (1 << bit)]);
        }
    }
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) store(at + k * stride, v[k]);
}

// Does the same for the few columns before the first, or after the last, aligned vector, by vectors of half the width or
// less, because most arrays begin at a multiple of 16 bytes. It is one function, whose code is not repeated in every
// pass.
template <int Radix, class T> ISRHT_NOINLINE void radix_edge(T* at, size_t count, size_t stride) {
    constexpr size_t half = size_t(Lanes<T>::count / 2), few = size_t(Narrow<T>::count);
    const T* const end = at + count;
    if (half > few && at + half <= end) radix_columns<typename Half<T>::Unaligned, Radix>(at, stride), at += half;
    for (; at + few <= end; at += few) radix_columns<typename Narrow<T>::Unaligned, Radix>(at, stride);
    for (; at < end; ++at) radix_columns<T, Radix>(at, stride);
}

// Returns how many values lie before the first aligned vector.
template <class T> ISRHT_INLINE size_t unaligned_values(const T* from) {
    return (0 - reinterpret_cast<uintptr_t>(from)) % kVectorBytes / sizeof(T);
}

// Does Radix stages, of strides 2^(Radix-1) * stride down to stride, of the first `columns` columns of one block of
// 2^Radix * stride values. Columns are independent, so vectors of them begin at the first aligned one: NumPy's arrays
// start 16 bytes into a cache line, from where every other vector would lie across two lines. The hardware's prefetcher
// loses streams that lie far apart at the end of every page, so they are asked for here.
template <class T, int Radix, bool Far, bool Spread>
ISRHT_INLINE void radix_block(T* block, size_t columns, size_t stride, Upcoming& next) {
    constexpr size_t N = size_t(Lanes<T>::count);
    const Vector<T> minus = minus_one<T>();
    const size_t unaligned = kLean<T> ? 0 : unaligned_values(block), lead = unaligned < columns ? unaligned : columns;
    // Both cases give the same number, but the compiler makes a faster loop of the first one.
    const size_t end = columns % N == 0 ? (lead ? columns - N + lead : columns) : columns - (columns - lead) % N;
    if (lead) radix_edge<Radix>(block, lead, stride);
    size_t j = lead;
    intptr_t upcoming = next.at;
    for (; j + kStep<T> <= end; j += kStep<T>) {
        if constexpr (Spread) ask_for<(kStep<T> * sizeof(T) << Radix) / 4>(upcoming);
        if constexpr (Far)
#pragma GCC unroll 16
            for (int k = 0; k < (1 << Radix); ++k) prefetch_at(block + j + k * stride, kStreamAhead);
        radix_vectors<T, Radix>(block + j, stride, minus);
        radix_vectors<T, Radix>(block + j + N, stride, minus);
    }
    if (j < end) radix_vectors<T, Radix>(block + j, stride, minus);
    if (end < columns) radix_edge<Radix>(block + end, columns - end, stride);
    if constexpr (Spread) next.at = upcoming;
}

// The two stages of a block of four groups, in eight steps of one vector of columns each. If the first aligned vector
// begins half a vector after the block (Shifted), step 0 is the half vectors at both ends.
template <class T, bool Shifted> struct BlockOfFour {
    static constexpr size_t N = size_t(Lanes<T>::count), shift = Shifted ? N / 2 : 0;
    using HalfVector = typename Half<T>::Unaligned;
    T* block;

    ISRHT_INLINE void first_step() const {
        if (!Shifted) return later_step(0);
        radix_columns<HalfVector, 2>(block, kGroup<T>);
        radix_columns<HalfVector, 2>(block + kGroup<T> - shift, kGroup<T>);
    }
    ISRHT_INLINE void later_step(size_t step) const {
        radix_vectors<T, 2>(block + step * N - shift, kGroup<T>, Vector<T>{});
    }
};

// A radix pass over one block: the same as radix_block, as a function of its own.
template <class T, int Radix, bool Far, bool Spread>
void radix_pass(T* block, size_t columns, size_t stride, Upcoming& next) {
    radix_block<T, Radix, Far, Spread>(block, columns, stride, next);
}

template <class T, int Radix> ISRHT_INLINE void radix_pass(T* block, size_t columns, size_t stride, Upcoming& next) {
    if constexpr (kLean<T>) radix_pass<T, Radix, false, false>(block, columns, stride, next);
    else if (Radix < 4 && stride * sizeof(T) >= kFarStride)
        radix_pass<T, (Radix < 4 ? Radix : 1), true, false>(block, columns, stride, next);
    else if (next.spread) radix_pass<T, Radix, false, true>(block, columns, stride, next);
    else radix_pass<T, Radix, false, false>(block, columns, stride, next);
}

template <class T> ISRHT_INLINE void radix_pass(T* block, size_t stride, int radix, Upcoming& next) {
    if constexpr (!kLean<T>)
        if (radix == 4) return radix_pass<T, 4>(block, stride, stride, next);
    if (radix == 3) radix_pass<T, 3>(block, stride, stride, next);
    else if (radix == 2) radix_pass<T, 2>(block, stride, stride, next);
    else radix_pass<T, 1>(block, stride, stride, next);
}

// Does the last `Stages` stages, within vectors, but for the very last `Skip`. It goes stage by stage over all vectors
// rather than vector by vector, so that each instruction finds its operands ready and does not wait in the processor's
// scheduler.
template <class T, int Stages, int Skip, int Count> ISRHT_INLINE void butterfly_within(Vector<T> (&v)[Count]) {
    if constexpr (Stages > Skip) {
        constexpr int stride = 1 << (Stages - 1);
#pragma GCC unroll 8
        for (int k = 0; k < Count; ++k) v[k] = butterfly_lanes<T, stride>(v[k]);
        butterfly_within<T, Stages - 1, Skip>(v);
    }
}

struct Nothing {
    ISRHT_INLINE void operator()() const {}
};

// Does the last `Stages` stages of one group of eight vectors, but for the very last `Skip`: 1 for pairs of values that
// are transformed side by side. `one` and `other` are work of another pass, which is done before and after the first
// stage within vectors: its sums fill the time in which the shuffles are waited for.
template <class T, int Stages, bool Scaled, int Skip = 0, class One = Nothing, class Other = Nothing>
ISRHT_INLINE void last_pass(T* group, Vector<T> scale, One one = {}, Other other = {}) {
    constexpr int N = Lanes<T>::count, in_lanes = log2_of(N) < Stages ? log2_of(N) : Stages;
    constexpr bool from_memory = Stages == in_lanes + 3;
    Vector<T> v[8];
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
        if (!from_memory || k < 4) v[k] = load(group + k * N);
        else butterfly_memory<T>(v[k - 4], v[k], group + k * N);
    }
#pragma GCC unroll 3
    for (int bit = Stages - in_lanes - 1 - from_memory; bit >= 0; --bit) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) {
            if (!(k & (1 << bit))) butterfly(v[k], v[k | (1 << bit)]);
        }
    }
    one();
    if constexpr (in_lanes > Skip) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) v[k] = butterfly_lanes<T, (1 << in_lanes) / 2>(v[k]);
    }
    other();
    butterfly_within<T, in_lanes - 1, Skip>(v);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) store(group + k * N, Scaled ? v[k] * scale : v[k]);
}

}  // namespace isrht::ISRHT_VARIANT
