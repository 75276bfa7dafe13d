// The Walsh-Hadamard transform, written once over a vector width.
//
// A transform of length d is log2(d) stages; the stage of stride s replaces every pair (a, b) that stands
// s apart by (a + b, a - b). Stages run from the largest stride to the smallest in every variant, so each
// output is the same tree of additions, and the same bits, whatever the width of a vector.
//
// Three stages at a time (radix 8) keep eight vectors in registers per load and store. Sixteen vectors save a
// pass, but only in short rows: memory streams at large power-of-two distances fall into the same cache sets,
// which have eight places. A length past the first cache takes its large strides first and then works on one
// contiguous part after another, each while it is cached. The last pass over a part does its 8 vectors whole, the
// smallest strides by shuffles within a register; where it can, it has two stages of the next blocks in its midst.
//
// Meanwhile the memory that comes next is asked for, so that it moves while the processor adds.
#pragma once

#include "vector.hpp"

namespace isrht::ISRHT_VARIANT {

template <class T> constexpr size_t kGroup = 8 * size_t(Lanes<T>::count);  // what the last pass holds at once
template <class T> constexpr size_t kStep = 2 * size_t(Lanes<T>::count);  // what a radix pass takes of each stream
template <class T> constexpr size_t kPart = 16384 / sizeof(T);  // half a first-level cache of 32 kB

constexpr size_t kFarStride = 8192;  // bytes between the streams of a pass, from which on they are prefetched
constexpr ptrdiff_t kStreamAhead = 128;  // bytes

// Memory that will be read next, asked for line by line. A transform within one part whose radix passes are two asks for
// a quarter of it during each, and for the other half during the last pass: memory would idle while nothing asks. One
// of several parts asks during the last pass alone, since its other passes wait for the second cache already.
struct Upcoming {
    intptr_t at;
    bool spread;
};

template <size_t Bytes> ISRHT_INLINE void ask_for(intptr_t& at) {
#pragma GCC unroll 8
    for (size_t from = 0; from < Bytes; from += kCacheLine) prefetch_at(nullptr, at + intptr_t(from));
    at += intptr_t(Bytes);
}

constexpr int log2_of(size_t power) { return power <= 1 ? 0 : 1 + log2_of(power / 2); }

// Which outputs are needed, as counts before each group of kGroup: null is all of them.
struct Wanted {
    const uint32_t* before;
    template <class T> ISRHT_INLINE bool none(size_t offset, size_t size) const {
        return before && before[offset / kGroup<T>] == before[(offset + size) / kGroup<T>];
    }
};

template <int Radix, class V> ISRHT_INLINE void butterfly_registers(V (&v)[size_t(1) << Radix]) {
#pragma GCC unroll 4
    for (int bit = Radix - 1; bit >= 0; --bit) {
#pragma GCC unroll 16
        for (int k = 0; k < (1 << Radix); ++k) {
            if (!(k & (1 << bit))) butterfly(v[k], v[k | (1 << bit)]);
        }
    }
}

// Radix stages of as many columns as a V holds, from `at` on, in 2^Radix streams that lie `stride` values apart.
template <class V, int Radix, class T> ISRHT_INLINE void radix_columns(T* at, size_t stride) {
    V v[size_t(1) << Radix];
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) v[k] = *reinterpret_cast<const V*>(at + k * stride);
    butterfly_registers<Radix>(v);
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) *reinterpret_cast<V*>(at + k * stride) = v[k];
}

// The same of one whole vector of columns. With fused differences throughout, stores would wait: they share a way into the
// arithmetic units. Those of the middle stage of three alone come free.
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
            if (kFuses && Radix == 3 && bit == 1) butterfly_fused<T>(v[k], v[k | (1 << bit)], minus_one);
            else butterfly(v[k], v[k | (1 << bit)]);
        }
    }
#pragma GCC unroll 16
    for (int k = 0; k < (1 << Radix); ++k) store(at + k * stride, v[k]);
}

// The few columns up to the first, or after the last, whole vector.
template <int Radix, class T> inline void radix_edge(T* at, size_t count, size_t stride) {
    if (count * 2 == size_t(Lanes<T>::count)) return radix_columns<typename Half<T>::Unaligned, Radix>(at, stride);
    for (size_t j = 0; j < count; ++j) radix_columns<T, Radix>(at + j, stride);
}

template <class T> ISRHT_INLINE size_t unaligned_values(const T* from) {
    return (0 - reinterpret_cast<uintptr_t>(from)) % kVectorBytes / sizeof(T);
}

// Radix stages, of strides 2^(Radix-1) * stride down to stride, of the first `columns` columns of one block of
// 2^Radix * stride values. Columns are independent, so they are taken from the first aligned vector on: NumPy's arrays
// start 16 bytes into a cache line, where every other vector would lie across two lines. Streams far apart leave the
// hardware's prefetcher behind at every page, so they are asked for here.
template <class T, int Radix, bool Far, bool Spread>
ISRHT_INLINE void radix_block(T* block, size_t columns, size_t stride, Upcoming& next) {
    constexpr size_t N = size_t(Lanes<T>::count);
    const Vector<T> minus = minus_one<T>();
    const size_t unaligned = unaligned_values(block), lead = unaligned < columns ? unaligned : columns;
    // The first case is the second, too, but the compiler makes a faster loop of it.
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

// The two stages of a block of four groups in eight steps, a vector of columns each. Where the first aligned vector begins
// half a vector later, the halves at both ends are step 0.
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

template <class T, int Radix, bool Far, bool Spread>
void radix_pass(T* block, size_t columns, size_t stride, Upcoming& next) {
    radix_block<T, Radix, Far, Spread>(block, columns, stride, next);
}

template <class T, int Radix> ISRHT_INLINE void radix_pass(T* block, size_t columns, size_t stride, Upcoming& next) {
    if (stride * sizeof(T) >= kFarStride) radix_pass<T, Radix, true, false>(block, columns, stride, next);
    else if (next.spread) radix_pass<T, Radix, false, true>(block, columns, stride, next);
    else radix_pass<T, Radix, false, false>(block, columns, stride, next);
}

template <class T> ISRHT_INLINE void radix_pass(T* block, size_t stride, int radix, Upcoming& next) {
    if (radix == 4) radix_pass<T, 4>(block, stride, stride, next);
    else if (radix == 3) radix_pass<T, 3>(block, stride, stride, next);
    else if (radix == 2) radix_pass<T, 2>(block, stride, stride, next);
    else radix_pass<T, 1>(block, stride, stride, next);
}

// The stages within a register, stage by stage over all registers rather than register by register: each
// instruction then finds its operands ready and does not clog the scheduler while it waits.
template <class T, int Stages, int Count> ISRHT_INLINE void butterfly_within(Vector<T> (&v)[Count]) {
    if constexpr (Stages > 0) {
        constexpr int stride = 1 << (Stages - 1);
#pragma GCC unroll 8
        for (int k = 0; k < Count; ++k) v[k] = butterfly_lanes<T, stride>(v[k]);
        butterfly_within<T, Stages - 1>(v);
    }
}

struct Nothing {
    ISRHT_INLINE void operator()() const {}
};

// The last Stages stages of one group of eight vectors. `one` and `other` are work of another pass, done before and after
// the first stage within registers.
template <class T, int Stages, bool Scaled, class One = Nothing, class Other = Nothing>
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
    if constexpr (in_lanes > 0) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; ++k) v[k] = butterfly_lanes<T, (1 << in_lanes) / 2>(v[k]);
    }
    other();
    butterfly_within<T, in_lanes - 1>(v);
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) store(group + k * N, Scaled ? v[k] * scale : v[k]);
}

// All stages of a length that is at least one group: every stride from length / 2 down to `lowest`, which is 1 (a whole
// transform) or a vector (Finish does the rest, unscaled).
template <class T> struct Transform {
    static constexpr size_t N = size_t(Lanes<T>::count);
    static constexpr int kStages = 3 + log2_of(N);
    static constexpr size_t kFour = 4 * kGroup<T>;
    T scale;
    size_t lowest, length;
    Wanted wanted;

    // `upcoming` is the memory to ask for meanwhile, as much as the transform's own.
    void run(T* data, intptr_t upcoming) const {
        Upcoming next{upcoming, spread(length)};
        run(data, length, 0, next);
    }

    // What is left once the `radix` largest strides are done.
    void run_after(T* data, int radix, intptr_t upcoming) const {
        Upcoming next{upcoming, spread(length >> radix)};
        run_after(data, length, radix, 0, next);
    }

    // How many of the largest strides one pass over `size` values takes: three, or what is left in the end. Four at once need
    // more registers than AVX2 has; they save a pass in rows within a part, which wait for memory anyway.
    int first_radix(size_t size) const {
        const int stages = __builtin_ctzll(size / kGroup<T>);
        if (stages == 4) return length <= kPart<T> ? 4 : 2;
        return stages < 3 ? stages : 3;
    }

  private:
    // Whether two radix passes take a block of `size` values down to groups.
    bool spread(size_t size) const {
        const size_t second = size >> first_radix(size);
        return length <= kPart<T> && second > kGroup<T> && second >> first_radix(second) == kGroup<T>;
    }

    void run(T* data, size_t size, size_t offset, Upcoming& next) const {
        const int radix = first_radix(size);
        if (radix) radix_pass(data, size >> radix, radix, next);
        run_after(data, size, radix, offset, next);
    }

    void run_after(T* data, size_t size, int radix, size_t offset, Upcoming& next) const {
        const size_t child = size >> radix;
        if (size <= kPart<T>) return part_after(data, size, child, offset, next);
        if (is_plain(child)) {
            if (unaligned_values(data) == N / 2) return plain_parts<true>(data, size, child, next);
            return plain_parts<false>(data, size, child, next);
        }
        for (size_t k = 0; k < size_t(1) << radix; ++k)
            if (!wanted.none<T>(offset + k * child, child)) run(data + k * child, child, offset + k * child, next);
    }

    // One part in the cache, pass after pass over blocks of `block` values and less.
    void part_after(T* data, size_t size, size_t block, size_t offset, Upcoming& next) const {
        int radix = first_radix(block);
        while (radix && (next.spread || block >> radix > kGroup<T>)) {
            if (block == kFour) radix_groups(data, size, offset, next);
            else
                for (size_t at = 0; at < size; at += block)
                    if (!wanted.none<T>(offset + at, block)) radix_pass(data + at, block >> radix, radix, next);
            block >>= radix;
            radix = first_radix(block);
        }
        if (next.spread) last<0, kGroup<T> * sizeof(T) / 2>(data, size, offset, next);
        else if (radix == 4) last<4>(data, size, offset, next);
        else if (radix == 3) last<3>(data, size, offset, next);
        else if (radix == 2) last<2>(data, size, offset, next);
        else if (radix == 1) last<1>(data, size, offset, next);
        else last<0>(data, size, offset, next);
    }

    // Blocks of four groups, one after another: a call for each would cost as much as its two stages.
    void radix_groups(T* data, size_t size, size_t offset, Upcoming& next) const {
        for (size_t at = 0; at < size; at += kFour) radix_ahead<2, true>(data, at, offset, next);
    }

    template <int Radix, bool Spread> ISRHT_INLINE void radix_ahead(T* data, size_t at, size_t offset, Upcoming& next) const {
        if (!wanted.none<T>(offset + at, kGroup<T> << Radix))
            radix_block<T, Radix, false, Spread>(data + at, kGroup<T>, kGroup<T>, next);
    }

    // The last pass over a part, and the last radix pass with it, if any is left. It asks for so many bytes per group.
    template <int Radix, size_t Bytes = kGroup<T> * sizeof(T)>
    void last(T* data, size_t size, size_t offset, Upcoming& next) const {
        const Vector<T> factor = broadcast(scale);
        if (lowest == N)  // without the stages within a register
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { radix_vectors<T, 3>(group, N, minus_one<T>()); });
        else if (scale != T(1))
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { last_pass<T, kStages, true>(group, factor); });
        else
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { last_pass<T, kStages, false>(group, factor); });
    }

    // The radix pass is one block ahead, so that what it writes has left for the cache when it is read: vectors of the
    // two passes may overlap in part. Not inlined: one loop per function keeps its constants in registers.
    template <int Radix, size_t Bytes, class Pass>
    ISRHT_NOINLINE void each_group(T* data, size_t size, size_t offset, Upcoming& next, Pass pass) const {
        constexpr size_t block = kGroup<T> << Radix;
        intptr_t upcoming = next.at;
        if constexpr (Radix > 0) radix_ahead<Radix, false>(data, 0, offset, next);
        for (size_t from = 0; from < size; from += block) {
            if constexpr (Radix > 0)
                if (from + block < size) radix_ahead<Radix, false>(data, from + block, offset, next);
            for (size_t at = from; at < from + block; at += kGroup<T>) {
                ask_for<Bytes>(upcoming);
                if (!wanted.none<T>(offset + at, kGroup<T>)) pass(data + at);
            }
        }
        next.at = upcoming;
    }

    // The common case, that all outputs are wanted and one radix pass over a part leaves blocks of four groups.
    bool is_plain(size_t part) const {
        return (part == 8 * kFour || part == 4 * kFour) && !wanted.before && lowest == 1;
    }

    template <bool Shifted> void plain_parts(T* data, size_t size, size_t part, Upcoming& next) const {
        for (size_t at = 0; at < size; at += part) {
            if (part == 8 * kFour) radix_pass<T, 3, false, false>(data + at, kFour, kFour, next);
            else radix_pass<T, 2, false, false>(data + at, kFour, kFour, next);
            if (scale != T(1)) blocks_of_four<true, Shifted>(data + at, part, next);
            else blocks_of_four<false, Shifted>(data + at, part, next);
        }
    }

    // The radix pass of two stages is two blocks ahead, two vectors of its columns in the midst of each group: its sums fill
    // the gaps that the shuffles leave.
    template <bool Scaled, bool Shifted> ISRHT_NOINLINE void blocks_of_four(T* data, size_t size, Upcoming& next) const {
        constexpr size_t ahead = 2 * kFour;
        const Vector<T> factor = broadcast(scale);
        intptr_t upcoming = next.at;
        for (size_t at = 0; at < ahead; at += kFour) {
            const BlockOfFour<T, Shifted> block{data + at};
            block.first_step();
#pragma GCC unroll 8
            for (size_t step = 1; step < 8; ++step) block.later_step(step);
        }
        size_t at = 0;
        for (; at + ahead < size; at += kFour) {
            const BlockOfFour<T, Shifted> later{data + at + ahead};
            for (size_t turn = 0; turn < 4; ++turn) {
                last_pass<T, kStages, Scaled>(
                    data + at + turn * kGroup<T>, factor, [=] { later.later_step(2 * turn + 1); },
                    [=] { turn ? later.later_step(2 * turn) : later.first_step(); });
                ask_for<kGroup<T> * sizeof(T)>(upcoming);
            }
        }
        for (; at < size; at += kGroup<T>) {
            last_pass<T, kStages, Scaled>(data + at, factor);
            ask_for<kGroup<T> * sizeof(T)>(upcoming);
        }
        next.at = upcoming;
    }
};

// Lengths below one group: contiguous short rows are one long array whose large strides are left out.
template <class T, int Stages> inline void short_rows(T* data, size_t total, T scale) {
    const Vector<T> factor = broadcast(scale);
    const size_t whole = total / kGroup<T> * kGroup<T>;
    for (size_t at = 0; at < whole; at += kGroup<T>) last_pass<T, Stages, true>(data + at, factor);
    if (whole == total) return;
    T rest[kGroup<T>] = {};
    for (size_t i = 0; i < total - whole; ++i) rest[i] = data[whole + i];
    last_pass<T, Stages, true>(rest, factor);
    for (size_t i = 0; i < total - whole; ++i) data[whole + i] = rest[i];
}

template <class T> inline void transform_short(T* data, size_t total, size_t length, T scale) {
    switch (__builtin_ctzll(length)) {
        case 0: return short_rows<T, 0>(data, total, scale);
        case 1: return short_rows<T, 1>(data, total, scale);
        case 2: return short_rows<T, 2>(data, total, scale);
        case 3: return short_rows<T, 3>(data, total, scale);
        case 4: if constexpr (kGroup<T> > 16) return short_rows<T, 4>(data, total, scale); break;
        case 5: if constexpr (kGroup<T> > 32) return short_rows<T, 5>(data, total, scale); break;
        case 6: if constexpr (kGroup<T> > 64) return short_rows<T, 6>(data, total, scale); break;
    }
}

}  // namespace isrht::ISRHT_VARIANT
