// All stages of one Walsh-Hadamard transform, put together from the passes in butterfly.hpp.
//
// Radix passes take three stages at a time, and four only in rows within a part: memory streams at large power-of-two
// distances fall into the same sets of a first-level cache, which have eight places each. A length beyond one part
// takes its large strides first and then works on one contiguous part after another, each while it is cached. Parts of
// which no output is wanted are left out.
#pragma once

#include "dense/butterfly.hpp"

namespace isrht::ISRHT_VARIANT {

// The outputs that are needed: how many of them lie before each group of the transform. A null pointer means all
// outputs.
struct Wanted {
    const uint32_t* before;
    template <class T> ISRHT_INLINE bool none(size_t offset, size_t size) const {
        return before && before[offset / kGroup<T>] == before[(offset + size) / kGroup<T>];
    }
};

// The stages of a transform of at least one group, of strides from length / 2 down to `lowest`. That is 1, which makes
// a whole transform, or the lanes of a vector, after which Finish (finish.hpp) does the rest for the wanted outputs;
// then nothing is multiplied by `scale`.
template <class T> struct Transform {
    static constexpr size_t N = size_t(Lanes<T>::count);
    static constexpr int kStages = 3 + log2_of(N);
    static constexpr size_t kFour = 4 * kGroup<T>;
    T scale;
    size_t lowest, length;
    Wanted wanted;
    bool pairs = false;  // Whether the stage of stride 1 is left out: two transforms lie in turns.

    // Transforms `data`, and asks meanwhile for as much memory at `upcoming`.
    void run(T* data, intptr_t upcoming) const {
        Upcoming next{upcoming, spread(length)};
        run(data, length, 0, next);
    }

    // Transforms rows that follow one another, within a part all of them together, pass after pass.
    void run_rows(T* data, size_t total, intptr_t upcoming) const {
        Upcoming next{upcoming, spread(length)};
        part_after(data, total, length, 0, next);
    }

    // Does what is left once the stages of the `radix` largest strides are done.
    void run_after(T* data, int radix, intptr_t upcoming) const {
        Upcoming next{upcoming, spread(length >> radix)};
        run_after(data, length, radix, 0, next);
    }

    // Returns how many of the largest strides one pass over `size` values takes: three, or what is left in the end.
    // Four need more registers than AVX2 has, but save a pass, which pays in rows within a part, because those wait for
    // memory anyway.
    int first_radix(size_t size) const {
        const int stages = __builtin_ctzll(size / kGroup<T>);
        if (stages == 4) return !kLean<T> && length <= kPart<T> ? 4 : 2;
        return stages < 3 ? stages : 3;
    }

  private:
    // Returns whether exactly two radix passes take a block of `size` values, within a part, down to groups.
    bool spread(size_t size) const {
        const size_t second = size >> first_radix(size);
        return !kLean<T> && !pairs && length <= kPart<T> && second > kGroup<T> &&
               second >> first_radix(second) == kGroup<T>;
    }

    // Transforms a block of `size` values that begins at output `offset`.
    void run(T* data, size_t size, size_t offset, Upcoming& next) const {
        const int radix = first_radix(size);
        if (radix) radix_pass(data, size >> radix, radix, next);
        run_after(data, size, radix, offset, next);
    }

    void run_after(T* data, size_t size, int radix, size_t offset, Upcoming& next) const {
        const size_t child = size >> radix;
        if (size <= kPart<T>) return part_after(data, size, child, offset, next);
        if constexpr (!kLean<T>) {
            if (is_plain(child)) {
                if (unaligned_values(data) == N / 2) return plain_parts<true>(data, size, child, next);
                return plain_parts<false>(data, size, child, next);
            }
        }
        for (size_t k = 0; k < size_t(1) << radix; ++k)
            if (!wanted.none<T>(offset + k * child, child)) run(data + k * child, child, offset + k * child, next);
    }

    // Transforms what is at most one part, pass after pass, once its blocks are `block` values long. The last radix pass
    // goes together with the last pass, but in lean code and with pairs.
    void part_after(T* data, size_t size, size_t block, size_t offset, Upcoming& next) const {
        const bool apart = kLean<T> || pairs || next.spread;
        int radix = first_radix(block);
        while (radix && (apart || block >> radix > kGroup<T>)) {
            if (!kLean<T> && block == kFour) radix_groups(data, size, offset, next);
            else
                for (size_t at = 0; at < size; at += block)
                    if (!wanted.none<T>(offset + at, block)) radix_pass(data + at, block >> radix, radix, next);
            block >>= radix;
            radix = first_radix(block);
        }
        if (pairs) return last_of_pairs(data, size, offset, next);
        if constexpr (kLean<T>) last_lean(data, size, offset, next);
        else if (next.spread) last<0, kGroup<T> * sizeof(T) / 2>(data, size, offset, next);
        else if (radix == 4) last<4>(data, size, offset, next);
        else if (radix == 3) last<3>(data, size, offset, next);
        else if (radix == 2) last<2>(data, size, offset, next);
        else if (radix == 1) last<1>(data, size, offset, next);
        else last<0>(data, size, offset, next);
    }

    // Does the radix pass of blocks of four groups, all in one loop: a call for each would cost as much as its two
    // stages.
    void radix_groups(T* data, size_t size, size_t offset, Upcoming& next) const {
        for (size_t at = 0; at < size; at += kFour) radix_ahead<2, true>(data, at, offset, next);
    }

    template <int Radix, bool Spread>
    ISRHT_INLINE void radix_ahead(T* data, size_t at, size_t offset, Upcoming& next) const {
        if (!wanted.none<T>(offset + at, kGroup<T> << Radix))
            radix_block<T, Radix, false, Spread>(data + at, kGroup<T>, kGroup<T>, next);
    }

    // Does the last pass over a part, and with it the last radix pass, if there is one left. It asks for `Bytes` bytes
    // per group.
    template <int Radix, size_t Bytes = kGroup<T> * sizeof(T)>
    void last(T* data, size_t size, size_t offset, Upcoming& next) const {
        const Vector<T> factor = broadcast(scale);
        if (lowest == N)  // The stages within vectors are left out.
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { radix_vectors<T, 3>(group, N, minus_one<T>()); });
        else if (scale != T(1))
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { last_pass<T, kStages, true>(group, factor); });
        else
            each_group<Radix, Bytes>(data, size, offset, next,
                                     [=](T* group) { last_pass<T, kStages, false>(group, factor); });
    }

    // Does the last pass in lean code, which multiplies floating-point numbers by 1, too, and integers by nothing.
    void last_lean(T* data, size_t size, size_t offset, Upcoming& next) const {
        const Vector<T> factor = broadcast(scale);
        if constexpr (kFloating<T>)
            if (lowest == N)
                return each_group<0, kGroup<T> * sizeof(T)>(
                    data, size, offset, next, [=](T* group) { radix_vectors<T, 3>(group, N, minus_one<T>()); });
        each_group<0, kGroup<T> * sizeof(T)>(data, size, offset, next,
                                             [=](T* group) { last_pass<T, kStages, kFloating<T>>(group, factor); });
    }

    void last_of_pairs(T* data, size_t size, size_t offset, Upcoming& next) const {
        const Vector<T> factor = broadcast(scale);
        each_group<0, kGroup<T> * sizeof(T)>(data, size, offset, next,
                                             [=](T* group) { last_pass<T, kStages, kFloating<T>, 1>(group, factor); });
    }

    // Calls `pass` for each group that is wanted. The radix pass is one block ahead, so that what it writes has reached
    // the cache when it is read: vectors of the two passes may overlap in part. This function is not inlined, because
    // one loop per function keeps its constants in registers.
    template <int Radix, size_t Bytes, class Pass>
    ISRHT_NOINLINE void each_group(T* data, size_t size, size_t offset, Upcoming& next, Pass pass) const {
        constexpr size_t block = kGroup<T> << Radix;
        intptr_t upcoming = next.at;
        for (size_t ahead = Radix > 0 ? 0 : block; ahead < size + block; ahead += block) {
            if constexpr (Radix > 0) {
                if (ahead < size) radix_ahead<Radix, false>(data, ahead, offset, next);
                if (ahead == 0) continue;
            }
            for (size_t at = ahead - block; at < ahead; at += kGroup<T>) {
                ask_for<Bytes>(upcoming);
                if (!wanted.none<T>(offset + at, kGroup<T>)) pass(data + at);
            }
        }
        next.at = upcoming;
    }

    // Returns whether this is the common case: all outputs are wanted, and one radix pass over a part leaves blocks of
    // four groups.
    bool is_plain(size_t part) const {
        return (part == 8 * kFour || part == 4 * kFour) && !wanted.before && lowest == 1 && !pairs;
    }

    // Does all parts in the common case.
    template <bool Shifted> void plain_parts(T* data, size_t size, size_t part, Upcoming& next) const {
        for (size_t at = 0; at < size; at += part) {
            if (part == 8 * kFour) radix_pass<T, 3, false, false>(data + at, kFour, kFour, next);
            else radix_pass<T, 2, false, false>(data + at, kFour, kFour, next);
            if (scale != T(1)) blocks_of_four<true, Shifted>(data + at, part, next);
            else blocks_of_four<false, Shifted>(data + at, part, next);
        }
    }

    // Does the last two passes over a part in the common case. The radix pass is two blocks ahead; two vectors of its
    // columns are done in the midst of each group, where their sums fill the gaps that the shuffles leave.
    template <bool Scaled, bool Shifted>
    ISRHT_NOINLINE void blocks_of_four(T* data, size_t size, Upcoming& next) const {
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
                last_pass<T, kStages, Scaled, 0>(
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

// Transforms rows of 2^Stages values, shorter than a group, that follow one another. They are one long array in which
// the stages of large strides are left out, and the stage of stride 1 if it skips that. Meanwhile it asks for the memory
// that lies so many bytes ahead.
template <class T, int Stages, int Skip> inline void short_rows(T* data, size_t total, T scale, ptrdiff_t ahead) {
    const Vector<T> factor = broadcast(scale);
    const size_t whole = total / kGroup<T> * kGroup<T>;
    intptr_t upcoming = reinterpret_cast<intptr_t>(data) + ahead;
    for (size_t at = 0; at < whole; at += kGroup<T>) {
        ask_for<kGroup<T> * sizeof(T)>(upcoming);
        last_pass<T, Stages, kFloating<T>, Skip>(data + at, factor);
    }
    if (whole == total) return;
    T rest[kGroup<T>] = {};
    for (size_t i = 0; i < total - whole; ++i) rest[i] = data[whole + i];
    last_pass<T, Stages, kFloating<T>, Skip>(rest, factor);
    for (size_t i = 0; i < total - whole; ++i) data[whole + i] = rest[i];
}

// Transforms rows of `length` values, shorter than a group, that follow one another and have `total` values together.
template <class T, int Skip = 0>
inline void transform_short(T* data, size_t total, size_t length, T scale, ptrdiff_t ahead) {
    switch (__builtin_ctzll(length)) {
        case 0: return short_rows<T, 0, Skip>(data, total, scale, ahead);
        case 1: return short_rows<T, 1, Skip>(data, total, scale, ahead);
        case 2: return short_rows<T, 2, Skip>(data, total, scale, ahead);
        case 3: return short_rows<T, 3, Skip>(data, total, scale, ahead);
        case 4:
            if constexpr (kGroup<T> > 16) return short_rows<T, 4, Skip>(data, total, scale, ahead);
            break;
        case 5:
            if constexpr (kGroup<T> > 32) return short_rows<T, 5, Skip>(data, total, scale, ahead);
            break;
        case 6:
            if constexpr (kGroup<T> > 64) return short_rows<T, 6, Skip>(data, total, scale, ahead);
            break;
    }
}

}  // namespace isrht::ISRHT_VARIANT
