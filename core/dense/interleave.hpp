// Rows from columns: what tables store column by column is written row by row, as all other kernels want it.
//
// NumPy copies a transposed array value by value, which takes up to as long as decoding a file does. Here small squares of
// values are transposed within registers. That is bound by memory, not by the width of a vector, so it is compiled once
// for every processor.
#pragma once

#include <cstddef>

namespace isrht {

// Sets out (count, width) to the transpose of columns (width, count).
template <class T> void interleave(const T* columns, size_t width, size_t count, T* out);

extern template void interleave<float>(const float*, size_t, size_t, float*);
extern template void interleave<double>(const double*, size_t, size_t, double*);

}  // namespace isrht
