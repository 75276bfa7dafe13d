// The bindings of the kernels that score rows under linear models, which return whether all scores are finite, and of
// those that sum Gram matrices and multiply them.
#include <cmath>
#include <optional>

#include "bindings/bindings.hpp"
#include "bindings/checked_csr.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"
#include "linear/gram_matrix.hpp"

namespace isrht {
namespace {

struct WeightedRowArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.WeightedRows");
    InVector<int64_t> rows;
    InVector<double> weights;
    bool intercept;

    auto fields() { return std::tie(rows, weights, intercept); }
};

// To get the GIL back may take some milliseconds where other threads are busy, so few values are scored without letting
// it go.
constexpr size_t kWorthReleasing = 100000;

LinearModels linear_models(const AnyMatrix<double>& weights, const InVector<double>& intercept,
                           const OutMatrix<double>& out, size_t rows) {
    require(intercept.shape(0) == weights.shape(0), "weights and intercept differ in length");
    require(has_shape(out, rows, weights.shape(0)), "out has the wrong shape");
    return {weights.data(), intercept.data(), weights.shape(0), weights.shape(1), weights.stride(0), weights.stride(1)};
}

bool all_finite(const OutMatrix<double>& out) {
    bool finite = true;
    for (size_t i = 0; i < out.size(); ++i) finite &= std::isfinite(out.data()[i]);
    return finite;
}

template <class T>
bool score_rows(const AnyMatrix<T>& x, const AnyMatrix<double>& weights, const InVector<double>& intercept,
                const OutMatrix<double>& out) {
    const DenseRows<T> rows = dense_rows(x);
    const LinearModels models = linear_models(weights, intercept, out, rows.count);
    require(models.width == rows.width, "the weights and the rows differ in width");
    require(models.width <= 1 || models.feature_stride == 1, "the weights of a problem must be contiguous");
    std::optional<nb::gil_scoped_release> release;
    if (rows.count * rows.width >= kWorthReleasing) release.emplace();
    dense_kernels<T>().score(rows, models, out.data());
    return all_finite(out);
}

template <class T, class Index>
bool score_csr(const CsrArrays<T, Index>& x, const AnyMatrix<double>& weights, const InVector<double>& intercept,
               const OutMatrix<double>& out) {
    std::optional<nb::gil_scoped_release> release;
    if (x.data.shape(0) >= kWorthReleasing) release.emplace();  // Checking takes a good part of the time.
    const SparseRows<T, Index> rows = sparse_rows(x, weights.shape(1));
    const LinearModels models = linear_models(weights, intercept, out, rows.count);
    sparse_kernels<T, Index>().score(rows, models, out.data());
    return all_finite(out);
}

WeightedRows weighted_rows(const WeightedRowArrays& chosen, size_t rows, size_t width, size_t length) {
    require(chosen.rows.shape(0) == chosen.weights.shape(0), "rows and weights differ in length");
    require(length == width + chosen.intercept, "along and out must have the width of the rows and the intercept");
    const RowChoice choice = chosen_rows(chosen.rows, rows);
    return {choice.index, chosen.weights.data(), choice.count, chosen.intercept};
}

template <class T>
void add_gram_product_rows(const AnyMatrix<T>& x, const WeightedRowArrays& chosen, const InVector<double>& along,
                           const OutVector<double>& out) {
    nb::gil_scoped_release release;
    require(along.shape(0) == out.shape(0), "along and out differ in length");
    const DenseRows<T> rows = dense_rows(x);
    dense_kernels<T>().descent.add_gram_product(rows, weighted_rows(chosen, rows.count, rows.width, along.shape(0)),
                                                along.data(), out.data());
}

void add_gram_product_csr(const CheckedCsr& x, const WeightedRowArrays& chosen, const InVector<double>& along,
                          const OutVector<double>& out) {
    nb::gil_scoped_release release;
    require(along.shape(0) == out.shape(0), "along and out differ in length");
    x.visit([&](auto rows) {
        kernels_for(rows).add_gram_product(rows, weighted_rows(chosen, rows.count, rows.width, along.shape(0)),
                                           along.data(), out.data());
    });
}

template <class T, class Index>
void add_gram_csr(const CsrArrays<T, Index>& x, const InVector<double>& factors, const OutMatrix<double>& pairs,
                  const OutVector<double>& squares) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> rows = sparse_rows(x, squares.shape(0));
    require(factors.shape(0) == rows.count, "factors must have a value for each row");
    require(has_shape(pairs, rows.width, rows.width), "pairs has the wrong shape");
    add_gram(rows, factors.data(), pairs.data(), squares.data());
}

template <class T> void bind_rows(nb::module_& m) {
    m.def("score_rows", &score_rows<T>, array("x"), array("weights"), array("intercept"), array("out"));
    m.def("add_gram_product_rows", &add_gram_product_rows<T>, array("x"), "chosen"_a, array("along"), array("out"));
}

template <class T, class Index> void bind_csr(nb::module_& m) {
    m.def("score_csr", &score_csr<T, Index>, "x"_a, array("weights"), array("intercept"), array("out"));
    m.def("add_gram_csr", &add_gram_csr<T, Index>, "x"_a, array("factors"), array("pairs"), array("squares"));
}

}  // namespace

void bind_linear(nb::module_& m) {
    bind_rows<float>(m);
    bind_rows<double>(m);
    bind_csr<float, int32_t>(m);
    bind_csr<float, int64_t>(m);
    bind_csr<double, int32_t>(m);
    bind_csr<double, int64_t>(m);
    m.def("add_gram_product_csr", &add_gram_product_csr, "x"_a, "chosen"_a, array("along"), array("out"));
}

}  // namespace isrht
