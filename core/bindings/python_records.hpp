// Records of arrays that Python passes as one argument: the named tuples of isrht/kernels/records.py.
//
// A struct here has the fields of its named tuple, in the same order. `fields` lists them, and `kName` names the tuple
// for signatures and stubs.
#pragma once

#include <tuple>
#include <type_traits>

#include "bindings/arrays.hpp"

namespace isrht {

// Reads a field of a record. Numbers may be of any type of Python or NumPy; arrays are taken as they are.
template <class Field> bool read_field(nb::handle item, Field& field) noexcept {
    return nb::try_cast(item, field, std::is_arithmetic_v<Field>);
}

template <class... Fields, size_t... Place>
bool read_fields(nb::handle source, std::tuple<Fields&...> fields, std::index_sequence<Place...>) noexcept {
    if (!nb::isinstance<nb::tuple>(source)) return false;
    const nb::tuple items = nb::borrow<nb::tuple>(source);
    return items.size() == sizeof...(Fields) && (read_field(items[Place], std::get<Place>(fields)) && ...);
}

template <class Record, class = void> constexpr bool is_record = false;
template <class Record> constexpr bool is_record<Record, std::void_t<decltype(Record::kName)>> = true;

using nb::detail::const_name;

// NumPy's names of types, for the names of records.
constexpr auto numpy_name(float) { return const_name("numpy.float32"); }
constexpr auto numpy_name(double) { return const_name("numpy.float64"); }
constexpr auto numpy_name(int32_t) { return const_name("numpy.int32"); }
constexpr auto numpy_name(int64_t) { return const_name("numpy.int64"); }

// Rows of a CSR matrix.
template <class T, class Index> struct CsrArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.CsrRows[") + numpy_name(T()) + const_name(", ") +
                                  numpy_name(Index()) + const_name("]");
    InVector<T> data;
    InVector<Index> indices, indptr;

    auto fields() { return std::tie(data, indices, indptr); }
};

// Checks rows of this width.
template <class T, class Index> SparseRows<T, Index> sparse_rows(const CsrArrays<T, Index>& rows, size_t width) {
    const InVector<Index>&indices = rows.indices, &indptr = rows.indptr;
    require(width <= size_t(kLongest), "a sparse matrix must have at most 2**31 columns");
    require(indptr.shape(0) >= 1 && rows.data.shape(0) == indices.shape(0),
            "data, indices and indptr do not fit together");
    const size_t count = indptr.shape(0) - 1, entries = rows.data.shape(0);
    bool ordered = indptr.data()[0] >= 0 && uint64_t(indptr.data()[count]) <= uint64_t(entries);
    for (size_t i = 0; i < count; ++i) ordered &= indptr.data()[i] <= indptr.data()[i + 1];
    require(ordered, "indptr of the sparse matrix is not increasing, or points past its entries");
    require_within(indices.data(), entries, width, "a column index of the sparse matrix is out of range");
    return {rows.data.data(), indices.data(), indptr.data(), count, width};
}

}  // namespace isrht

namespace nanobind::detail {

// Teaches nanobind to take a named tuple for a record.
template <class Record> struct type_caster<Record, enable_if_t<isrht::is_record<Record>>> {
    NB_TYPE_CASTER(Record, Record::kName)

    bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
        const auto fields = value.fields();
        return isrht::read_fields(source, fields,
                                  std::make_index_sequence<std::tuple_size_v<decltype(value.fields())>>{});
    }
};

}  // namespace nanobind::detail
