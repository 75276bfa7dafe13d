// Python's door to the kernels, and the only file that knows nanobind. Every argument is checked here, so that
// no input from Python can make a kernel touch memory that is not its own; the GIL is released around each.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <vector>

#include "diagonals.hpp"
#include "dispatch.hpp"
#include "libsvm.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace isrht {
namespace {

constexpr int64_t kLongest = int64_t(1) << 31;

template <class T, class Shape> using In = nb::ndarray<const T, Shape, nb::device::cpu, nb::c_contig>;
template <class T, class Shape> using Out = nb::ndarray<T, Shape, nb::device::cpu, nb::c_contig>;
template <class T> using InVector = In<T, nb::ndim<1>>;
template <class T> using OutVector = Out<T, nb::ndim<1>>;
template <class T> using InMatrix = In<T, nb::ndim<2>>;
template <class T> using OutMatrix = Out<T, nb::ndim<2>>;
template <class T> using InRows = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T> using Cube = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;

void require(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

bool is_power_of_two(int64_t length) { return length > 0 && (length & (length - 1)) == 0; }

void require_length(int64_t length, size_t width) {
    require(is_power_of_two(length) && length <= kLongest, "length must be a power of two, at most 2**31");
    require(width <= size_t(length), "rows are wider than length");
}

// Every index within [0, end).
template <class Index> void require_within(const Index* index, size_t count, size_t end, const char* message) {
    Index least = 0, most = 0;
    for (size_t i = 0; i < count; ++i) {
        least = index[i] < least ? index[i] : least;
        most = index[i] > most ? index[i] : most;
    }
    require(count == 0 || (least == 0 && uint64_t(most) < uint64_t(end)), message);
}

template <class T> DenseRows<T> dense_rows(const InRows<T>& x) {
    require(x.shape(1) <= 1 || x.stride(1) == 1, "the values of a row must be contiguous");
    return {x.data(), x.shape(0), x.shape(1), ptrdiff_t(x.stride(0))};
}

template <class T, class Index>
SparseRows<T, Index> sparse_rows(const InVector<T>& data, const InVector<Index>& indices, const InVector<Index>& indptr,
                                 int64_t width) {
    require(width >= 0 && width <= kLongest, "a sparse matrix must have at most 2**31 columns");
    require(indptr.shape(0) >= 1 && data.shape(0) == indices.shape(0), "data, indices and indptr do not fit together");
    const size_t count = indptr.shape(0) - 1, entries = data.shape(0);
    bool ordered = indptr.data()[0] >= 0 && uint64_t(indptr.data()[count]) <= uint64_t(entries);
    for (size_t i = 0; i < count; ++i) ordered &= indptr.data()[i] <= indptr.data()[i + 1];
    require(ordered, "indptr of the sparse matrix is not increasing, or points past its entries");
    require_within(indices.data(), entries, size_t(width), "a column index of the sparse matrix is out of range");
    return {data.data(), indices.data(), indptr.data(), count, size_t(width)};
}

template <class T> Columns<T> chosen_columns(const InVector<int64_t>& index, const InVector<T>& scale, int64_t length) {
    require(index.shape(0) == scale.shape(0), "columns and scales differ in length");
    require_within(index.data(), index.shape(0), size_t(length), "a chosen column is out of range");
    return {index.data(), scale.data(), index.shape(0)};
}

RowChoice chosen_rows(const InVector<int64_t>& rows, size_t count) {
    require_within(rows.data(), rows.shape(0), count, "a chosen row is out of range");
    return {rows.data(), rows.shape(0)};
}

template <class T> const DenseKernels<T>& dense() {
    if constexpr (sizeof(T) == 4) return active_kernels().dense32;
    else return active_kernels().dense64;
}

template <class T, class Index> const SparseKernels<T, Index>& sparse() {
    if constexpr (sizeof(T) == 4 && sizeof(Index) == 4) return active_kernels().sparse32;
    else if constexpr (sizeof(T) == 4) return active_kernels().sparse32_long;
    else if constexpr (sizeof(Index) == 4) return active_kernels().sparse64;
    else return active_kernels().sparse64_long;
}

constexpr size_t kTopStrides = 8;

// Rows (or stacks of rows) are independent. Where they are fewer than threads, the largest strides of each are done
// together, column by column, which leaves eight independent transforms.
template <class T>
void transform_shared(T* data, size_t outer, ptrdiff_t stride, size_t length, size_t inner, T scale, size_t workers) {
    const DenseKernels<T>& kernels = dense<T>();
    if (workers <= 1) return kernels.transform(data, outer, stride, length, inner, scale);
    if (outer >= workers || length < kTopStrides)
        return share(outer, 1, workers, [&](size_t from, size_t to) {
            kernels.transform(data + ptrdiff_t(from) * stride, to - from, stride, length, inner, scale);
        });
    const size_t child = length / kTopStrides, columns = child * inner;
    for (size_t i = 0; i < outer; ++i) {
        T* block = data + ptrdiff_t(i) * stride;
        share(columns, 64, workers,
              [&](size_t from, size_t to) { kernels.transform_top(block + from, to - from, columns); });
        share(kTopStrides, 1, workers, [&](size_t from, size_t to) {
            kernels.transform(block + from * columns, to - from, ptrdiff_t(columns), child, inner, scale);
        });
    }
}

template <class T> void transform(Cube<T> x, double scale, size_t workers) {
    const size_t outer = x.shape(0), length = x.shape(1), inner = x.shape(2);
    require(is_power_of_two(int64_t(length)), "the length of a transform must be a power of two");
    require(x.stride(2) == 1 || inner == 1, "the last axis must be contiguous");
    require(length == 1 || x.stride(1) == int64_t(inner), "the middle axis must be contiguous");
    if (outer == 0 || inner == 0) return;
    T* data = x.data();
    const ptrdiff_t stride = x.stride(0);
    nb::gil_scoped_release release;
    transform_shared(data, outer, stride, length, inner, T(scale), workers);
}

template <class T>
void project_rows(InRows<T> x, InVector<T> diagonal, int64_t length, InVector<int64_t> columns, InVector<T> scales,
                  OutMatrix<T> out) {
    const DenseRows<T> rows = dense_rows(x);
    require_length(length, rows.width);
    require(diagonal.shape(0) == rows.width, "the diagonal and the rows differ in width");
    const Columns<T> chosen = chosen_columns(columns, scales, length);
    require(out.shape(0) == rows.count && out.shape(1) == chosen.count, "out has the wrong shape");
    nb::gil_scoped_release release;
    dense<T>().project(rows, diagonal.data(), size_t(length), chosen, out.data());
}

template <class T> void add_rows(InRows<T> x, InVector<int64_t> chosen, OutVector<double> totals) {
    const DenseRows<T> rows = dense_rows(x);
    const RowChoice choice = chosen_rows(chosen, rows.count);
    require(totals.shape(0) == rows.width, "totals has the wrong length");
    nb::gil_scoped_release release;
    dense<T>().add_rows(rows, choice, totals.data());
}

template <class T>
void add_squares(InRows<T> x, InVector<int64_t> chosen, InVector<T> diagonal, OutVector<double> totals) {
    const DenseRows<T> rows = dense_rows(x);
    const RowChoice choice = chosen_rows(chosen, rows.count);
    require_length(int64_t(totals.shape(0)), rows.width);
    require(diagonal.shape(0) == rows.width, "the diagonal and the rows differ in width");
    nb::gil_scoped_release release;
    dense<T>().add_squares(rows, choice, diagonal.data(), totals.shape(0), totals.data());
}

template <class T, class Index>
void project_csr(InVector<T> data, InVector<Index> indices, InVector<Index> indptr, InVector<T> diagonal, int64_t length,
                 InVector<int64_t> columns, InVector<T> scales, OutMatrix<T> out) {
    require_length(length, diagonal.shape(0));
    const SparseRows<T, Index> rows = sparse_rows(data, indices, indptr, int64_t(diagonal.shape(0)));
    const Columns<T> chosen = chosen_columns(columns, scales, length);
    require(out.shape(0) == rows.count && out.shape(1) == chosen.count, "out has the wrong shape");
    nb::gil_scoped_release release;
    sparse<T, Index>().project(rows, diagonal.data(), size_t(length), chosen, out.data());
}

template <class T, class Index>
void add_csr_rows(InVector<T> data, InVector<Index> indices, InVector<Index> indptr, InVector<int64_t> chosen,
                  OutVector<double> totals) {
    const SparseRows<T, Index> rows = sparse_rows(data, indices, indptr, int64_t(totals.shape(0)));
    const RowChoice choice = chosen_rows(chosen, rows.count);
    nb::gil_scoped_release release;
    sparse<T, Index>().add_rows(rows, choice, totals.data());
}

template <class T, class Index>
void add_csr_autocorrelation(InVector<T> data, InVector<Index> indices, InVector<Index> indptr, InVector<int64_t> chosen,
                             InVector<T> diagonal, OutVector<double> totals) {
    require_length(int64_t(totals.shape(0)), diagonal.shape(0));
    const SparseRows<T, Index> rows = sparse_rows(data, indices, indptr, int64_t(diagonal.shape(0)));
    const RowChoice choice = chosen_rows(chosen, rows.count);
    nb::gil_scoped_release release;
    sparse<T, Index>().add_autocorrelation(rows, choice, diagonal.data(), totals.shape(0), totals.data());
}

template <class T, class Index>
void add_csr_moments(InVector<T> data, InVector<Index> indices, InVector<Index> indptr, InMatrix<double> first,
                     InMatrix<double> second, Out<double, nb::ndim<3>> totals) {
    const SparseRows<T, Index> rows = sparse_rows(data, indices, indptr, int64_t(totals.shape(0)));
    const size_t problems = first.shape(1);
    require(first.shape(0) == rows.count && second.shape(0) == rows.count && second.shape(1) == problems,
            "first and second must have a row of factors for each row");
    require(totals.shape(1) == 3 && totals.shape(2) == problems, "totals has the wrong shape");
    const RowFactors factors{first.data(), second.data(), problems};
    nb::gil_scoped_release release;
    sparse<T, Index>().add_moments(rows, factors, totals.data());
}

template <class T, class Index>
void moments_of_features(InVector<T> data, InVector<Index> indices, InVector<Index> indptr,
                         In<double, nb::ndim<3>> factors, Out<double, nb::ndim<3>> totals) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> features = sparse_rows(data, indices, indptr, int64_t(factors.shape(0)));
    const size_t problems = factors.shape(2);
    require(factors.shape(1) == 2, "factors must be two for each row and problem");
    require(totals.shape(0) == features.count && totals.shape(1) == 3 && totals.shape(2) == problems,
            "totals has the wrong shape");
    sparse<T, Index>().moments_of_features(features, factors.data(), problems, totals.data());
}

using Diagonals = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

struct DiagonalCase {
    FeatureTable features;
    DiagonalProblems problems;
    std::vector<float*> z;
    DiagonalResults results;
};

// `z` are the diagonals of every path, `path`, `row` and `rows` those of a problem; features are those from `start` on.
DiagonalCase diagonal_case(const InMatrix<double>& mean, const InMatrix<double>& deviation, const InMatrix<bool>& varies,
                           const InVector<int64_t>& fold, const InVector<double>& first_sum,
                           const InVector<double>& second_sum, const InVector<int64_t>& kind,
                           const InVector<double>& threshold, const std::vector<Diagonals>& z,
                           const InVector<int64_t>& path, const InVector<int64_t>& row, const InVector<int64_t>& rows,
                           size_t start, const OutMatrix<double>& signals, const OutVector<double>& offsets,
                           const OutMatrix<double>& grams) {
    const FeatureTable features{mean.data(), deviation.data(), varies.data(), mean.shape(0), mean.shape(1)};
    const DiagonalProblems problems{fold.data(), first_sum.data(), second_sum.data(),
                                    kind.data(), threshold.data(), fold.shape(0)};
    const size_t width = features.count, count = problems.count;
    const auto has = [](const auto& array, size_t rows, size_t columns) {
        return array.shape(0) == rows && array.shape(1) == columns;
    };
    require(has(deviation, width, features.folds) && has(varies, width, features.folds), "features differ in shape");
    for (size_t size : {first_sum.shape(0), second_sum.shape(0), kind.shape(0), threshold.shape(0), path.shape(0),
                        row.shape(0), rows.shape(0)})
        require(size == count, "the problems differ in number");
    require_within(fold.data(), count, features.folds, "a fold is out of range");
    require_within(kind.data(), count, 3, "a kind of diagonal is out of range");
    require_within(path.data(), count, z.size(), "a path is out of range");
    require(offsets.shape(0) == count && grams.shape(0) == count, "an output has the wrong shape");
    require(signals.size() == 0 || has(signals, width, count), "signals has the wrong shape");
    std::vector<float*> pointers(count);
    for (size_t p = 0; p < count; ++p) {
        const Diagonals& mine = z[size_t(path.data()[p])];
        require(mine.shape(1) == z[0].shape(1) && start <= mine.shape(1) && width <= mine.shape(1) - start,
                "z has the wrong shape");
        require_within(row.data() + p, 1, mine.shape(0), "a row of z is out of range");
        require_within(rows.data() + p, 1, std::min(mine.shape(0), grams.shape(1)) + 1, "a row of z is out of range");
        pointers[p] = mine.data();
    }
    DiagonalCase made{features, problems, std::move(pointers), {}};
    made.results = {made.z.data(), row.data(),  rows.data(),       count ? z[0].shape(1) : 0,
                    start,         nullptr,     signals.size() ? signals.data() : nullptr,
                    offsets.data(), grams.data(), grams.shape(1)};
    return made;
}

void make_diagonals_checked(In<double, nb::ndim<3>> moments, InMatrix<double> mean, InMatrix<double> deviation,
                            InMatrix<bool> varies, InVector<int64_t> fold, InVector<double> first_sum,
                            InVector<double> second_sum, InVector<int64_t> kind, InVector<double> threshold,
                            std::vector<Diagonals> z, InVector<int64_t> path, InVector<int64_t> row,
                            InVector<int64_t> rows, double constant, size_t start, OutMatrix<double> signals,
                            OutVector<double> offsets, OutMatrix<double> grams, OutMatrix<double> diagonals) {
    nb::gil_scoped_release release;
    DiagonalCase given = diagonal_case(mean, deviation, varies, fold, first_sum, second_sum, kind, threshold, z, path, row,
                                       rows, start, signals, offsets, grams);
    const size_t width = given.features.count, count = given.problems.count;
    require(moments.shape(0) == width && moments.shape(1) == 3 && moments.shape(2) == count,
            "moments has the wrong shape");
    require(diagonals.shape(0) == width && diagonals.shape(1) == count, "diagonals has the wrong shape");
    given.results.diagonals = diagonals.data();
    make_diagonals(moments.data(), given.features, given.problems, constant, given.results);
}

template <class T, class Index>
void diagonals_of_features(InVector<T> data, InVector<Index> indices, InVector<Index> indptr,
                           In<double, nb::ndim<3>> factors, InMatrix<double> mean, InMatrix<double> deviation,
                           InMatrix<bool> varies, InVector<int64_t> fold, InVector<double> first_sum,
                           InVector<double> second_sum, InVector<int64_t> kind, InVector<double> threshold,
                           std::vector<Diagonals> z, InVector<int64_t> path, InVector<int64_t> row,
                           InVector<int64_t> rows, double constant, size_t start, OutMatrix<double> signals,
                           OutVector<double> offsets, OutMatrix<double> grams, OutMatrix<double> products) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> features = sparse_rows(data, indices, indptr, int64_t(factors.shape(0)));
    const DiagonalCase given = diagonal_case(mean, deviation, varies, fold, first_sum, second_sum, kind, threshold, z,
                                             path, row, rows, start, signals, offsets, grams);
    require(features.count == given.features.count, "features differ in shape");
    require(factors.shape(1) == 2 && factors.shape(2) == given.problems.count,
            "factors must be two for each row and problem");
    require(products.shape(0) == factors.shape(0) && products.shape(1) == given.problems.count,
            "products has the wrong shape");
    sparse<T, Index>().diagonals_of_features(features, factors.data(), given.features, given.problems, constant,
                                             given.results, products.data());
}

// To let go of the GIL is to wait for it again, some milliseconds where other threads are busy: not for a few rows.
constexpr size_t kWorthReleasing = 100000;

using Weights = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

LinearModels linear_models(const Weights& weights, const InVector<double>& intercept, const OutMatrix<double>& out,
                           size_t rows) {
    require(intercept.shape(0) == weights.shape(0), "weights and intercept differ in length");
    require(out.shape(0) == rows && out.shape(1) == weights.shape(0), "out has the wrong shape");
    return {weights.data(),           intercept.data(), weights.shape(0), weights.shape(1), ptrdiff_t(weights.stride(0)),
            ptrdiff_t(weights.stride(1))};
}

bool all_finite(const OutMatrix<double>& out) {
    bool finite = true;
    for (size_t i = 0; i < out.size(); ++i) finite &= std::isfinite(out.data()[i]);
    return finite;
}

template <class T> bool score_rows(InRows<T> x, Weights weights, InVector<double> intercept, OutMatrix<double> out) {
    const DenseRows<T> rows = dense_rows(x);
    const LinearModels models = linear_models(weights, intercept, out, rows.count);
    require(models.width == rows.width, "the weights and the rows differ in width");
    require(models.width <= 1 || models.feature_stride == 1, "the weights of a problem must be contiguous");
    std::optional<nb::gil_scoped_release> release;
    if (rows.count * rows.width >= kWorthReleasing) release.emplace();
    dense<T>().score(rows, models, out.data());
    return all_finite(out);
}

template <class T, class Index>
bool score_csr(InVector<T> data, InVector<Index> indices, InVector<Index> indptr, Weights weights,
               InVector<double> intercept, OutMatrix<double> out) {
    std::optional<nb::gil_scoped_release> release;
    if (data.shape(0) >= kWorthReleasing) release.emplace();  // checking takes a good part of the time
    const SparseRows<T, Index> rows = sparse_rows(data, indices, indptr, int64_t(weights.shape(1)));
    const LinearModels models = linear_models(weights, intercept, out, rows.count);
    sparse<T, Index>().score(rows, models, out.data());
    return all_finite(out);
}

template <class T> void bind_dense(nb::module_& m) {
    m.def("transform", &transform<T>, nb::arg("x").noconvert(), "scale"_a, "workers"_a = 1);
    m.def("project_rows", &project_rows<T>, nb::arg("x").noconvert(), nb::arg("diagonal").noconvert(), "length"_a,
          nb::arg("columns").noconvert(), nb::arg("scales").noconvert(), nb::arg("out").noconvert());
    m.def("add_rows", &add_rows<T>, nb::arg("x").noconvert(), nb::arg("chosen").noconvert(), nb::arg("totals").noconvert());
    m.def("add_squares", &add_squares<T>, nb::arg("x").noconvert(), nb::arg("chosen").noconvert(),
          nb::arg("diagonal").noconvert(), nb::arg("totals").noconvert());
    m.def("score_rows", &score_rows<T>, nb::arg("x").noconvert(), nb::arg("weights").noconvert(),
          nb::arg("intercept").noconvert(), nb::arg("out").noconvert());
}

template <class T, class Index> void bind_sparse(nb::module_& m) {
    m.def("project_csr", &project_csr<T, Index>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("diagonal").noconvert(), "length"_a, nb::arg("columns").noconvert(),
          nb::arg("scales").noconvert(), nb::arg("out").noconvert());
    m.def("add_csr_rows", &add_csr_rows<T, Index>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("chosen").noconvert(), nb::arg("totals").noconvert());
    m.def("add_csr_autocorrelation", &add_csr_autocorrelation<T, Index>, nb::arg("data").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("chosen").noconvert(),
          nb::arg("diagonal").noconvert(), nb::arg("totals").noconvert());
    m.def("add_csr_moments", &add_csr_moments<T, Index>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("first").noconvert(), nb::arg("second").noconvert(),
          nb::arg("totals").noconvert());
    m.def("moments_of_features", &moments_of_features<T, Index>, nb::arg("data").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("factors").noconvert(),
          nb::arg("totals").noconvert());
    m.def("diagonals_of_features", &diagonals_of_features<T, Index>, nb::arg("data").noconvert(),
          nb::arg("indices").noconvert(), nb::arg("indptr").noconvert(), nb::arg("factors").noconvert(),
          nb::arg("mean").noconvert(), nb::arg("deviation").noconvert(), nb::arg("varies").noconvert(),
          nb::arg("fold").noconvert(), nb::arg("first_sum").noconvert(), nb::arg("second_sum").noconvert(),
          nb::arg("kind").noconvert(), nb::arg("threshold").noconvert(), nb::arg("z").noconvert(),
          nb::arg("path").noconvert(), nb::arg("row").noconvert(), nb::arg("rows").noconvert(), "constant"_a, "start"_a,
          nb::arg("signals").noconvert(), nb::arg("offsets").noconvert(), nb::arg("grams").noconvert(),
          nb::arg("products").noconvert());
    m.def("score_csr", &score_csr<T, Index>, nb::arg("data").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("indptr").noconvert(), nb::arg("weights").noconvert(), nb::arg("intercept").noconvert(),
          nb::arg("out").noconvert());
}

// A parser for Python. Two threads that feed one parser take turns; the GIL is released before the turn is waited for.
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

size_t feed(Parser& self, InVector<uint8_t> data, size_t max_rows, size_t max_entries) {
    const auto* bytes = reinterpret_cast<const char*>(data.data());
    const size_t size = data.shape(0);
    return in_turn<size_t>(
        self, [=](LibsvmParser& parser) { return parser.feed(bytes, size, max_rows, max_entries); });
}

template <class T> nb::object given(Growing<T>& array) {
    const size_t size = array.size();
    T* data = array.give();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

nb::tuple take(Parser& self) {
    const std::lock_guard<std::mutex> lock(self.turn);
    require(!self.parser.fault().kind, "nothing can be taken after a fault");
    LibsvmRows& rows = self.parser.rows;
    return nb::make_tuple(given(rows.labels), given(rows.texts), given(rows.text_ends), given(rows.indices),
                          given(rows.values), given(rows.row_ends));
}

nb::object fault_of(Parser& self) {
    const LibsvmFault& fault = self.parser.fault();
    if (!fault.kind) return nb::none();
    return nb::make_tuple(fault.kind, fault.line, fault.column, nb::bytes(fault.found.data(), fault.found.size()));
}

template <class Get> auto property(Get get) {
    return [get](Parser& self) { return (self.parser.*get)(); };
}

void bind_libsvm(nb::module_& m) {
    nb::class_<Parser>(m, "LibsvmParser")
        .def(nb::init<int, int, int64_t, int64_t>(), "base"_a, "label_rule"_a, "max_line"_a,
             "max_index"_a = LibsvmParser::kLargestIndex)
        .def("feed", &feed, nb::arg("data").noconvert(), "max_rows"_a, "max_entries"_a)
        .def("end_file",
             [](Parser& self) { in_turn<void>(self, [](LibsvmParser& parser) { parser.end_file(); }); })
        .def("take", &take)
        .def_prop_ro("fault", &fault_of)
        .def_prop_ro("line", property(&LibsvmParser::line))
        .def_prop_ro("column", property(&LibsvmParser::column))
        .def_prop_ro("n_rows", property(&LibsvmParser::n_rows))
        .def_prop_ro("labelled",
                     [](Parser& self) {
                         return self.parser.any_rows() ? nb::cast(self.parser.labelled()) : nb::object(nb::none());
                     })
        .def_prop_ro("numbers_only", property(&LibsvmParser::numbers_only))
        .def_prop_ro("smallest_index", property(&LibsvmParser::smallest_index))
        .def_prop_ro("largest_index", property(&LibsvmParser::largest_index));
}

}  // namespace

NB_MODULE(_core, m) {
    m.doc() = "The compiled kernels; isrht._reference tells what each of them does.";
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_sparse<float, int32_t>(m);
    bind_sparse<float, int64_t>(m);
    bind_sparse<double, int32_t>(m);
    bind_sparse<double, int64_t>(m);
    m.def("make_diagonals", &make_diagonals_checked, nb::arg("moments").noconvert(), nb::arg("mean").noconvert(),
          nb::arg("deviation").noconvert(), nb::arg("varies").noconvert(), nb::arg("fold").noconvert(),
          nb::arg("first_sum").noconvert(), nb::arg("second_sum").noconvert(), nb::arg("kind").noconvert(),
          nb::arg("threshold").noconvert(), nb::arg("z").noconvert(), nb::arg("path").noconvert(),
          nb::arg("row").noconvert(), nb::arg("rows").noconvert(), "constant"_a, "start"_a,
          nb::arg("signals").noconvert(), nb::arg("offsets").noconvert(), nb::arg("grams").noconvert(),
          nb::arg("diagonals").noconvert());
    bind_libsvm(m);
    m.def("available_variants", &available_variants);
    m.def("processor_features", &processor_features);
    m.def("active_variant", [] { return std::string(active_kernels().name); });
    m.def("use_variant", &use_variant, "name"_a);
}

}  // namespace isrht
