// Rows side by side: as many rows as a vector has lanes, one value of each in a vector.
//
// Rows of m * 2^k values with a small k have streams that are shorter than a vector. Side by side, each row has a lane
// and each value a vector of its own, and all rows are combined as one. A row is moved 16 bytes at a time, of which
// every length m * 2^k is a multiple: pieces of several rows make up vectors, and the values within pieces change places
// with rows, by shuffles of two vectors.
#pragma once

#include <cstring>

#include "dense/streams.hpp"

namespace isrht::ISRHT_VARIANT {

// Of every 16 bytes of a and b, the first halves or the second ones, in turns, `Run` values of each at a time.
template <class T, int Run, int Second, size_t... Lane>
ISRHT_INLINE Vector<T> in_turns(Vector<T> a, Vector<T> b, std::index_sequence<Lane...>) {
    constexpr int N = Lanes<T>::count, few = Narrow<T>::count;
    constexpr auto source = [](int lane) {
        const int within = lane % few, run = within / Run;
        return lane - within + run / 2 * Run + within % Run + Second * few / 2 + run % 2 * N;
    };
#ifdef ISRHT_HAS_SHUFFLEVECTOR
    return __builtin_shufflevector(a, b, source(int(Lane))...);
#else
    return __builtin_shuffle(a, b, typename Lanes<T>::Bits{typename BitsOf<T>::Type(source(int(Lane)))...});
#endif
}

// Lets values change places with vectors, within every 16 bytes: value j of vector i becomes value i of vector j.
template <class T> ISRHT_INLINE void transpose_pieces(Vector<T> (&v)[Narrow<T>::count]) {
    constexpr auto lanes = std::make_index_sequence<size_t(Lanes<T>::count)>{};
    if constexpr (Narrow<T>::count == 2) {
        const Vector<T> a = v[0], b = v[1];
        v[0] = in_turns<T, 1, 0>(a, b, lanes);
        v[1] = in_turns<T, 1, 1>(a, b, lanes);
    } else {
        const Vector<T> a = in_turns<T, 1, 0>(v[0], v[1], lanes), b = in_turns<T, 1, 1>(v[0], v[1], lanes);
        const Vector<T> c = in_turns<T, 1, 0>(v[2], v[3], lanes), d = in_turns<T, 1, 1>(v[2], v[3], lanes);
        v[0] = in_turns<T, 2, 0>(a, c, lanes);
        v[1] = in_turns<T, 2, 1>(a, c, lanes);
        v[2] = in_turns<T, 2, 0>(b, d, lanes);
        v[3] = in_turns<T, 2, 1>(b, d, lanes);
    }
}

// Some rows, one for each lane, and the buffer in which they lie side by side.
template <class T> struct Abreast {
    static constexpr size_t N = size_t(Lanes<T>::count), few = size_t(Narrow<T>::count), kPieces = N / few;
    using Piece = typename Narrow<T>::Unaligned;
    T* rows[N];
    T* buffer;

    void read(size_t size) const {
        for (size_t at = 0; at < size; at += few) {
            Vector<T> v[few];
#pragma GCC unroll 4
            for (size_t i = 0; i < few; ++i) v[i] = joined(i, at);
            transpose_pieces<T>(v);
#pragma GCC unroll 4
            for (size_t i = 0; i < few; ++i) store(buffer + (at + i) * N, v[i]);
        }
    }
    void write(size_t size, T scale) const {
        const Vector<T> factor = broadcast(scale);
        for (size_t at = 0; at < size; at += few) {
            Vector<T> v[few];
#pragma GCC unroll 4
            for (size_t i = 0; i < few; ++i) {
                v[i] = load(buffer + (at + i) * N);
                if constexpr (kFloating<T>) v[i] *= factor;
            }
            transpose_pieces<T>(v);
#pragma GCC unroll 4
            for (size_t i = 0; i < few; ++i) spread(v[i], i, at, std::make_index_sequence<kPieces>{});
        }
    }

    // Transforms runs of 2^Radix * inner vectors along the first of these axes.
    template <int Radix> void transform_runs(size_t vectors, size_t inner) const {
        for (size_t at = 0; at < vectors; at += inner << Radix)
            for (size_t j = at; j < at + inner; ++j) radix_columns<Vector<T>, Radix>(buffer + j * N, inner * N);
    }

  private:
    ISRHT_INLINE const Piece& piece(size_t row, size_t at) const {
        return *reinterpret_cast<const Piece*>(rows[row] + at);
    }
#ifdef ISRHT_HAS_SHUFFLEVECTOR
    // Puts the lanes of b behind those of a.
    template <class V, size_t... Lane> static ISRHT_INLINE auto both(V a, V b, std::index_sequence<Lane...>) {
        return __builtin_shufflevector(a, b, int(Lane)...);
    }
    // Joins 16 bytes of rows i, i + few, i + 2 few, ... to a vector.
    ISRHT_INLINE Vector<T> joined(size_t i, size_t at) const {
        if constexpr (kPieces == 1) return piece(i, at);
        else {
            const auto low = both(piece(i, at), piece(few + i, at), std::make_index_sequence<2 * few>{});
            if constexpr (kPieces == 2) return low;
            else {
                const size_t third = 2 * few + i;
                const auto high = both(piece(third, at), piece(few + third, at), std::make_index_sequence<2 * few>{});
                return both(low, high, std::make_index_sequence<N>{});
            }
        }
    }
    template <size_t From, size_t... Lane> static ISRHT_INLINE Piece part(Vector<T> all, std::index_sequence<Lane...>) {
        return __builtin_shufflevector(all, all, int(From + Lane)...);
    }
    // Puts 16 bytes each of a vector where they came from.
    template <size_t... Each>
    ISRHT_INLINE void spread(Vector<T> all, size_t i, size_t at, std::index_sequence<Each...>) const {
        ((*reinterpret_cast<Piece*>(rows[Each * few + i] + at) =
              part<Each * few>(all, std::make_index_sequence<few>{})),
         ...);
    }
#else
    ISRHT_INLINE Vector<T> joined(size_t i, size_t at) const {
        Vector<T> all;
        for (size_t p = 0; p < kPieces; ++p) std::memcpy(&all[int(p * few)], rows[p * few + i] + at, 16);
        return all;
    }
    template <class Each> ISRHT_INLINE void spread(Vector<T> all, size_t i, size_t at, Each) const {
        for (size_t p = 0; p < kPieces; ++p) std::memcpy(rows[p * few + i] + at, &all[int(p * few)], 16);
    }
#endif
};

// Returns whether streams are so short, shorter than a vector, that rows are taken side by side.
template <class T> bool goes_abreast(const Cube<T>& cube, const SmallMatrix& plan) {
    return cube.length / plan.order * cube.inner < size_t(Lanes<T>::count);
}

// Transforms such blocks. Where they are fewer than lanes, several lanes have the last one.
template <class T> ISRHT_NOINLINE void transform_abreast(Cube<T> cube, const SmallMatrix& plan, T scale) {
    constexpr size_t N = size_t(Lanes<T>::count);
    const size_t size = cube.length * cube.inner, columns = size / plan.order * N;
    Scratch scratch(size * N * sizeof(T));
    Abreast<T> abreast;
    abreast.buffer = static_cast<T*>(scratch.data);
    for (size_t i = 0; i < cube.outer; i += N) {
        for (size_t lane = 0; lane < N; ++lane)
            abreast.rows[lane] = cube.block(i + lane < cube.outer ? i + lane : cube.outer - 1);
        abreast.read(size);
        // Memory moves the next rows while these are combined.
        const intptr_t next = reinterpret_cast<intptr_t>(abreast.rows[N - 1] + cube.stride);
        if (cube.stride == ptrdiff_t(size))
            for (size_t at = 0; at < size * N * sizeof(T); at += kCacheLine) prefetch_at(nullptr, next + intptr_t(at));
        combine(abreast.buffer, columns, columns, plan);
        switch (cube.length / plan.order) {
            case 1: break;
            case 2: abreast.template transform_runs<1>(size, cube.inner); break;
            case 4: abreast.template transform_runs<2>(size, cube.inner); break;
            default: abreast.template transform_runs<3>(size, cube.inner);
        }
        abreast.write(size, scale);
    }
}

}  // namespace isrht::ISRHT_VARIANT
