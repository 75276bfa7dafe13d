// Kernels over sparse rows. Nothing here rotates a row: column j of a rotated sparse row is a signed sum over
// its entries, z_j = sum_k u_k (-1)^popcount(k & j) with u_k = x_k diagonal_k.
//
// The sign bits of feature k in all r wanted columns are the XOR of one table row per byte of k. Entries are
// taken in small groups: the 8 (float) or 4 (double) possible signed sums of a group fit one register, and for
// each column the group's sign bits select among them, by one permutation where the processor has it; or all 256
// signed sums of eight doubles lie in a table, if there are columns enough to pay for it.
#pragma once

#include "dense.hpp"

namespace isrht::ISRHT_VARIANT {

constexpr size_t round_to_line(size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

// A 32-bit word per column of a vector holds a nibble for each of eight steps, of one vector of columns each.
constexpr int kSteps = 8;
template <class T> constexpr size_t kTile = kSteps * size_t(Lanes<T>::count);  // columns covered by one Words
template <class T> constexpr int kGrouped = sizeof(T) == 4 ? 3 : 2;            // entries in a group
template <class T> constexpr int kLowestBit = sizeof(T) == 4 ? 0 : 1;  // of a nibble; double lanes are word pairs

typedef uint32_t UnsignedWords __attribute__((vector_size(kVectorBytes)));
typedef uint64_t UnsignedPairs __attribute__((vector_size(kVectorBytes)));

// A nibble word per column of a vector: half a vector for double, of which a lane is two words wide.
template <class T> struct SignWords { typedef uint32_t Type __attribute__((vector_size(kVectorBytes * 4 / sizeof(T)))); };

// The sign bits of all columns, `width` entries of them, for each byte of a feature's index and each of its 256 values:
// `fill_bit(bit, to)` says those of one bit of an index, and the others follow by XOR.
template <class Entry, class FillBit>
void fill_digits(Entry* entries, size_t width, size_t digits, const FillBit& fill_bit) {
    for (size_t digit = 0; digit < digits; ++digit) {
        Entry* table = entries + digit * 256 * width;
        for (size_t w = 0; w < width; ++w) table[w] = Entry{};
        for (size_t value = 1; value < 256; ++value) {
            const size_t without = value & (value - 1), bit = 8 * digit + size_t(__builtin_ctzll(value));
            if (!without) fill_bit(bit, table + value * width);
            else for (size_t w = 0; w < width; ++w)
                table[value * width + w] = table[without * width + w] ^ table[(value ^ without) * width + w];
        }
    }
}

// Which nibble of which word has the sign of a column: see above.
template <class T> struct SignTables {
    using Entry = typename SignWords<T>::Type;
    size_t tiles, digits;
    Entry* entries;

    static size_t digits_for(size_t length) { return length <= 256 ? 1 : (size_t(__builtin_ctzll(length)) + 7) / 8; }
    static size_t bytes(size_t tiles, size_t digits) { return round_to_line(digits * 256 * tiles * sizeof(Entry)); }

    ISRHT_INLINE const Entry* entry(size_t digit, size_t feature) const {
        return entries + (digit * 256 + ((feature >> (8 * digit)) & 255)) * tiles;
    }

    void fill(Columns<T> columns) const {
        fill_digits(entries, tiles, digits, [&](size_t bit, Entry* to) { fill_bit(columns, bit, to); });
    }

    void fill_bit(Columns<T> columns, size_t bit, Entry* entry) const {
        constexpr size_t N = size_t(Lanes<T>::count);
        uint32_t* word = reinterpret_cast<uint32_t*>(entry);
        for (size_t w = 0; w < tiles * N; ++w) word[w] = 0;
        for (size_t c = 0; c < columns.count; ++c) {
            if (!((uint64_t(columns.index[c]) >> bit) & 1)) continue;
            const size_t tile = c / kTile<T>, step = c % kTile<T> / N, lane = c % N;
            word[tile * N + lane] |= uint32_t(1) << (4 * step);
        }
    }
};

// A group of entries: its possible signed sums, or where there is no permutation, its values.
template <class T> struct GroupSums {
    Vector<T> sums;
    T value[4];
};

template <class T, size_t... Lane>
ISRHT_INLINE Vector<T> signs_of_entry(int entry, std::index_sequence<Lane...>) {
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

// The group's signed sums for the columns of one step, whose sign bits are in nibble `step`.
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

// The nibbles as the permutation needs them. A double is two words: both take its nibbles, those of the second
// with a bit that selects the second half of a sum.
ISRHT_INLINE UnsignedWords spread_nibbles(SignWords<float>::Type nibbles) { return nibbles; }
template <class Half> ISRHT_INLINE UnsignedWords spread_nibbles(Half nibbles) {
    const UnsignedPairs pairs = __builtin_convertvector(nibbles, UnsignedPairs);
    return (UnsignedWords)(pairs | ((pairs | 0x11111111u) << 32));
}

// The sign nibbles of one group in all columns.
template <class T, int Digits>
ISRHT_INLINE void combine_signs(const SignTables<T>& tables, const size_t (&feature)[4], UnsignedWords* signs) {
    using Entry = typename SignTables<T>::Entry;
    const Entry* entry[kGrouped<T>][Digits];
    for (int e = 0; e < kGrouped<T>; ++e)
        for (int digit = 0; digit < Digits; ++digit) entry[e][digit] = tables.entry(size_t(digit), feature[e]);
    for (size_t t = 0; t < tables.tiles; ++t) {
        Entry all{};
#pragma GCC unroll 3
        for (int e = 0; e < kGrouped<T>; ++e) {
            Entry one = entry[e][0][t];
#pragma GCC unroll 4
            for (int digit = 1; digit < Digits; ++digit) one ^= entry[e][digit][t];
            all |= one << (e + kLowestBit<T>);
        }
        signs[t] = spread_nibbles(all);
    }
}

// Groups whose signs and sums are kept at once: they and the tables share the nearer caches.
constexpr size_t kSignBytes = 16384;

template <class T, class Index> struct SparseProjection {
    SparseRows<T, Index> rows;
    const T* diagonal;
    SignTables<T> tables;
    size_t groups_at_once;
    UnsignedWords* signs;     // [group][tile]
    GroupSums<T>* groups;
    T* sums;                  // one output row, whole tiles

    void row(size_t i, Columns<T> columns, T* out) const {
        for (size_t c = 0; c < tables.tiles * kTile<T>; ++c) sums[c] = T(0);
        const size_t last = size_t(rows.indptr[i + 1]), chunk = groups_at_once * kGrouped<T>;
        for (size_t at = size_t(rows.indptr[i]); at < last; at += chunk) {
            const size_t count = last - at < chunk ? last - at : chunk;
            gather(at, count);
            for (size_t t = 0; t < tables.tiles; ++t) add_tile(t, (count + kGrouped<T> - 1) / kGrouped<T>);
        }
        for (size_t c = 0; c < columns.count; ++c) out[c] = sums[c] * columns.scale[c];
    }

    void gather(size_t at, size_t count) const {
        switch (tables.digits) {
            case 1: return gather_digits<1>(at, count);
            case 2: return gather_digits<2>(at, count);
            case 3: return gather_digits<3>(at, count);
            default: return gather_digits<4>(at, count);
        }
    }

    template <int Digits> void gather_digits(size_t at, size_t count) const {
        for (size_t g = 0; g * kGrouped<T> < count; ++g) {
            size_t feature[4] = {};
            for (int e = 0; e < kGrouped<T>; ++e) {
                const size_t k = g * kGrouped<T> + size_t(e);
                feature[e] = k < count ? size_t(rows.indices[at + k]) : 0;
                groups[g].value[e] = k < count ? rows.data[at + k] * diagonal[feature[e]] : T(0);
            }
            set_sums(groups[g]);
            combine_signs<T, Digits>(tables, feature, signs + g * tables.tiles);
        }
    }

    void add_tile(size_t tile, size_t count) const {
        constexpr size_t N = size_t(Lanes<T>::count);
        T* to = sums + tile * kTile<T>;
        Vector<T> total[kSteps];
#pragma GCC unroll 8
        for (int step = 0; step < kSteps; ++step) total[step] = load(to + step * N);
        for (size_t g = 0; g < count; ++g) {
            const UnsignedWords group_signs = signs[g * tables.tiles + tile];
#pragma GCC unroll 8
            for (int step = 0; step < kSteps; ++step) total[step] += signed_sum(groups[g], group_signs, step);
        }
#pragma GCC unroll 8
        for (int step = 0; step < kSteps; ++step) store(to + step * N, total[step]);
    }
};

// Doubles in many columns. Eight entries make a group, all 256 signed sums of which are tabled, and a byte per
// column says which one it takes. Two loads then serve eight entries, where a permutation serves two.
constexpr size_t kTabled = 8, kTable = 256;
constexpr size_t kManyColumns = 64;   // from here on the table is worth its 256 additions
constexpr size_t kTablesAtOnce = 10;  // of 2 kB each: they share the first-level cache with the bytes
constexpr size_t kBitColumns = 256;
constexpr size_t kAtOnce = 8;         // columns that are summed side by side: their bytes are one word
constexpr bool kLittle = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

// One bit per column: column 32 j + p is bit j of byte p.
typedef uint64_t BitRow __attribute__((vector_size(kBitColumns / 8)));

// As SignTables, a bit per column.
struct BitTables {
    size_t blocks, digits;
    BitRow* entries;

    static size_t bytes(size_t blocks, size_t digits) { return digits * 256 * blocks * sizeof(BitRow); }

    ISRHT_INLINE const BitRow* entry(size_t digit, size_t feature) const {
        return entries + (digit * 256 + ((feature >> (8 * digit)) & 255)) * blocks;
    }

    void fill(Columns<double> columns) const {
        fill_digits(entries, blocks, digits, [&](size_t bit, BitRow* to) { fill_bit(columns, bit, to); });
    }

    void fill_bit(Columns<double> columns, size_t bit, BitRow* entry) const {
        for (size_t b = 0; b < blocks; ++b) entry[b] = BitRow{};
        unsigned char* byte = reinterpret_cast<unsigned char*>(entry);
        for (size_t c = 0; c < columns.count; ++c) {
            const size_t block = c / kBitColumns, j = c % kBitColumns / 32, p = c % 32;
            byte[block * sizeof(BitRow) + p] |= (unsigned char)(((uint64_t(columns.index[c]) >> bit) & 1) << j);
        }
    }
};

template <int Shift> ISRHT_INLINE void swap_bits(BitRow& low, BitRow& high, uint64_t mask) {
    const BitRow moved = ((low >> Shift) ^ high) & mask;
    high ^= moved;
    low ^= moved << Shift;
}

// Bit j of byte p of row e becomes bit e of byte p of row j: eight rows of sign bits become a byte per column.
ISRHT_INLINE void transpose_bits(BitRow (&rows)[kTabled]) {
    for (int e = 0; e < 4; ++e) swap_bits<4>(rows[e], rows[e + 4], 0x0F0F0F0F0F0F0F0Full);
    for (int e : {0, 1, 4, 5}) swap_bits<2>(rows[e], rows[e + 2], 0x3333333333333333ull);
    for (int e : {0, 2, 4, 6}) swap_bits<1>(rows[e], rows[e + 1], 0x5555555555555555ull);
}

typedef double Four __attribute__((vector_size(32)));

// The signed sums of two values: bit 0 of the lane is the sign of the first.
ISRHT_INLINE Four pair_sums(double first, double second) {
    return Four{first, -first, first, -first} + Four{second, second, -second, -second};
}

// All signed sums of eight values: bit e of the index is the sign of value e.
ISRHT_INLINE void fill_sums(const double (&value)[kTabled], double* table) {
    const Four first = pair_sums(value[0], value[1]), second = pair_sums(value[2], value[3]);
    const Four third = pair_sums(value[4], value[5]), fourth = pair_sums(value[6], value[7]);
    Four low[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) low[i] = first + second[i];
#pragma GCC unroll 4
    for (int h = 0; h < 4; ++h) {
        const Four high = third + fourth[h];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
#pragma GCC unroll 4
            for (int l = 0; l < 4; ++l) {
                const Four sums = low[l] + high[i];
                __builtin_memcpy(table + 64 * h + 16 * i + 4 * l, &sums, sizeof sums);
            }
        }
    }
}

// Looked up one by one, sums are best added one by one: vectors of them would have to be put together first.
#if defined(__GNUC__) && !defined(__clang__)
#define ISRHT_SCALAR __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#else
#define ISRHT_SCALAR
#endif

template <class Index> struct TabledProjection {
    SparseRows<double, Index> rows;
    const double* diagonal;
    BitTables bits;
    double* tables;        // [group][256]
    unsigned char* which;  // [group][column]
    double* sums;          // one output row, whole blocks

    size_t width() const { return bits.blocks * kBitColumns; }

    void row(size_t i, Columns<double> columns, double* out) const {
        for (size_t c = 0; c < width(); ++c) sums[c] = 0;
        const size_t last = size_t(rows.indptr[i + 1]), chunk = kTablesAtOnce * kTabled;
        for (size_t at = size_t(rows.indptr[i]); at < last; at += chunk) {
            const size_t count = last - at < chunk ? last - at : chunk;
            switch (bits.digits) {
                case 1: gather<1>(at, count); break;
                case 2: gather<2>(at, count); break;
                case 3: gather<3>(at, count); break;
                default: gather<4>(at, count);
            }
            add_groups((count + kTabled - 1) / kTabled, columns.count);
        }
        for (size_t c = 0; c < columns.count; ++c) out[c] = sums[c] * columns.scale[c];
    }

    template <int Digits> void gather(size_t at, size_t count) const {
        for (size_t g = 0; g * kTabled < count; ++g) {
            size_t feature[kTabled];
            double value[kTabled];
            for (size_t e = 0; e < kTabled; ++e) {
                const size_t k = g * kTabled + e;
                feature[e] = k < count ? size_t(rows.indices[at + k]) : 0;
                value[e] = k < count ? rows.data[at + k] * diagonal[feature[e]] : 0.0;
            }
            fill_sums(value, tables + g * kTable);
            for (size_t b = 0; b < bits.blocks; ++b) {
                BitRow signs[kTabled];
#pragma GCC unroll 8
                for (size_t e = 0; e < kTabled; ++e) {
                    signs[e] = bits.entry(0, feature[e])[b];
#pragma GCC unroll 4
                    for (int digit = 1; digit < Digits; ++digit) signs[e] ^= bits.entry(size_t(digit), feature[e])[b];
                }
                transpose_bits(signs);
                BitRow* to = reinterpret_cast<BitRow*>(which + g * width()) + b * kTabled;
#pragma GCC unroll 8
                for (size_t j = 0; j < kTabled; ++j) to[j] = signs[j];
            }
        }
    }

    ISRHT_SCALAR void add_groups(size_t count, size_t n_columns) const {
        for (size_t c = 0; c < n_columns; c += kAtOnce) {  // whole blocks have room for all of them
            double sum[kAtOnce];
#pragma GCC unroll 8
            for (size_t k = 0; k < kAtOnce; ++k) sum[k] = sums[c + k];
            const unsigned char* byte = which + c;
            const double* table = tables;
            for (size_t g = 0; g < count; ++g, byte += width(), table += kTable) {
                uint64_t bytes;
                __builtin_memcpy(&bytes, byte, sizeof bytes);
#pragma GCC unroll 8
                for (size_t k = 0; k < kAtOnce; ++k) sum[k] += table[(bytes >> 8 * (kLittle ? k : 7 - k)) & 255];
            }
#pragma GCC unroll 8
            for (size_t k = 0; k < kAtOnce; ++k) sums[c + k] = sum[k];
        }
    }
};

template <class Index>
void project_tabled(SparseRows<double, Index> rows, const double* diagonal, size_t length, Columns<double> columns,
                    double* out) {
    const size_t blocks = (columns.count + kBitColumns - 1) / kBitColumns;
    const size_t digits = SignTables<double>::digits_for(length), width = blocks * kBitColumns;
    const size_t bit_bytes = BitTables::bytes(blocks, digits), table_bytes = kTablesAtOnce * kTable * sizeof(double);
    Scratch scratch(bit_bytes + table_bytes + kTablesAtOnce * width + width * sizeof(double));
    char* free = static_cast<char*>(scratch.data);
    TabledProjection<Index> projection{rows, diagonal, {blocks, digits, reinterpret_cast<BitRow*>(free)},
                                       reinterpret_cast<double*>(free + bit_bytes),
                                       reinterpret_cast<unsigned char*>(free + bit_bytes + table_bytes),
                                       reinterpret_cast<double*>(free + bit_bytes + table_bytes + kTablesAtOnce * width)};
    projection.bits.fill(columns);
    for (size_t i = 0; i < rows.count; ++i) projection.row(i, columns, out + i * columns.count);
}

template <class T, class Index>
void project_sparse(SparseRows<T, Index> rows, const T* diagonal, size_t length, Columns<T> columns, T* out) {
    if constexpr (sizeof(T) == 8)
        if (columns.count >= kManyColumns) return project_tabled(rows, diagonal, length, columns, out);
    const size_t tiles = (columns.count + kTile<T> - 1) / kTile<T>, digits = SignTables<T>::digits_for(length);
    const size_t fitting = kSignBytes / (tiles * sizeof(UnsignedWords)), at_once = fitting < 8 ? 8 : fitting;
    const size_t table_bytes = SignTables<T>::bytes(tiles, digits), sign_bytes = at_once * tiles * sizeof(UnsignedWords);
    const size_t group_bytes = round_to_line(at_once * sizeof(GroupSums<T>));
    Scratch scratch(table_bytes + sign_bytes + group_bytes + tiles * kTile<T> * sizeof(T));
    char* free = static_cast<char*>(scratch.data);
    using Entry = typename SignTables<T>::Entry;
    SparseProjection<T, Index> projection{rows, diagonal, {tiles, digits, reinterpret_cast<Entry*>(free)}, at_once,
                                          reinterpret_cast<UnsignedWords*>(free + table_bytes),
                                          reinterpret_cast<GroupSums<T>*>(free + table_bytes + sign_bytes),
                                          reinterpret_cast<T*>(free + table_bytes + sign_bytes + group_bytes)};
    projection.tables.fill(columns);
    for (size_t i = 0; i < rows.count; ++i) projection.row(i, columns, out + i * columns.count);
}

template <class T, class Index> void add_sparse_rows(SparseRows<T, Index> rows, RowChoice chosen, double* totals) {
    for (size_t c = 0; c < chosen.count; ++c)
        for (Index p = rows.indptr[chosen.index[c]]; p < rows.indptr[chosen.index[c] + 1]; ++p)
            totals[rows.indices[p]] += double(rows.data[p]);
}

// Entries whose totals are asked for ahead of time: they lie anywhere, mostly beyond the cache.
constexpr size_t kAhead = 16;

// The number of problems is a constant of the compiler where it is one of the usual ones, else 0.
template <size_t Problems, class T, class Index> struct Moments {
    SparseRows<T, Index> rows;
    RowFactors factors;
    double* totals;

    ISRHT_INLINE size_t problems() const { return Problems ? Problems : factors.problems; }

    ISRHT_INLINE double* totals_of(size_t entry) const { return totals + size_t(rows.indices[entry]) * 3 * problems(); }

    bool counts(size_t row) const {
        bool any = false;
        for (size_t p = row * problems(); p < (row + 1) * problems(); ++p)
            any |= factors.first[p] != 0 || factors.second[p] != 0;
        return any;
    }

    void add_row(size_t row) const {
        const double *first = factors.first + row * problems(), *second = factors.second + row * problems();
        const size_t end = size_t(rows.indptr[row + 1]), last = size_t(rows.indptr[rows.count]);
        for (size_t entry = size_t(rows.indptr[row]); entry < end; ++entry) {
            if (entry + kAhead < last) prefetch(totals_of(entry + kAhead));
            const double x = double(rows.data[entry]), square = x * x;
            double* total = totals_of(entry);
            for (size_t p = 0; p < problems(); ++p) total[p] += x * first[p];
            for (size_t p = 0; p < problems(); ++p) total[problems() + p] += x * second[p];
            for (size_t p = 0; p < problems(); ++p) total[2 * problems() + p] += square * second[p];
        }
    }

    ISRHT_INLINE void prefetch(const double* total) const {
        for (size_t p = 0; p < 3 * problems(); p += kCacheLine / sizeof(double)) __builtin_prefetch(total + p, 1);
    }

    void run() const {
        for (size_t row = 0; row < rows.count; ++row)
            if (counts(row)) add_row(row);
    }
};

template <class T, class Index> void add_moments(SparseRows<T, Index> rows, RowFactors factors, double* totals) {
    if (factors.problems == 1) Moments<1, T, Index>{rows, factors, totals}.run();
    else if (factors.problems == 2) Moments<2, T, Index>{rows, factors, totals}.run();
    else if (factors.problems == 4) Moments<4, T, Index>{rows, factors, totals}.run();
    else Moments<0, T, Index>{rows, factors, totals}.run();
}

// Four problems are one vector of AVX2; on other machines the compiler splits it.
typedef double TwoDoubles __attribute__((vector_size(16), aligned(8), may_alias));
typedef double FourDoubles __attribute__((vector_size(32), aligned(8), may_alias));

template <size_t Problems> struct ProblemLanes { using Type = double; };
template <> struct ProblemLanes<2> { using Type = TwoDoubles; };
template <> struct ProblemLanes<4> { using Type = FourDoubles; };

// All problems, as many of them at a time as there are vectors for.
template <class Step> ISRHT_INLINE void for_problems(size_t problems, const Step& step) {
    size_t p = 0;
    for (; p + 4 <= problems; p += 4) step.template of<4>(p);
    for (; p + 2 <= problems; p += 2) step.template of<2>(p);
    if (p < problems) step.template of<1>(p);
}

template <class T, class Index> struct FeatureMoments {
    SparseRows<T, Index> features;
    const double* factors;
    size_t problems;
    double* totals;
    size_t feature;

    template <size_t Problems> ISRHT_INLINE void of(size_t p) const {
        using Lane = typename ProblemLanes<Problems>::Type;
        Lane gradient{}, slope{}, square{};
        const size_t end = size_t(features.indptr[feature + 1]);
        for (size_t entry = size_t(features.indptr[feature]); entry < end; ++entry) {
            const double* of_row = factors + size_t(features.indices[entry]) * 2 * problems + p;
            const Lane first = *reinterpret_cast<const Lane*>(of_row);
            const Lane second = *reinterpret_cast<const Lane*>(of_row + problems);
            const double x = double(features.data[entry]);
            gradient += x * first;
            slope += x * second;
            square += (x * x) * second;
        }
        double* total = totals + feature * 3 * problems + p;
        *reinterpret_cast<Lane*>(total) = gradient;
        *reinterpret_cast<Lane*>(total + problems) = slope;
        *reinterpret_cast<Lane*>(total + 2 * problems) = square;
    }
};

template <class T, class Index>
void moments_of_features(SparseRows<T, Index> features, const double* factors, size_t problems, double* totals) {
    for (size_t k = 0; k < features.count; ++k)
        for_problems(problems, FeatureMoments<T, Index>{features, factors, problems, totals, k});
}

template <class T, class Index> struct FeatureProducts {
    SparseRows<T, Index> features;
    const double* matrix;
    size_t problems;
    double* out;
    size_t feature;

    template <size_t Problems> ISRHT_INLINE void of(size_t p) const {
        using Lane = typename ProblemLanes<Problems>::Type;
        const Lane factor = *reinterpret_cast<const Lane*>(matrix + feature * problems + p);
        const size_t end = size_t(features.indptr[feature + 1]);
        for (size_t entry = size_t(features.indptr[feature]); entry < end; ++entry) {
            Lane& sum = *reinterpret_cast<Lane*>(out + size_t(features.indices[entry]) * problems + p);
            sum += double(features.data[entry]) * factor;
        }
    }
};

// Piece by piece: moments, diagonals and products of a feature meet in the cache.
template <class T, class Index>
void diagonals_of_features(SparseRows<T, Index> features, const double* factors, FeatureTable table,
                           DiagonalProblems problems, double constant, DiagonalResults results, double* products) {
    const size_t count = problems.count;
    Scratch scratch(kFeaturePiece * 4 * count * sizeof(double));
    double *totals = static_cast<double*>(scratch.data), *matrix = totals + kFeaturePiece * 3 * count;
    for (size_t from = 0; from < features.count; from += kFeaturePiece) {
        const size_t left = features.count - from, size = left < kFeaturePiece ? left : kFeaturePiece;
        const SparseRows<T, Index> piece{features.data, features.indices, features.indptr + from, size, features.width};
        moments_of_features(piece, factors, count, totals);
        DiagonalResults here = results.from(from, count);
        here.diagonals = matrix;
        make_diagonals(totals, table.piece(from, size), problems, constant, here);
        for (size_t k = 0; k < size; ++k)
            for_problems(count, FeatureProducts<T, Index>{piece, matrix, count, products, k});
    }
}

// Totals beyond a cache are worked through region by region, for a batch of rows at a time: pairs of entries
// whose high bits differ by `region` all fall into that region. Rows are sorted by those high bits first.
constexpr size_t kRegion = 32768, kMostRegions = 64, kBatchEntries = 65536;

template <class T, class Index> struct Autocorrelation {
    SparseRows<T, Index> rows;
    RowChoice chosen;
    const T* diagonal;
    double* totals;
    size_t regions;
    int region_bits;
    double* value;      // entries of the batch, sorted by region within each row
    uint32_t* feature;  // their low bits
    uint32_t* start;    // [row][region]: where the entries of a region start

    size_t entries(size_t c) const {
        return size_t(rows.indptr[chosen.index[c] + 1]) - size_t(rows.indptr[chosen.index[c]]);
    }

    // Rows from `first` on that fit the batch together; at least one.
    size_t batch_rows(size_t first) const {
        size_t count = 1;
        for (size_t sum = entries(first); first + count < chosen.count; ++count) {
            sum += entries(first + count);
            if (sum > kBatchEntries) break;
        }
        return count;
    }

    void sort_row(size_t c, size_t at, uint32_t* starts) const {
        const size_t from = size_t(rows.indptr[chosen.index[c]]), to = from + entries(c);
        for (size_t g = 0; g <= regions; ++g) starts[g] = 0;
        for (size_t p = from; p < to; ++p) starts[(size_t(rows.indices[p]) >> region_bits) + 1] += 1;
        starts[0] = uint32_t(at);
        for (size_t g = 0; g < regions; ++g) starts[g + 1] += starts[g];
        for (size_t p = from; p < to; ++p) {
            const size_t k = size_t(rows.indices[p]), place = starts[k >> region_bits]++;
            feature[place] = uint32_t(k & ((size_t(1) << region_bits) - 1));
            value[place] = double(rows.data[p]) * double(diagonal[k]);
        }
        for (size_t g = regions; g > 0; --g) starts[g] = starts[g - 1];
        starts[0] = uint32_t(at);
    }

    void add_within(const uint32_t* starts) const {
        for (size_t g = 0; g < regions; ++g)
            for (size_t p = starts[g]; p < starts[g + 1]; ++p) {
                totals[0] += value[p] * value[p];
                add_pairs(p, starts[g], p, totals);
            }
    }

    void add_between(const uint32_t* starts, size_t region) const {
        for (size_t g = 0; g < regions; ++g) {
            const size_t other = g ^ region;
            if (other < g) continue;
            for (size_t p = starts[g]; p < starts[g + 1]; ++p)
                add_pairs(p, starts[other], starts[other + 1], totals + (region << region_bits));
        }
    }

    ISRHT_INLINE void add_pairs(size_t p, size_t from, size_t to, double* into) const {
        const double twice = 2 * value[p];
        const uint32_t k = feature[p];
        for (size_t q = from; q < to; ++q) into[k ^ feature[q]] += twice * value[q];
    }

    void run() const {
        for (size_t first = 0; first < chosen.count;) {
            const size_t count = batch_rows(first);
            for (size_t i = 0, at = 0; i < count; at += entries(first + i), ++i)
                sort_row(first + i, at, start + i * (regions + 1));
            for (size_t i = 0; i < count; ++i) add_within(start + i * (regions + 1));
            for (size_t region = 1; region < regions; ++region)
                for (size_t i = 0; i < count; ++i) add_between(start + i * (regions + 1), region);
            first += count;
        }
    }
};

template <class T, class Index>
void add_autocorrelation(SparseRows<T, Index> rows, RowChoice chosen, const T* diagonal, size_t length, double* totals) {
    size_t regions = length / kRegion;
    regions = regions < 1 ? 1 : regions > kMostRegions ? kMostRegions : regions;
    Autocorrelation<T, Index> work{rows, chosen, diagonal, totals, regions, int(__builtin_ctzll(length / regions)),
                                   nullptr, nullptr, nullptr};
    size_t most_entries = kBatchEntries, most_rows = 1;
    for (size_t c = 0; c < chosen.count; ++c) most_entries = work.entries(c) > most_entries ? work.entries(c) : most_entries;
    for (size_t first = 0; first < chosen.count;) {
        const size_t count = work.batch_rows(first);
        most_rows = count > most_rows ? count : most_rows;
        first += count;
    }
    Scratch values(most_entries * sizeof(double)), features(most_entries * sizeof(uint32_t));
    Scratch starts(most_rows * (regions + 1) * sizeof(uint32_t));
    work.value = static_cast<double*>(values.data);
    work.feature = static_cast<uint32_t*>(features.data);
    work.start = static_cast<uint32_t*>(starts.data);
    work.run();
}

}  // namespace isrht::ISRHT_VARIANT
