// The binding of the parser of LIBSVM text.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdlib>
#include <mutex>
#include <optional>
#include <tuple>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "text/libsvm.hpp"

namespace isrht {
namespace {

// A parser for Python. Two threads that feed the same parser take turns. The GIL is released before the turn is waited
// for, so that neither waits for what the other one holds.
struct Parser {
    LibsvmParser parser;
    std::mutex turn;

    Parser(int base, int rule, int64_t max_line, int64_t max_index)
        : parser(base, LabelRule(rule), max_line, max_index) {
        require(base >= -1 && base <= 1, "base must be 0, 1, or -1 for unknown");
        require(rule >= 0 && rule <= 2, "label_rule must be 0, 1 or 2");
        require(max_line >= 0, "max_line must not be negative");
    }
};

template <class Result, class Function> Result in_turn(Parser& self, Function function) {
    nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> lock(self.turn);
    return function(self.parser);
}

size_t feed(Parser& self, const InVector<uint8_t>& data, size_t max_rows, size_t max_entries) {
    const auto* bytes = reinterpret_cast<const char*>(data.data());
    const size_t size = data.shape(0);
    return in_turn<size_t>(self, [=](LibsvmParser& parser) { return parser.feed(bytes, size, max_rows, max_entries); });
}

void end_file(Parser& self) {
    in_turn<void>(self, [](LibsvmParser& parser) { parser.end_file(); });
}

template <class T> using Vector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Makes an array of NumPy that owns the memory from now on.
template <class T> Vector<T> given(Growing<T>& array) {
    const size_t size = array.size();
    T* data = array.give();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return Vector<T>(data, {size}, owner);
}

auto take(Parser& self) {
    const std::lock_guard<std::mutex> lock(self.turn);
    require(!self.parser.fault().kind, "nothing can be taken after a fault");
    LibsvmRows& rows = self.parser.rows;
    return std::make_tuple(given(rows.labels), given(rows.texts), given(rows.text_ends), given(rows.indices),
                           given(rows.values), given(rows.row_ends));
}

// The kind of a fault, its line and column, and what was found there.
using Fault = std::tuple<const char*, int64_t, int64_t, nb::bytes>;

std::optional<Fault> fault_of(Parser& self) {
    const LibsvmFault& fault = self.parser.fault();
    if (!fault.kind) return std::nullopt;
    return Fault(fault.kind, fault.line, fault.column, nb::bytes(fault.found.data(), fault.found.size()));
}

std::optional<bool> labelled(Parser& self) {
    if (!self.parser.any_rows()) return std::nullopt;
    return self.parser.labelled();
}

template <class Get> auto property(Get get) {
    return [get](Parser& self) { return (self.parser.*get)(); };
}

}  // namespace

void bind_text(nb::module_& m) {
    nb::class_<Parser>(m, "LibsvmParser")
        .def(nb::init<int, int, int64_t, int64_t>(), "base"_a, "label_rule"_a, "max_line"_a,
             "max_index"_a = LibsvmParser::kLargestIndex)
        .def("feed", &feed, array("data"), "max_rows"_a, "max_entries"_a)
        .def("end_file", &end_file)
        .def("take", &take)
        .def_prop_ro("fault", &fault_of)
        .def_prop_ro("line", property(&LibsvmParser::line))
        .def_prop_ro("column", property(&LibsvmParser::column))
        .def_prop_ro("n_rows", property(&LibsvmParser::n_rows))
        .def_prop_ro("labelled", &labelled)
        .def_prop_ro("numbers_only", property(&LibsvmParser::numbers_only))
        .def_prop_ro("smallest_index", property(&LibsvmParser::smallest_index))
        .def_prop_ro("largest_index", property(&LibsvmParser::largest_index));
}

}  // namespace isrht
