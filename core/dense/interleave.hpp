// Rows from columns: what tables store column by column is written row by row, as all other kernels want it.
//
// NumPy copies a transposed array value by value, which takes up to as long as decoding a file does. Here small squares of
// values are transposed within registers. That is bound by memory, not by the width of a vector, so it is compiled once
// for every processor. The values are looked at while they are in registers, so that nobody has to read them again to
// know whether they are finite.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isrht {

// The types of the values of a column, by the letters that Arrow's C interface has for them.
enum class Kind : char {
    Bool = 'b',
    Int8 = 'c',
    UInt8 = 'C',
    Int16 = 's',
    UInt16 = 'S',
    Int32 = 'i',
    UInt32 = 'I',
    Int64 = 'l',
    UInt64 = 'L',
    Float = 'f',
    Double = 'g',
};

// A column of numbers, wherever it lies.
struct Column {
    const void* values;
    // A bit for each value, which says whether there is one; null if there are all. Values that are missing become NaN.
    const uint8_t* valid;
    // The place of the first value, and of its bit.
    size_t offset;
    Kind kind;
};

// Sets out (count, width) to rows of the columns, from row `start` of theirs on, and says whether all values are
// finite. Rows of float take columns of float alone.
template <class T> bool interleave(const Column* columns, size_t width, size_t start, size_t count, T* out);

extern template bool interleave<float>(const Column*, size_t, size_t, size_t, float*);
extern template bool interleave<double>(const Column*, size_t, size_t, size_t, double*);

}  // namespace isrht
