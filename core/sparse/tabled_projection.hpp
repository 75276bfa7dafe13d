// The projection of sparse rows of doubles to many columns, in groups of eight entries.
//
// All 256 signed sums of a group lie in a table, and a byte for each column says which of them it takes. Two loads then
// serve eight entries, where a permutation (grouped_projection.hpp) serves two.
#pragma once

#include "records.hpp"
#include "sparse/sign_bits.hpp"

namespace isrht::ISRHT_VARIANT {

// Entries of a group, and its signed sums.
constexpr size_t kTabled = 8, kTable = 256;
// From this many columns on, the table of a group is worth its 256 additions.
constexpr size_t kManyColumns = 64;
// So many tables of 2 kB each are kept at once: they share the first-level cache with the bytes that select.
constexpr size_t kTablesAtOnce = 10;
// So many columns have their sign bits together; so many are summed side by side, because their bytes are one word.
constexpr size_t kBitColumns = 256, kAtOnce = 8;
constexpr bool kLittleEndian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

// The sign bits of kBitColumns columns, a bit each: that of column 32 j + p is bit j of byte p.
typedef uint64_t BitRow __attribute__((vector_size(kBitColumns / 8)));

// Writes the sign bits of all columns for one bit of the index of a feature.
inline void fill_bit_rows(Columns<double> columns, size_t bit, size_t blocks, BitRow* entry) {
    for (size_t b = 0; b < blocks; ++b) entry[b] = BitRow{};
    unsigned char* byte = reinterpret_cast<unsigned char*>(entry);
    for (size_t c = 0; c < columns.count; ++c) {
        const size_t block = c / kBitColumns, j = c % kBitColumns / 32, p = c % 32;
        byte[block * sizeof(BitRow) + p] |= (unsigned char)(((uint64_t(columns.index[c]) >> bit) & 1) << j);
    }
}

template <int Shift> ISRHT_INLINE void swap_bits(BitRow& low, BitRow& high, uint64_t mask) {
    const BitRow moved = ((low >> Shift) ^ high) & mask;
    high ^= moved;
    low ^= moved << Shift;
}

// Turns eight rows of sign bits into a byte per column: bit j of byte p of row e becomes bit e of byte p of row j.
ISRHT_INLINE void transpose_bits(BitRow (&rows)[kTabled]) {
    for (int e = 0; e < 4; ++e) swap_bits<4>(rows[e], rows[e + 4], 0x0F0F0F0F0F0F0F0Full);
    for (int e : {0, 1, 4, 5}) swap_bits<2>(rows[e], rows[e + 2], 0x3333333333333333ull);
    for (int e : {0, 2, 4, 6}) swap_bits<1>(rows[e], rows[e + 1], 0x5555555555555555ull);
}

typedef double Four __attribute__((vector_size(32)));

// Returns the signed sums of two values: bit 0 of the lane is the sign of the first, bit 1 that of the second.
ISRHT_INLINE Four pair_sums(double first, double second) {
    return Four{first, -first, first, -first} + Four{second, second, -second, -second};
}

// Writes all signed sums of eight values: bit e of the index is the sign of value e.
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

// Sums that are looked up one by one are best added one by one: GCC would put vectors of them together first.
#if defined(__GNUC__) && !defined(__clang__)
#define ISRHT_SCALAR __attribute__((noinline, optimize("no-tree-slp-vectorize")))
#else
#define ISRHT_SCALAR
#endif

template <class Index> struct TabledProjection {
    SparseRows<double, Index> rows;
    const double* diagonal;
    SignTables<BitRow> bits;
    double* tables;        // (groups, 256)
    unsigned char* which;  // (groups, columns)
    double* sums;          // One row of the result, in whole blocks of kBitColumns.

    void row(size_t i, Columns<double> columns, double* out) const {
        for (size_t c = 0; c < width(); ++c) sums[c] = 0;
        const size_t last = rows.end(i), chunk = kTablesAtOnce * kTabled;
        for (size_t at = rows.begin(i); at < last; at += chunk) {
            const size_t count = last - at < chunk ? last - at : chunk;
            with_digits(bits.digits, [&](auto digits) { gather<digits>(at, count); });
            add_groups((count + kTabled - 1) / kTabled, columns.count);
        }
        for (size_t c = 0; c < columns.count; ++c) out[c] = sums[c] * columns.scale[c];
    }

  private:
    size_t width() const { return bits.width * kBitColumns; }

    // Works out the tables of `count` entries, and which sum each column takes.
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
            for (size_t b = 0; b < bits.width; ++b) {
                BitRow signs[kTabled];
#pragma GCC unroll 8
                for (size_t e = 0; e < kTabled; ++e) {
                    signs[e] = bits.of(0, feature[e])[b];
#pragma GCC unroll 4
                    for (int digit = 1; digit < Digits; ++digit) signs[e] ^= bits.of(size_t(digit), feature[e])[b];
                }
                transpose_bits(signs);
                BitRow* to = reinterpret_cast<BitRow*>(which + g * width()) + b * kTabled;
#pragma GCC unroll 8
                for (size_t j = 0; j < kTabled; ++j) to[j] = signs[j];
            }
        }
    }

    // Adds one sum of each group in every column. Whole blocks have room for the columns that the last eight go too
    // far.
    ISRHT_SCALAR void add_groups(size_t count, size_t n_columns) const {
        for (size_t c = 0; c < n_columns; c += kAtOnce) {
            double sum[kAtOnce];
#pragma GCC unroll 8
            for (size_t k = 0; k < kAtOnce; ++k) sum[k] = sums[c + k];
            const unsigned char* byte = which + c;
            const double* table = tables;
            for (size_t g = 0; g < count; ++g, byte += width(), table += kTable) {
                uint64_t bytes;
                __builtin_memcpy(&bytes, byte, sizeof bytes);
#pragma GCC unroll 8
                for (size_t k = 0; k < kAtOnce; ++k) sum[k] += table[(bytes >> 8 * (kLittleEndian ? k : 7 - k)) & 255];
            }
#pragma GCC unroll 8
            for (size_t k = 0; k < kAtOnce; ++k) sums[c + k] = sum[k];
        }
    }
};

template <class Index>
void project_tabled(SparseRows<double, Index> rows, const double* diagonal, size_t length, Columns<double> columns,
                    double* out) {
    const size_t blocks = (columns.count + kBitColumns - 1) / kBitColumns, width = blocks * kBitColumns;
    const size_t digits = bytes_of_index(length);
    Scratch entries(SignTables<BitRow>::bytes(blocks, digits)), tables(kTablesAtOnce * kTable * sizeof(double));
    Scratch which(kTablesAtOnce * width), sums(width * sizeof(double));
    const TabledProjection<Index> projection{rows,
                                             diagonal,
                                             {blocks, digits, static_cast<BitRow*>(entries.data)},
                                             static_cast<double*>(tables.data),
                                             static_cast<unsigned char*>(which.data),
                                             static_cast<double*>(sums.data)};
    projection.bits.fill([&](size_t bit, BitRow* to) { fill_bit_rows(columns, bit, blocks, to); });
    for (size_t i = 0; i < rows.count; ++i) projection.row(i, columns, out + i * columns.count);
}

}  // namespace isrht::ISRHT_VARIANT
