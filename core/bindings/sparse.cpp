// The bindings of the kernels that project and add up sparse rows.
#include "bindings/bindings.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"

namespace isrht {
namespace {

template <class T, class Index>
void project_csr(const CsrArrays<T, Index>& x, const InVector<T>& diagonal, int64_t length,
                 const InVector<int64_t>& columns, const InVector<T>& scales, const OutMatrix<T>& out) {
    require_length(length, diagonal.shape(0));
    const SparseRows<T, Index> rows = sparse_rows(x, diagonal.shape(0));
    const Columns<T> chosen = chosen_columns(columns, scales, length);
    require(has_shape(out, rows.count, chosen.count), "out has the wrong shape");
    nb::gil_scoped_release release;
    sparse_kernels<T, Index>().project(rows, diagonal.data(), size_t(length), chosen, out.data());
}

template <class T, class Index>
void add_csr_rows(const CsrArrays<T, Index>& x, const InVector<int64_t>& chosen, const OutVector<double>& totals) {
    const SparseRows<T, Index> rows = sparse_rows(x, totals.shape(0));
    const RowChoice choice = chosen_rows(chosen, rows.count);
    nb::gil_scoped_release release;
    sparse_kernels<T, Index>().add_rows(rows, choice, totals.data());
}

template <class T, class Index>
void add_csr_autocorrelation(const CsrArrays<T, Index>& x, const InVector<int64_t>& chosen, const InVector<T>& diagonal,
                             const OutVector<double>& totals) {
    require_length(int64_t(totals.shape(0)), diagonal.shape(0));
    const SparseRows<T, Index> rows = sparse_rows(x, diagonal.shape(0));
    const RowChoice choice = chosen_rows(chosen, rows.count);
    nb::gil_scoped_release release;
    sparse_kernels<T, Index>().add_autocorrelation(rows, choice, diagonal.data(), totals.shape(0), totals.data());
}

template <class T, class Index>
void add_csr_moments(const CsrArrays<T, Index>& x, const InMatrix<double>& first, const InMatrix<double>& second,
                     const OutCube<double>& totals) {
    const SparseRows<T, Index> rows = sparse_rows(x, totals.shape(0));
    const size_t problems = first.shape(1);
    require(first.shape(0) == rows.count && has_shape(second, rows.count, problems),
            "first and second must have a row of factors for each row");
    require(totals.shape(1) == 3 && totals.shape(2) == problems, "totals has the wrong shape");
    const RowFactors factors{first.data(), second.data(), problems};
    nb::gil_scoped_release release;
    sparse_kernels<T, Index>().add_moments(rows, factors, totals.data());
}

template <class T, class Index>
void moments_of_features(const CsrArrays<T, Index>& x, const InCube<double>& factors, const OutCube<double>& totals) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> features = sparse_rows(x, factors.shape(0));
    const size_t problems = factors.shape(2);
    require(factors.shape(1) == 2, "factors must be two for each row and problem");
    require(has_shape(totals, features.count, 3) && totals.shape(2) == problems, "totals has the wrong shape");
    sparse_kernels<T, Index>().moments_of_features(features, factors.data(), problems, totals.data());
}

template <class T, class Index> void bind(nb::module_& m) {
    m.def("project_csr", &project_csr<T, Index>, "x"_a, array("diagonal"), "length"_a, array("columns"),
          array("scales"), array("out"));
    m.def("add_csr_rows", &add_csr_rows<T, Index>, "x"_a, array("chosen"), array("totals"));
    m.def("add_csr_autocorrelation", &add_csr_autocorrelation<T, Index>, "x"_a, array("chosen"), array("diagonal"),
          array("totals"));
    m.def("add_csr_moments", &add_csr_moments<T, Index>, "x"_a, array("first"), array("second"), array("totals"));
    m.def("moments_of_features", &moments_of_features<T, Index>, "x"_a, array("factors"), array("totals"));
}

}  // namespace

void bind_sparse(nb::module_& m) {
    bind<float, int32_t>(m);
    bind<float, int64_t>(m);
    bind<double, int32_t>(m);
    bind<double, int64_t>(m);
}

}  // namespace isrht
