// The bindings of the kernels of dual coordinate descent, and the records that they take.
#include "bindings/bindings.hpp"
#include "bindings/checked_csr.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"

namespace isrht {
namespace {

template <class Real> struct ProblemArrays {
    static constexpr auto kName =
        const_name("isrht.kernels.records.DualProblems[") + numpy_name(Real()) + const_name("]");
    InMatrix<Real> labels, ridge;
    InVector<Real> norms;

    auto fields() { return std::tie(labels, ridge, norms); }
};

template <class Real> struct StateArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.DualState[") + numpy_name(Real()) + const_name("]");
    OutMatrix<Real> alpha, weights;
    OutVector<Real> intercept;
    OutVector<uint8_t> closed;

    auto fields() { return std::tie(alpha, weights, intercept, closed); }
};

template <class Real> struct EpochArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.Epoch[") + numpy_name(Real()) + const_name("]");
    InVector<int64_t> order;
    InVector<Real> threshold;
    unsigned finished;
    double stretch;
    OutVector<double> gain;
    OutVector<Real> violation;

    auto fields() { return std::tie(order, threshold, finished, stretch, gain, violation); }
};

// Requires one lane of doubles, or 4 or 8 of floats, and returns their number.
template <class Real> size_t lanes_of(const OutMatrix<Real>& weights) {
    const size_t lanes = weights.shape(1);
    if constexpr (sizeof(Real) == 8) require(lanes == 1, "doubles must have one lane");
    else require(lanes == 4 || lanes == 8, "floats must have 4 or 8 lanes");
    return lanes;
}

// Returns the intercepts, or null where there are none.
template <class Real> Real* intercepts(const OutVector<Real>& intercept, size_t lanes) {
    require(intercept.shape(0) == 0 || intercept.shape(0) == lanes, "intercept must have one value per lane, or none");
    return intercept.shape(0) ? intercept.data() : nullptr;
}

template <class Rows, class Real>
void descend(const DescentKernels<Rows>& kernels, Rows rows, const ProblemArrays<Real>& problems,
             const StateArrays<Real>& state, const EpochArrays<Real>& epoch) {
    const size_t lanes = lanes_of(state.weights);
    require(has_shape(problems.labels, rows.count, lanes) && has_shape(problems.ridge, rows.count, lanes) &&
                has_shape(state.alpha, rows.count, lanes),
            "labels, ridge and alpha must have a row for each row, and a column for each lane");
    require(problems.norms.shape(0) == rows.count && state.closed.shape(0) == rows.count,
            "norms and closed must have a value for each row");
    for (size_t size : {epoch.threshold.shape(0), epoch.gain.shape(0), epoch.violation.shape(0)})
        require(size == lanes, "threshold, gain and violation must have a value for each lane");
    const DualProblems<Real> duals{problems.labels.data(), problems.ridge.data(), problems.norms.data()};
    const DualState<Real> now{state.alpha.data(), state.weights.data(), intercepts(state.intercept, lanes),
                              state.closed.data()};
    const Epoch<Real> turn{chosen_rows(epoch.order, rows.count),
                           epoch.threshold.data(),
                           epoch.finished,
                           epoch.stretch,
                           epoch.gain.data(),
                           epoch.violation.data()};
    if constexpr (sizeof(Real) == 8) kernels.descend_one(rows, duals, now, turn);
    else kernels.descend_some(rows, lanes, duals, now, turn);
}

template <class Rows, class Real>
void add_scaled(const DescentKernels<Rows>& kernels, Rows rows, const InMatrix<Real>& factors,
                const OutMatrix<Real>& weights, const OutVector<Real>& intercept) {
    const size_t lanes = lanes_of(weights);
    require(has_shape(factors, rows.count, lanes), "factors must have a row for each row, and a column for each lane");
    Real* const into = intercepts(intercept, lanes);
    if constexpr (sizeof(Real) == 8) kernels.add_scaled_one(rows, factors.data(), weights.data(), into);
    else kernels.add_scaled_some(rows, lanes, factors.data(), weights.data(), into);
}

template <class T, class Real>
void descend_rows(const AnyMatrix<T>& x, const ProblemArrays<Real>& problems, const StateArrays<Real>& state,
                  const EpochArrays<Real>& epoch) {
    nb::gil_scoped_release release;
    const DenseRows<T> rows = dense_rows(x);
    require(state.weights.shape(0) == rows.width, "the weights and the rows differ in width");
    descend(dense_kernels<T>().descent, rows, problems, state, epoch);
}

template <class Real>
void descend_csr(const CheckedCsr& x, const ProblemArrays<Real>& problems, const StateArrays<Real>& state,
                 const EpochArrays<Real>& epoch) {
    nb::gil_scoped_release release;
    x.visit([&](auto rows) {
        require(state.weights.shape(0) == rows.width, "the weights and the rows differ in width");
        descend(kernels_for(rows), rows, problems, state, epoch);
    });
}

template <class T, class Real>
void add_scaled_rows(const AnyMatrix<T>& x, const InMatrix<Real>& factors, const OutMatrix<Real>& weights,
                     const OutVector<Real>& intercept) {
    nb::gil_scoped_release release;
    const DenseRows<T> rows = dense_rows(x);
    require(weights.shape(0) == rows.width, "the weights and the rows differ in width");
    add_scaled(dense_kernels<T>().descent, rows, factors, weights, intercept);
}

template <class Real>
void add_scaled_csr(const CheckedCsr& x, const InMatrix<Real>& factors, const OutMatrix<Real>& weights,
                    const OutVector<Real>& intercept) {
    nb::gil_scoped_release release;
    x.visit([&](auto rows) {
        require(weights.shape(0) == rows.width, "the weights and the rows differ in width");
        add_scaled(kernels_for(rows), rows, factors, weights, intercept);
    });
}

template <class T, class Real> void bind_rows(nb::module_& m) {
    m.def("descend_rows", &descend_rows<T, Real>, array("x"), "problems"_a, "state"_a, "epoch"_a);
    m.def("add_scaled_rows", &add_scaled_rows<T, Real>, array("x"), array("factors"), array("weights"),
          array("intercept"));
}

template <class Real> void bind_all(nb::module_& m) {
    bind_rows<float, Real>(m);
    bind_rows<double, Real>(m);
    m.def("descend_csr", &descend_csr<Real>, "x"_a, "problems"_a, "state"_a, "epoch"_a);
    m.def("add_scaled_csr", &add_scaled_csr<Real>, "x"_a, array("factors"), array("weights"), array("intercept"));
}

template <class T, class Index> using Make = nb::init<const CsrArrays<T, Index>&, size_t>;

}  // namespace

void bind_descent(nb::module_& m) {
    nb::class_<CheckedCsr>(m, "CheckedCsr")
        .def(Make<float, int32_t>(), "x"_a, "width"_a)
        .def(Make<float, int64_t>(), "x"_a, "width"_a)
        .def(Make<double, int32_t>(), "x"_a, "width"_a)
        .def(Make<double, int64_t>(), "x"_a, "width"_a);
    bind_all<float>(m);
    bind_all<double>(m);
}

}  // namespace isrht
