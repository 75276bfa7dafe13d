// The bindings of the kernels that project and add up dense rows.
#include "bindings/arrays.hpp"
#include "bindings/arrow.hpp"
#include "bindings/bindings.hpp"
#include "infra/dispatch.hpp"

namespace isrht {
namespace {

template <class T>
void project_rows(const AnyMatrix<T>& x, const InVector<T>& diagonal, int64_t length, const InVector<int64_t>& columns,
                  const InVector<T>& scales, const OutMatrix<T>& out) {
    const DenseRows<T> rows = dense_rows(x);
    require_length(length, rows.width);
    require(diagonal.shape(0) == rows.width, "the diagonal and the rows differ in width");
    const Columns<T> chosen = chosen_columns(columns, scales, length);
    require(has_shape(out, rows.count, chosen.count), "out has the wrong shape");
    nb::gil_scoped_release release;
    dense_kernels<T>().project(rows, diagonal.data(), size_t(length), chosen, out.data());
}

template <class T>
void add_rows(const AnyMatrix<T>& x, const InVector<int64_t>& chosen, const OutVector<double>& totals) {
    const DenseRows<T> rows = dense_rows(x);
    const RowChoice choice = chosen_rows(chosen, rows.count);
    require(totals.shape(0) == rows.width, "totals has the wrong length");
    nb::gil_scoped_release release;
    dense_kernels<T>().add_rows(rows, choice, totals.data());
}

template <class T>
void add_squares(const AnyMatrix<T>& x, const InVector<int64_t>& chosen, const InVector<T>& diagonal,
                 const OutVector<double>& totals) {
    const DenseRows<T> rows = dense_rows(x);
    const RowChoice choice = chosen_rows(chosen, rows.count);
    require_length(int64_t(totals.shape(0)), rows.width);
    require(diagonal.shape(0) == rows.width, "the diagonal and the rows differ in width");
    nb::gil_scoped_release release;
    dense_kernels<T>().add_squares(rows, choice, diagonal.data(), totals.shape(0), totals.data());
}

template <class T>
void add_moments(const AnyMatrix<T>& x, const InMatrix<double>& first, const InMatrix<double>& second,
                 const OutCube<double>& totals) {
    const DenseRows<T> rows = dense_rows(x);
    const size_t problems = first.shape(1);
    require(first.shape(0) == rows.count && has_shape(second, rows.count, problems),
            "first and second must have a row of factors for each row");
    require(has_shape(totals, rows.width, 3) && totals.shape(2) == problems, "totals has the wrong shape");
    const RowFactors factors{first.data(), second.data(), problems};
    nb::gil_scoped_release release;
    dense_kernels<T>().add_moments(rows, factors, totals.data());
}

template <class T> bool interleave_columns(const InMatrix<T>& columns, const OutMatrix<T>& out) {
    const size_t width = columns.shape(0), count = columns.shape(1);
    require(has_shape(out, count, width), "out has the wrong shape");
    std::vector<Column> found(width);
    for (size_t i = 0; i < width; ++i)
        found[i] = {columns.data() + i * count, nullptr, 0, std::is_same_v<T, float> ? Kind::Float : Kind::Double};
    nb::gil_scoped_release release;
    return interleave(found.data(), width, 0, count, out.data());
}

template <class T> bool interleave_arrow(const ArrowColumns& columns, int64_t start, const OutMatrix<T>& out) {
    require(out.shape(1) == columns.numbers.shape(0), "out has the wrong shape");
    const std::vector<Column> found = columns_of<T>(columns, start, out.shape(0));
    nb::gil_scoped_release release;
    return interleave(found.data(), found.size(), size_t(start), out.shape(0), out.data());
}

template <class T> void bind(nb::module_& m) {
    m.def("project_rows", &project_rows<T>, array("x"), array("diagonal"), "length"_a, array("columns"),
          array("scales"), array("out"));
    m.def("add_rows", &add_rows<T>, array("x"), array("chosen"), array("totals"));
    m.def("add_moments", &add_moments<T>, array("x"), array("first"), array("second"), array("totals"));
    m.def("interleave_columns", &interleave_columns<T>, array("columns"), array("out"));
    m.def("interleave_arrow", &interleave_arrow<T>, "columns"_a, "start"_a, array("out"));
    m.def("add_squares", &add_squares<T>, array("x"), array("chosen"), array("diagonal"), array("totals"));
}

}  // namespace

void bind_dense(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}

}  // namespace isrht
