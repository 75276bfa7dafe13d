// NumPy's arrays as bindings take them, and the checks that they pass before a kernel sees them.
//
// Kernels trust their arguments, so every length, index and stride is checked here: no input from Python can make a
// kernel touch memory that is not its own. Arrays are never converted. One of another type or order does not fit the
// function, and Python raises a TypeError.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "infra/ranges.hpp"
#include "records.hpp"

namespace isrht {

namespace nb = nanobind;
using namespace nb::literals;

template <class T, class Shape> using In = nb::ndarray<const T, Shape, nb::device::cpu, nb::c_contig>;
template <class T, class Shape> using Out = nb::ndarray<T, Shape, nb::device::cpu, nb::c_contig>;
template <class T> using InVector = In<T, nb::ndim<1>>;
template <class T> using OutVector = Out<T, nb::ndim<1>>;
template <class T> using InMatrix = In<T, nb::ndim<2>>;
template <class T> using OutMatrix = Out<T, nb::ndim<2>>;
template <class T> using InCube = In<T, nb::ndim<3>>;
template <class T> using OutCube = Out<T, nb::ndim<3>>;
// A matrix of any strides.
template <class T> using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

// The largest length of a transform, and the largest width of a sparse matrix.
constexpr int64_t kLongest = int64_t(1) << 31;

// An argument of a function that is an array.
inline auto array(const char* name) { return nb::arg(name).noconvert(); }

inline void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

inline bool is_power_of_two(int64_t length) { return length > 0 && (length & (length - 1)) == 0; }

// Requires that rows of this width can be rotated with this length.
inline void require_length(int64_t length, size_t width) {
    require(is_power_of_two(length) && length <= kLongest, "length must be a power of two, at most 2**31");
    require(width <= size_t(length), "rows are wider than length");
}

// Requires that every index is within [0, end).
template <class Index> void require_within(const Index* index, size_t count, size_t end, const char* message) {
    require(all_within(index, count, end), message);
}

template <class Matrix> bool has_shape(const Matrix& matrix, size_t rows, size_t columns) {
    return matrix.shape(0) == rows && matrix.shape(1) == columns;
}

template <class T> DenseRows<T> dense_rows(const AnyMatrix<T>& x) {
    require(x.shape(1) <= 1 || x.stride(1) == 1, "the values of a row must be contiguous");
    return {x.data(), x.shape(0), x.shape(1), ptrdiff_t(x.stride(0))};
}

template <class T>
Columns<T> chosen_columns(const InVector<int64_t>& columns, const InVector<T>& scales, int64_t length) {
    require(columns.shape(0) == scales.shape(0), "columns and scales differ in length");
    require_within(columns.data(), columns.shape(0), size_t(length), "a chosen column is out of range");
    return {columns.data(), scales.data(), columns.shape(0)};
}

inline RowChoice chosen_rows(const InVector<int64_t>& rows, size_t count) {
    require_within(rows.data(), rows.shape(0), count, "a chosen row is out of range");
    return {rows.data(), rows.shape(0)};
}

}  // namespace isrht
