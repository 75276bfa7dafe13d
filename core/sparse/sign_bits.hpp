// The signs of features in the wanted columns, which sparse projections look up.
//
// Nothing here rotates a row: column j of a rotated sparse row is a signed sum over its entries, z_j = sum_k u_k
// (-1)^popcount(k & j) with u_k = x_k diagonal_k. The sign bit of feature k in column j, the parity of k & j, is the
// exclusive or of those of the bytes of k. So a table for each byte, with the sign bits of all wanted columns for each
// of its 256 values, replaces a matrix of features times columns.
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

// Returns how many bytes the index of a feature has.
inline size_t bytes_of_index(size_t length) { return length <= 256 ? 1 : (size_t(__builtin_ctzll(length)) + 7) / 8; }

// The tables, in which the sign bits of all columns are `width` entries: how they are packed is a matter of the
// projection.
template <class Entry> struct SignTables {
    size_t width, digits;
    Entry* entries;

    static size_t bytes(size_t width, size_t digits) { return digits * 256 * width * sizeof(Entry); }

    // Returns the sign bits for byte `digit` of the index of a feature.
    ISRHT_INLINE const Entry* of(size_t digit, size_t feature) const {
        return entries + (digit * 256 + ((feature >> (8 * digit)) & 255)) * width;
    }

    // Fills the tables: fill_bit(bit, to) writes the sign bits for one bit of an index, and those of all other values
    // of a byte follow by exclusive or.
    template <class FillBit> void fill(const FillBit& fill_bit) const {
        for (size_t digit = 0; digit < digits; ++digit) {
            Entry* table = entries + digit * 256 * width;
            for (size_t w = 0; w < width; ++w) table[w] = Entry{};
            for (size_t value = 1; value < 256; ++value) {
                const size_t without = value & (value - 1), bit = 8 * digit + size_t(__builtin_ctzll(value));
                if (!without) fill_bit(bit, table + value * width);
                else
                    for (size_t w = 0; w < width; ++w)
                        table[value * width + w] = table[without * width + w] ^ table[(value ^ without) * width + w];
            }
        }
    }
};

// Calls function with the number of bytes of an index as a constant of the compiler.
template <class Function> ISRHT_INLINE void with_digits(size_t digits, const Function& function) {
    switch (digits) {
        case 1: return function(std::integral_constant<int, 1>{});
        case 2: return function(std::integral_constant<int, 2>{});
        case 3: return function(std::integral_constant<int, 3>{});
        default: return function(std::integral_constant<int, 4>{});
    }
}

}  // namespace isrht::ISRHT_VARIANT
