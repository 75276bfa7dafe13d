// The projection of sparse rows in small groups of entries.
//
// A group is three floats or two doubles. Its 8 or 4 possible signed sums fit into one register. For each column, the
// sign bits of the group's features select one of these sums, by one permutation where the processor has it.
#pragma once

#include "records.hpp"
#include "sparse/sign_bits.hpp"

namespace isrht::ISRHT_VARIANT {

// Sign bits are packed in words of 32 bits: a word belongs to one lane and has a nibble for each of eight steps, a step
// being one vector of columns. The columns that one vector of words covers are a tile.
constexpr int kSteps = 8;
template <class T> constexpr size_t kTile = kSteps * size_t(Lanes<T>::count);
// Entries of a group. Each has a bit of the nibble; the lowest bit of doubles, of which a lane is two words, stays
// free.
template <class T> constexpr int kGrouped = sizeof(T) == 4 ? 3 : 2;
template <class T> constexpr int kLowestBit = sizeof(T) == 4 ? 0 : 1;
// So many bytes of sign bits are kept at once: they share the nearer caches with the tables.
constexpr size_t kSignBytes = 16384;

typedef uint32_t UnsignedWords __attribute__((vector_size(kVectorBytes)));
typedef uint64_t UnsignedPairs __attribute__((vector_size(kVectorBytes)));

// A word for each lane of a vector, which for double is half a vector.
template <class T> struct SignWords {
    typedef uint32_t Type __attribute__((vector_size(kVectorBytes * 4 / sizeof(T))));
};

// Writes the sign bits of all columns for one bit of the index of a feature.
template <class T>
void fill_sign_words(Columns<T> columns, size_t bit, size_t tiles, typename SignWords<T>::Type* entry) {
    constexpr size_t N = size_t(Lanes<T>::count);
    uint32_t* word = reinterpret_cast<uint32_t*>(entry);
    for (size_t w = 0; w < tiles * N; ++w) word[w] = 0;
    for (size_t c = 0; c < columns.count; ++c) {
        if (!((uint64_t(columns.index[c]) >> bit) & 1)) continue;
        const size_t tile = c / kTile<T>, step = c % kTile<T> / N, lane = c % N;
        word[tile * N + lane] |= uint32_t(1) << (4 * step);
    }
}

// The possible signed sums of a group; where there is no permutation, the values of its entries.
template <class T> struct GroupSums {
    Vector<T> sums;
    T value[4];
};

template <class T, size_t... Lane> ISRHT_INLINE Vector<T> signs_of_entry(int entry, std::index_sequence<Lane...>) {
    return Vector<T>{((int(Lane) >> entry) & 1 ? T(-1) : T(1))...};
}

template <class T> ISRHT_INLINE void set_sums([[maybe_unused]] GroupSums<T>& group) {
#ifdef ISRHT_PERMUTE
    constexpr auto lanes = std::make_index_sequence<size_t(Lanes<T>::count)>{};
    group.sums = signs_of_entry<T>(0, lanes) * group.value[0];
    for (int e = 1; e < kGrouped<T>; ++e) group.sums += signs_of_entry<T>(e, lanes) * group.value[e];
#endif
}

#ifdef ISRHT_PERMUTE
// Returns, in each word, the word of `sums` that a nibble names.
template <class T> ISRHT_INLINE Vector<T> pick(Vector<T> sums, UnsignedWords nibbles) {
#if defined(__clang__) && ISRHT_VECTOR_BYTES == 64
    return (Vector<T>)_mm512_permutexvar_ps((__m512i)nibbles, (__m512)sums);
#elif defined(__clang__)
    return (Vector<T>)_mm256_permutevar8x32_ps((__m256)sums, (__m256i)nibbles);
#else
    return (Vector<T>)__builtin_shuffle((Words)sums, (Words)nibbles);
#endif
}
#endif

// Returns the group's signed sums for the columns of one step, whose sign bits are in nibble `step`.
template <class T> ISRHT_INLINE Vector<T> signed_sum(const GroupSums<T>& group, UnsignedWords signs, int step) {
#ifdef ISRHT_PERMUTE
    return pick<T>(group.sums, signs >> (4 * step));
#else
    using Bits = typename Lanes<T>::Bits;
    Vector<T> sum{};
    for (int e = 0; e < kGrouped<T>; ++e) {
        const UnsignedWords raised = signs << (31 - 4 * step - e - kLowestBit<T>);
        const Vector<T> entry = (Vector<T>)((Bits)broadcast(group.value[e]) ^ ((Bits)raised & top_bit<T>()));
        sum = e == 0 ? entry : sum + entry;
    }
    return sum;
#endif
}

// Returns the nibbles as the permutation needs them. A double is two words: both get its nibbles, and those of the
// second word get the free bit, which selects the second half of a sum.
ISRHT_INLINE UnsignedWords spread_nibbles(SignWords<float>::Type nibbles) { return nibbles; }
template <class Half> ISRHT_INLINE UnsignedWords spread_nibbles(Half nibbles) {
    const UnsignedPairs pairs = __builtin_convertvector(nibbles, UnsignedPairs);
    return (UnsignedWords)(pairs | ((pairs | 0x11111111u) << 32));
}

template <class T, class Index> struct GroupedProjection {
    using Entry = typename SignWords<T>::Type;
    SparseRows<T, Index> rows;
    const T* diagonal;
    SignTables<Entry> tables;
    size_t groups_at_once;
    UnsignedWords* signs;  // (groups, tiles)
    GroupSums<T>* groups;
    T* sums;  // One row of the result, in whole tiles.

    void row(size_t i, Columns<T> columns, T* out) const {
        for (size_t c = 0; c < tables.width * kTile<T>; ++c) sums[c] = T(0);
        const size_t last = rows.end(i), chunk = groups_at_once * kGrouped<T>;
        for (size_t at = rows.begin(i); at < last; at += chunk) {
            const size_t count = last - at < chunk ? last - at : chunk;
            with_digits(tables.digits, [&](auto digits) { gather<digits>(at, count); });
            for (size_t t = 0; t < tables.width; ++t) add_tile(t, (count + kGrouped<T> - 1) / kGrouped<T>);
        }
        for (size_t c = 0; c < columns.count; ++c) out[c] = sums[c] * columns.scale[c];
    }

  private:
    // Works out the signed sums and the sign bits of `count` entries.
    template <int Digits> void gather(size_t at, size_t count) const {
        for (size_t g = 0; g * kGrouped<T> < count; ++g) {
            size_t feature[4] = {};
            for (int e = 0; e < kGrouped<T>; ++e) {
                const size_t k = g * kGrouped<T> + size_t(e);
                feature[e] = k < count ? size_t(rows.indices[at + k]) : 0;
                groups[g].value[e] = k < count ? rows.data[at + k] * diagonal[feature[e]] : T(0);
            }
            set_sums(groups[g]);
            combine_signs<Digits>(feature, signs + g * tables.width);
        }
    }

    // Writes the sign nibbles of one group in all columns.
    template <int Digits> ISRHT_INLINE void combine_signs(const size_t (&feature)[4], UnsignedWords* to) const {
        const Entry* entry[kGrouped<T>][Digits];
        for (int e = 0; e < kGrouped<T>; ++e)
            for (int digit = 0; digit < Digits; ++digit) entry[e][digit] = tables.of(size_t(digit), feature[e]);
        for (size_t t = 0; t < tables.width; ++t) {
            Entry all{};
#pragma GCC unroll 3
            for (int e = 0; e < kGrouped<T>; ++e) {
                Entry one = entry[e][0][t];
#pragma GCC unroll 4
                for (int digit = 1; digit < Digits; ++digit) one ^= entry[e][digit][t];
                all |= one << (e + kLowestBit<T>);
            }
            to[t] = spread_nibbles(all);
        }
    }

    // Adds the signed sums of the groups in the columns of one tile.
    void add_tile(size_t tile, size_t count) const {
        constexpr size_t N = size_t(Lanes<T>::count);
        T* to = sums + tile * kTile<T>;
        Vector<T> total[kSteps];
#pragma GCC unroll 8
        for (int step = 0; step < kSteps; ++step) total[step] = load(to + step * N);
        for (size_t g = 0; g < count; ++g) {
            const UnsignedWords group_signs = signs[g * tables.width + tile];
#pragma GCC unroll 8
            for (int step = 0; step < kSteps; ++step) total[step] += signed_sum(groups[g], group_signs, step);
        }
#pragma GCC unroll 8
        for (int step = 0; step < kSteps; ++step) store(to + step * N, total[step]);
    }
};

template <class T, class Index>
void project_grouped(SparseRows<T, Index> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    using Projection = GroupedProjection<T, Index>;
    using Entry = typename Projection::Entry;
    const size_t tiles = (columns.count + kTile<T> - 1) / kTile<T>, digits = bytes_of_index(length);
    const size_t fitting = kSignBytes / (tiles * sizeof(UnsignedWords)), at_once = fitting < 8 ? 8 : fitting;
    Scratch entries(SignTables<Entry>::bytes(tiles, digits)), signs(at_once * tiles * sizeof(UnsignedWords));
    Scratch groups(at_once * sizeof(GroupSums<T>)), sums(tiles * kTile<T> * sizeof(T));
    const Projection projection{rows,
                                diagonal,
                                {tiles, digits, static_cast<Entry*>(entries.data)},
                                at_once,
                                static_cast<UnsignedWords*>(signs.data),
                                static_cast<GroupSums<T>*>(groups.data),
                                static_cast<T*>(sums.data)};
    projection.tables.fill([&](size_t bit, Entry* to) { fill_sign_words(columns, bit, tiles, to); });
    for (size_t i = 0; i < rows.count; ++i) projection.row(i, columns, out + i * columns.count);
}

}  // namespace isrht::ISRHT_VARIANT
