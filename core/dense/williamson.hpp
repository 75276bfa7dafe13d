// The Hadamard matrix of order 12, by Williamson's construction, and all transforms of 12 short streams.
//
// Let M be Sylvester's matrix of order 4, and P a symmetric matrix of order 4 that permutes values and changes signs such
// that P M + M P = 2 I. Then N = 2 P - M is a Hadamard matrix, too, with M N + N M = -4 I, and
//     N M M
//     M N M
//     M M N
// is a symmetric Hadamard matrix of order 12. Twelve streams are three parts of four: a part is added to itself by N, and
// to each of the others by M. Both are two stages of butterflies, of which the last is the same one: M = B A, N = -B G. So a
// part p becomes B (A x_q + A x_r - G x_p), 60 additions in all, and every output is a tree of four levels. To make the
// first row ones, the signs of streams 1 to 3 are changed before and after.
//
// A part of a row is consecutive, 4 * 2^k values. Stages are done within vectors wherever a part is a few vectors or a
// fraction of one, and then several rows are transformed at once: only the sums of other parts move values between them.
#pragma once

#include "dense/butterfly.hpp"

namespace isrht::ISRHT_VARIANT {

// Lane i of the result is lane Source::of(i) of a, or of b if that is more than a has.
template <class T, class Source, size_t... Lane>
ISRHT_INLINE Vector<T> taken(Vector<T> a, Vector<T> b, Source, std::index_sequence<Lane...>) {
#ifdef ISRHT_HAS_SHUFFLEVECTOR
    return __builtin_shufflevector(a, b, Source::of(int(Lane))...);
#else
    return __builtin_shuffle(a, b, typename Lanes<T>::Bits{typename BitsOf<T>::Type(Source::of(int(Lane)))...});
#endif
}

// Twelve streams of 2^Log values each, at most a vector. Vectors of a part that is shorter than one hold parts of several
// rows: three vectors, kRows rows.
template <class T, int Log> struct Twelve {
    static constexpr int N = Lanes<T>::count, kStream = 1 << Log, kPart = 4 * kStream;
    static constexpr int kRows = kPart < N ? N / kPart : 1, kVectors = kPart < N ? 3 : 3 * kPart / N;
    // So many vectors are worked on at once: those of a part, or all three.
    static constexpr int kAtOnce = kRows > 1 ? 3 : kVectors / 3;
    static constexpr auto kLanes = std::make_index_sequence<size_t(N)>{};
    using Vectors = Vector<T>[kVectors];
    using Some = Vector<T>[kAtOnce];

    // Transforms whole rows that lie `stride` values apart.
    static ISRHT_NOINLINE void transform_rows(T* data, size_t count, ptrdiff_t stride, T scale, bool pairs) {
        Vectors factors;
#pragma GCC unroll 12
        for (int i = 0; i < kVectors; ++i) factors[i] = broadcast(scale);
        if constexpr (kFloating<T>) change_signs<0>(factors);
        // Rows of which no kRows follow one another are copied, one at a time, to where they are transformed.
        T copy[kRows > 1 ? kVectors * N : 3 * kPart] = {};
        for (size_t i = 0; i < count;) {
            const bool together = kRows == 1 || (stride == 3 * kPart && count - i >= size_t(kRows));
            T* const row = data + ptrdiff_t(i) * stride;
            if (!together) copy_row(row, copy);
            combine<true>(together ? row : copy, N, factors, pairs);
            if (!together) copy_row(copy, row);
            i += together ? kRows : 1;
        }
    }

    // Combines a vector of columns of streams that are `stride` values apart, times signs that lie as far apart if there
    // are any.
    static ISRHT_NOINLINE void combine_columns(T* at, size_t stride, const T* signs) {
        static_assert(kStream == N, "a stream is a vector");
        Vectors factors{};
        if constexpr (kFloating<T>)
            if (signs) return combine<false, true>(at, stride, factors, false, signs);
        combine<false>(at, stride, factors, false);
    }

  private:
    static ISRHT_INLINE void copy_row(const T* from, T* to) {
        for (int i = 0; i < 3 * kPart; ++i) to[i] = from[i];
    }

    // Combines vectors that lie `stride` values apart; and transforms whole streams, times the factors, or pairs of
    // streams that lie in turns.
    template <bool Whole, bool Signed = false>
    static ISRHT_INLINE void combine(T* at, size_t stride, [[maybe_unused]] const Vectors& factors, bool pairs,
                                     const T* signs = nullptr) {
        Vectors sums;
        read<Signed>(at, stride, signs, sums);
        change_signs<0>(sums);
        if constexpr (kRows > 1) {
            Some x = {sums[0], sums[1], sums[2]};
            first_stage(sums);
            const Vector<T> a = others<0>(sums), b = others<1>(sums), c = others<2>(sums);
            Some y = {a, b, c};
            second_stage(y, x);
            finish<Whole, 0>(at, stride, y, factors, pairs);
        } else {
            first_stage(sums);
            part<Whole, Signed, 0>(at, stride, sums, factors, pairs, signs);
            part<Whole, Signed, 1>(at, stride, sums, factors, pairs, signs);
            part<Whole, Signed, 2>(at, stride, sums, factors, pairs, signs);
        }
    }

    // Makes the outputs of one part, whose inputs are read again: there are not registers enough to keep them.
    template <bool Whole, bool Signed, int Part>
    static ISRHT_INLINE void part(T* at, size_t stride, const Vectors& sums, const Vectors& factors, bool pairs,
                                  const T* signs) {
        constexpr int own = Part * kAtOnce, one = Part == 0 ? kAtOnce : 0, other = Part == 2 ? kAtOnce : 2 * kAtOnce;
        Some x, y;
        read<Signed>(at + own * stride, stride, Signed ? signs + own * stride : nullptr, x);
        if constexpr (Part == 0) change_signs<0>(x);
#pragma GCC unroll 4
        for (int i = 0; i < kAtOnce; ++i) {
            keep(x[i]);
            y[i] = sums[one + i] + sums[other + i];
        }
        second_stage(y, x);
        finish<Whole, own>(at + own * stride, stride, y, factors, pairs);
    }

    template <bool Whole, int From>
    static ISRHT_INLINE void finish(T* at, size_t stride, Some& y, const Vectors& factors, bool pairs) {
        if constexpr (Whole) {
            butterfly_within<T, Log, 1>(y);
            if constexpr (Log > 0)
                if (!pairs) each_stage<1>(y);
        }
        if constexpr (!Whole || !kFloating<T>) change_signs<From>(y);
#pragma GCC unroll 4
        for (int i = 0; i < kAtOnce; ++i)
            store(at + size_t(i) * stride, Whole && kFloating<T> ? y[i] * factors[From + i] : y[i]);
    }

    template <bool Signed, size_t Count>
    static ISRHT_INLINE void read(const T* at, size_t stride, const T* signs, Vector<T> (&to)[Count]) {
#pragma GCC unroll 12
        for (size_t i = 0; i < Count; ++i) {
            to[i] = load(at + i * stride);
            if constexpr (Signed) to[i] *= load(signs + i * stride);
        }
    }

    // The value at a distance from each one of vector number `at`, within a part.
    template <int Distance, int Count> static ISRHT_INLINE Vector<T> across(const Vector<T> (&v)[Count], int at) {
        if constexpr (Distance >= N) return v[at ^ (Distance / N)];
        else return swap_lanes<T, Distance>(v[at], kLanes);
    }
    // y + x, or y - x where the place of a value has the bit of Distance.
    template <int Distance> static ISRHT_INLINE Vector<T> alternately(Vector<T> x, Vector<T> y, int at) {
        if constexpr (Distance < N) return signed_add<T>(x, alternate<T, Distance>(kLanes), y);
        else return at & (Distance / N) ? y - x : y + x;
    }
    template <int Distance, int Count> static ISRHT_INLINE void each_stage(Vector<T> (&v)[Count]) {
        Vector<T> out[Count];
#pragma GCC unroll 12
        for (int i = 0; i < Count; ++i) out[i] = alternately<Distance>(v[i], across<Distance>(v, i), i);
#pragma GCC unroll 12
        for (int i = 0; i < Count; ++i) v[i] = out[i];
    }
    // x becomes A x.
    template <int Count> static ISRHT_INLINE void first_stage(Vector<T> (&x)[Count]) {
        each_stage<2 * kStream>(x);
#pragma GCC unroll 12
        for (int i = 0; i < Count; ++i) keep(x[i]);
    }
    // y becomes B (y - G x).
    static ISRHT_INLINE void second_stage(Some& y, const Some& x) {
#pragma GCC unroll 4
        for (int i = 0; i < kAtOnce; ++i)
            y[i] -= alternately<kStream>(across<kStream>(x, i), across<2 * kStream>(x, i), i);
        each_stage<kStream>(y);
    }

    // Where a part comes from that another one adds: parts of all rows are numbered, three of each row.
    template <int At, bool Second> struct Other {
        static constexpr int number(int lane) {
            const int own = At * kRows + lane / kPart, place = own % 3;
            return own - place + (Second ? (place == 2 ? 1 : 2) : (place == 0 ? 1 : 0));
        }
        // The first and the last vector that has such parts, or one next to it.
        static constexpr int first() {
            const int a = number(0) / kRows, b = number(N - 1) / kRows, least = a < b ? a : b;
            return least < 2 ? least : 1;
        }
        static constexpr int last() {
            const int a = number(0) / kRows, b = number(N - 1) / kRows, most = a < b ? b : a;
            return most > first() ? most : first() + 1;
        }
        static constexpr int of(int lane) {
            const int from = number(lane) / kRows, within = number(lane) % kRows * kPart + lane % kPart;
            return from == first() ? within : N + within;
        }
        static ISRHT_INLINE Vector<T> in(const Vectors& v) { return taken<T>(v[first()], v[last()], Other{}, kLanes); }
    };
    // The sum of the two other parts of each row, for vector number `At`.
    template <int At> static ISRHT_INLINE Vector<T> others(const Vectors& v) {
        return Other<At, false>::in(v) + Other<At, true>::in(v);
    }

    // Whether a value is in streams 1 to 3.
    static constexpr bool is_negated(int at) {
        const int place = at % (3 * kPart);
        return place >= kStream && place < kPart;
    }
    static constexpr bool is_any_negated(int from) {
        for (int lane = 0; lane < N; ++lane)
            if (is_negated(from + lane)) return true;
        return false;
    }
    // Changes the signs of such values of the first vectors, the number of the first of which is `From`.
    template <int From, int At = 0, int Count> static ISRHT_INLINE void change_signs(Vector<T> (&v)[Count]) {
        if constexpr (is_any_negated((From + At) * N)) v[At] = with_signs<(From + At) * N>(v[At], kLanes);
        if constexpr (At + 1 < Count) change_signs<From, At + 1>(v);
    }
    template <int From, size_t... Lane>
    static ISRHT_INLINE Vector<T> with_signs(Vector<T> x, std::index_sequence<Lane...>) {
        const Vector<T> signs{(is_negated(From + int(Lane)) ? T(-1) : T(1))...};
        using Bits = typename Lanes<T>::Bits;
        if constexpr (kFloating<T>) return (Vector<T>)((Bits)x ^ ((Bits)signs & top_bit<T>()));
        else return with_sign<T>(x, signs);
    }
};

}  // namespace isrht::ISRHT_VARIANT
