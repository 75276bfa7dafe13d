// Columns of Arrow as kernels take them, by its C data interface: two structures whose layout never changes, which
// Python's libraries hand over in capsules (https://arrow.apache.org/docs/format/CDataInterface.html).
#pragma once

#include <string_view>
#include <vector>

#include "bindings/python_records.hpp"
#include "dense/interleave.hpp"

namespace isrht {

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    ArrowSchema** children;
    ArrowSchema* dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray** children;
    ArrowArray* dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

// Some columns of a batch. The capsules are those that the batch has exported; whoever made them frees them.
struct ArrowColumns {
    static constexpr auto kName = const_name("isrht.kernels.records.ArrowColumns");
    nb::object batch, schema, array;
    InVector<int64_t> numbers;

    auto fields() { return std::tie(batch, schema, array, numbers); }
};

template <class Structure> const Structure& opened(const nb::object& capsule, const char* name) {
    const auto* structure = static_cast<const Structure*>(PyCapsule_GetPointer(capsule.ptr(), name));
    if (!structure) throw nb::python_error();
    require(structure->release != nullptr, "the Arrow batch has been released");
    return *structure;
}

// Checks a column, of which a batch has `length` values from `offset` on.
template <class T>
Column column_of(const ArrowSchema& schema, const ArrowArray& array, int64_t offset, int64_t length) {
    const std::string_view format(schema.format);
    constexpr std::string_view kinds = std::is_same_v<T, float> ? "f" : "bcCsSiIlLfg";
    require(format.size() == 1 && kinds.find(format[0]) != std::string_view::npos && !schema.dictionary,
            "a column of the Arrow batch has no numbers of this type");
    require(array.n_buffers == 2 && array.offset >= 0 && array.length >= offset + length,
            "a column of the Arrow batch is too short");
    require(length == 0 || array.buffers[1], "a column of the Arrow batch has no values");
    const auto* valid = array.null_count == 0 ? nullptr : static_cast<const uint8_t*>(array.buffers[0]);
    return {array.buffers[1], valid, size_t(array.offset + offset), Kind(format[0])};
}

// Checks the columns that are chosen, and that the batch has `count` rows from row `start` on.
template <class T> std::vector<Column> columns_of(const ArrowColumns& columns, int64_t start, size_t count) {
    const auto& schema = opened<ArrowSchema>(columns.schema, "arrow_schema");
    const auto& array = opened<ArrowArray>(columns.array, "arrow_array");
    require(std::string_view(schema.format) == "+s" && schema.n_children == array.n_children,
            "the Arrow batch is no table");
    require(start >= 0 && array.offset >= 0 && array.length >= start && count <= size_t(array.length - start),
            "the Arrow batch has not so many rows");
    const size_t width = columns.numbers.shape(0);
    const int64_t* numbers = columns.numbers.data();
    require_within(numbers, width, size_t(array.n_children), "a chosen column is out of range");
    std::vector<Column> found(width);
    for (size_t i = 0; i < width; ++i)
        found[i] = column_of<T>(*schema.children[numbers[i]], *array.children[numbers[i]], array.offset, array.length);
    return found;
}

}  // namespace isrht
