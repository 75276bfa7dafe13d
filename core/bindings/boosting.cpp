// The bindings of the kernels that make learned diagonals, and the records that they take.
#include <nanobind/stl/vector.h>

#include <optional>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"

namespace isrht {
namespace {

// To get the GIL back may take some milliseconds where other threads are busy, so few rows are worked on without letting
// it go.
constexpr size_t kWorthReleasing = 20000;

struct FeatureArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.FeatureTable");
    InMatrix<double> mean, deviation;
    InMatrix<bool> varies;
    size_t start;

    auto fields() { return std::tie(mean, deviation, varies, start); }
};

struct ProblemArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.DiagonalProblems");
    InVector<int64_t> fold, kind;
    InVector<double> threshold, first_sum, second_sum;
    double constant;

    auto fields() { return std::tie(fold, kind, threshold, first_sum, second_sum, constant); }
};

struct PathArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.DiagonalPaths");
    std::vector<OutMatrix<float>> z;
    InVector<int64_t> path, row, rows;

    auto fields() { return std::tie(z, path, row, rows); }
};

struct ResultArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.DiagonalResults");
    OutVector<double> offsets;
    OutMatrix<double> grams, signals;

    auto fields() { return std::tie(offsets, grams, signals); }
};

struct LearnedArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.LearnedColumns");
    AnyMatrix<double> columns;
    InVector<double> weights;
    InVector<int32_t> codes;

    auto fields() { return std::tie(columns, weights, codes); }
};

struct SvmArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.SvmProblems");
    InVector<int32_t> positive;
    InVector<double> cost;
    size_t labels;
    double tolerance;

    auto fields() { return std::tie(positive, cost, labels, tolerance); }
};

struct SumArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.SvmSums");
    OutVector<double> loss;
    OutMatrix<double> pull;
    OutCube<double> gram;
    OutVector<int64_t> changed;

    auto fields() { return std::tie(loss, pull, gram, changed); }
};

struct JudgedArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.JudgedSvms");
    OutVector<double> hits;
    OutMatrix<double> sums;

    auto fields() { return std::tie(hits, sums); }
};

LearnedRows learned_rows(const LearnedArrays& rows) {
    const size_t width = rows.columns.shape(0), count = rows.columns.shape(1);
    require(rows.columns.size() <= 1 || rows.columns.stride(1) == 1 || width == 0,
            "the values of a column must be contiguous");
    require(rows.weights.shape(0) == count && rows.codes.shape(0) == count,
            "columns, weights and codes differ in length");
    return {
        rows.columns.data(), rows.weights.data(), rows.codes.data(), count, width, ptrdiff_t(rows.columns.stride(0))};
}

SvmProblems svm_problems(const SvmArrays& problems) {
    const size_t count = problems.positive.shape(0);
    require(problems.cost.shape(0) == count, "the problems differ in number");
    require(problems.labels > 0, "there must be a label");
    return {problems.positive.data(), problems.cost.data(), count, problems.labels, problems.tolerance};
}

FeatureTable feature_table(const FeatureArrays& features) {
    const size_t count = features.mean.shape(0), folds = features.mean.shape(1);
    require(has_shape(features.deviation, count, folds) && has_shape(features.varies, count, folds),
            "features differ in shape");
    return {features.mean.data(), features.deviation.data(), features.varies.data(), count, folds, features.start};
}

DiagonalProblems diagonal_problems(const ProblemArrays& problems, size_t folds) {
    const size_t count = problems.fold.shape(0);
    for (size_t size : {problems.kind.shape(0), problems.threshold.shape(0), problems.first_sum.shape(0),
                        problems.second_sum.shape(0)})
        require(size == count, "the problems differ in number");
    require_within(problems.fold.data(), count, folds, "a fold is out of range");
    require_within(problems.kind.data(), count, 3, "a kind of diagonal is out of range");
    return {problems.fold.data(),
            problems.kind.data(),
            problems.threshold.data(),
            problems.first_sum.data(),
            problems.second_sum.data(),
            problems.constant,
            count};
}

// Returns the array of diagonals of each problem's path, all of the same width, into which the features fit.
std::vector<float*> arrays_of_paths(const PathArrays& paths, const FeatureTable& features, size_t problems) {
    require_within(paths.path.data(), problems, paths.z.size(), "a path is out of range");
    std::vector<float*> arrays(problems);
    for (size_t p = 0; p < problems; ++p) {
        const OutMatrix<float>& z = paths.z[size_t(paths.path.data()[p])];
        const size_t width = z.shape(1);
        require(width == paths.z[0].shape(1) && features.start <= width && features.count <= width - features.start,
                "z has the wrong shape");
        require_within(paths.row.data() + p, 1, z.shape(0), "a row of z is out of range");
        require_within(paths.rows.data() + p, 1, z.shape(0) + 1, "a row of z is out of range");
        arrays[p] = z.data();
    }
    return arrays;
}

// What Python asks for, checked. The task points to `arrays`, so it cannot be copied.
struct CheckedTask {
    std::vector<float*> arrays;
    DiagonalTask task;

    CheckedTask(const FeatureArrays& features, const ProblemArrays& problems, const PathArrays& paths,
                const ResultArrays& results) {
        task.features = feature_table(features);
        task.problems = diagonal_problems(problems, task.features.folds);
        const size_t count = task.problems.count, width = task.features.count;
        for (size_t size : {paths.path.shape(0), paths.row.shape(0), paths.rows.shape(0)})
            require(size == count, "the problems differ in number");
        arrays = arrays_of_paths(paths, task.features, count);
        task.paths = {arrays.data(), paths.row.data(), paths.rows.data(), count ? paths.z[0].shape(1) : 0};
        const OutMatrix<double>&grams = results.grams, &signals = results.signals;
        require(results.offsets.shape(0) == count && grams.shape(0) == count, "an output has the wrong shape");
        require_within(paths.rows.data(), count, grams.shape(1) + 1, "a row of z is out of range");
        require(signals.size() == 0 || has_shape(signals, width, count), "signals has the wrong shape");
        task.results = {results.offsets.data(), grams.data(), signals.size() ? signals.data() : nullptr,
                        grams.shape(1)};
    }
    CheckedTask(const CheckedTask&) = delete;
    CheckedTask& operator=(const CheckedTask&) = delete;
};

void make_diagonals_of_moments(const InCube<double>& moments, const FeatureArrays& features,
                               const ProblemArrays& problems, const PathArrays& paths, const ResultArrays& results,
                               const OutMatrix<double>& diagonals) {
    nb::gil_scoped_release release;
    const CheckedTask checked(features, problems, paths, results);
    const size_t width = checked.task.features.count, count = checked.task.problems.count;
    require(has_shape(moments, width, 3) && moments.shape(2) == count, "moments has the wrong shape");
    require(has_shape(diagonals, width, count), "diagonals has the wrong shape");
    make_diagonals(moments.data(), checked.task, diagonals.data());
}

template <class T, class Index>
void diagonals_of_features(const CsrArrays<T, Index>& x, const InCube<double>& factors, const FeatureArrays& features,
                           const ProblemArrays& problems, const PathArrays& paths, const ResultArrays& results,
                           const OutMatrix<double>& products) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> rows = sparse_rows(x, factors.shape(0));
    const CheckedTask checked(features, problems, paths, results);
    const size_t count = checked.task.problems.count;
    require(rows.count == checked.task.features.count, "features differ in shape");
    require(factors.shape(1) == 2 && factors.shape(2) == count, "factors must be two for each row and problem");
    require(has_shape(products, factors.shape(0), count), "products has the wrong shape");
    sparse_kernels<T, Index>().diagonals_of_features(rows, factors.data(), checked.task, products.data());
}

void solve_svms(const LearnedArrays& rows, const SvmArrays& problems, const OutMatrix<double>& weights,
                const OutVector<double>& loss) {
    const LearnedRows given = learned_rows(rows);
    const SvmProblems wanted = svm_problems(problems);
    require(has_shape(weights, wanted.count, given.width + 1), "weights has the wrong shape");
    require(loss.shape(0) == wanted.count, "loss has the wrong shape");
    std::optional<nb::gil_scoped_release> release;
    if (given.count * wanted.count >= kWorthReleasing) release.emplace();
    active_kernels().boosting.solve_svms(given, wanted, weights.data(), loss.data());
}

void sum_svms(const LearnedArrays& rows, const SvmArrays& problems, const InMatrix<double>& weights,
              const InMatrix<double>& before, const SumArrays& sums) {
    const LearnedRows given = learned_rows(rows);
    const SvmProblems wanted = svm_problems(problems);
    const size_t width = given.width + 1;
    require(has_shape(weights, wanted.count, width), "weights has the wrong shape");
    require(before.size() == 0 || has_shape(before, wanted.count, width), "before has the wrong shape");
    require(sums.loss.shape(0) == wanted.count && sums.changed.shape(0) == wanted.count &&
                has_shape(sums.pull, wanted.count, width) && has_shape(sums.gram, wanted.count, width) &&
                sums.gram.shape(2) == width,
            "an output has the wrong shape");
    nb::gil_scoped_release release;
    active_kernels().boosting.sum_svms(given, wanted, weights.data(), before.size() ? before.data() : nullptr,
                                       {sums.loss.data(), sums.pull.data(), sums.gram.data(), sums.changed.data()});
}

void judge_svms(const LearnedArrays& rows, const InMatrix<double>& weights, const JudgedArrays& judged) {
    const LearnedRows given = learned_rows(rows);
    const size_t problems = weights.shape(0), models = judged.hits.shape(0);
    require(weights.shape(1) == given.width + 1, "weights has the wrong shape");
    require(models > 0 && problems > 0 && problems % models == 0, "every model must have as many problems");
    require(has_shape(judged.sums, kJudgedSums, problems), "an output has the wrong shape");
    std::optional<nb::gil_scoped_release> release;
    if (given.count * problems >= kWorthReleasing) release.emplace();
    active_kernels().boosting.judge_svms(given, weights.data(), problems, problems / models,
                                         {judged.hits.data(), judged.sums.data()});
}

template <class T, class Index>
void add_class_gram(const CsrArrays<T, Index>& x, const InMatrix<double>& residuals, const InVector<double>& sums,
                    const InVector<double>& mean, const InVector<double>& factor, const OutMatrix<double>& gram) {
    nb::gil_scoped_release release;
    const SparseRows<T, Index> features = sparse_rows(x, residuals.shape(0));
    const size_t classes = sums.shape(0);
    require(residuals.shape(1) == (classes + 7) / 8 * 8, "residuals must be as wide as a multiple of 8");
    require(mean.shape(0) == features.count && factor.shape(0) == features.count, "features differ in shape");
    require(has_shape(gram, classes, classes), "gram has the wrong shape");
    sparse_kernels<T, Index>().add_class_gram(features, {residuals.data(), sums.data(), classes}, mean.data(),
                                              factor.data(), gram.data());
}

template <class T, class Index> void bind_of_features(nb::module_& m) {
    m.def("add_class_gram", &add_class_gram<T, Index>, "x"_a, array("residuals"), array("sums"), array("mean"),
          array("factor"), array("gram"));
    m.def("diagonals_of_features", &diagonals_of_features<T, Index>, "x"_a, array("factors"), "features"_a,
          "problems"_a, "paths"_a, "results"_a, array("products"));
}

}  // namespace

void bind_boosting(nb::module_& m) {
    m.def("make_diagonals", &make_diagonals_of_moments, array("moments"), "features"_a, "problems"_a, "paths"_a,
          "results"_a, array("diagonals"));
    m.def("solve_svms", &solve_svms, "rows"_a, "problems"_a, array("weights"), array("loss"));
    m.def("sum_svms", &sum_svms, "rows"_a, "problems"_a, array("weights"), array("before"), "sums"_a);
    m.def("judge_svms", &judge_svms, "rows"_a, array("weights"), "judged"_a);
    bind_of_features<float, int32_t>(m);
    bind_of_features<float, int64_t>(m);
    bind_of_features<double, int32_t>(m);
    bind_of_features<double, int64_t>(m);
}

}  // namespace isrht
