// The bindings of the transform, and of rotations made of it, which are shared among threads.
#include <atomic>
#include <cmath>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"
#include "infra/threads.hpp"

namespace isrht {
namespace {

// So many transforms are left of one whose three largest strides are done.
constexpr size_t kTopStrides = 8;

// Sums of integers wrap around, which the language allows unsigned ones alone.
template <class T> using Wrapping = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::decay<T>>;

template <class T> Cube<T> some_blocks(const Cube<T>& cube, size_t from, size_t to) {
    return {cube.block(from), to - from, cube.length, cube.inner, cube.stride};
}

// Transforms the blocks of a cube in several threads. Blocks are independent of each other. Where there are fewer of
// them than threads, the threads do the largest strides of a block together, column by column, which leaves eight
// independent transforms.
template <class T> void transform_shared(Cube<T> cube, T scale, size_t workers) {
    const TransformKernels<T>& kernels = transform_kernels<T>();
    const auto transform_blocks = [&](const Cube<T>& some, size_t from, size_t to) {
        kernels.transform(some_blocks(some, from, to), scale);
    };
    if (workers <= 1) return kernels.transform(cube, scale);
    if (cube.outer >= workers || cube.length < kTopStrides)
        return share(cube.outer, 1, workers, [&](size_t from, size_t to) { transform_blocks(cube, from, to); });
    const size_t child = cube.length / kTopStrides, columns = child * cube.inner;
    for (size_t i = 0; i < cube.outer; ++i) {
        const Cube<T> children{cube.block(i), kTopStrides, child, cube.inner, ptrdiff_t(columns)};
        share(columns, 64, workers,
              [&](size_t from, size_t to) { kernels.transform_top(children.data + from, to - from, columns); });
        share(kTopStrides, 1, workers, [&](size_t from, size_t to) { transform_blocks(children, from, to); });
    }
}

// Does the same for lengths m * 2^k. Blocks that few threads can share are shorter than any that they are given.
template <class T> void transform_streams_shared(Cube<T> cube, const SmallMatrix& plan, T scale, size_t workers) {
    const TransformKernels<T>& kernels = transform_kernels<T>();
    const auto transform_blocks = [&](const Cube<T>& some, size_t from, size_t to) {
        kernels.transform_streams(some_blocks(some, from, to), plan, scale);
    };
    const size_t child = cube.length / kTopStrides, columns = child * cube.inner;
    if (workers <= 1) return kernels.transform_streams(cube, plan, scale);
    if (cube.outer >= workers || child < streams_block(plan, cube.length))
        return share(cube.outer, 1, workers, [&](size_t from, size_t to) { transform_blocks(cube, from, to); });
    for (size_t i = 0; i < cube.outer; ++i) {
        const Cube<T> children{cube.block(i), kTopStrides, child, cube.inner, ptrdiff_t(columns)};
        share(columns, 64, workers,
              [&](size_t from, size_t to) { kernels.transform_top(children.data + from, to - from, columns); });
        share(kTopStrides, 1, workers, [&](size_t from, size_t to) { transform_blocks(children, from, to); });
    }
}

template <class T> using AnyCube = nb::ndarray<T, nb::ndim<3>, nb::device::cpu>;

template <class T> auto checked_cube(const AnyCube<T>& x, size_t order) {
    using Value = typename Wrapping<T>::type;
    const Cube<Value> cube{reinterpret_cast<Value*>(x.data()), x.shape(0), x.shape(1), x.shape(2),
                           ptrdiff_t(x.stride(0))};
    require(cube.length % order == 0 && is_power_of_two(int64_t(cube.length / order)),
            order == 1 ? "the length of a transform must be a power of two"
                       : "the length of a transform must be a power of two times the order of its matrix");
    require(x.stride(2) == 1 || cube.inner == 1, "the last axis must be contiguous");
    require(cube.length == 1 || x.stride(1) == int64_t(cube.inner), "the middle axis must be contiguous");
    return cube;
}

template <class T> void transform(const AnyCube<T>& x, double scale, size_t workers) {
    const auto cube = checked_cube<T>(x, 1);
    if (cube.outer == 0 || cube.inner == 0) return;
    nb::gil_scoped_release release;
    transform_shared(cube, typename Wrapping<T>::type(scale), workers);
}

// The arrays of a small Hadamard matrix.
struct SmallMatrixArrays {
    static constexpr auto kName = const_name("isrht.kernels.records.SmallMatrix");
    int64_t order, field, cycle;
    InVector<int64_t> added;

    auto fields() { return std::tie(order, field, cycle, added); }
};

// Checks that no output reads past the circle of its inputs, in which every cycle is there twice. An order of 1 stands for
// no matrix at all, and that of 12 tells everything.
SmallMatrix checked_matrix(const SmallMatrixArrays& matrix) {
    if (matrix.order == 1 || matrix.order == int64_t(kTwelve)) return {size_t(matrix.order), 1, 1, 0, nullptr};
    const int64_t q = matrix.field, p = matrix.cycle;
    require(p > 0 && q >= p && q < int64_t(kLargestOrder) && q % p == 0, "the cycles do not make up the field");
    require((matrix.order == q + 1 && p == q) || matrix.order == 2 * (q + 1), "the order does not belong to the field");
    require(matrix.order <= int64_t(kLargestOrder), "the order is too large");
    const int64_t circle = 2 * q * (p < q ? 2 : 1), last = 2 * (q - p) + p - 1;
    require(circle <= int64_t(kLongestCircle), "the circle is too long");
    const size_t distances = matrix.added.shape(0);
    require(int64_t(distances) == (q - 1) / 2, "half of the distances must be given");
    require_within(matrix.added.data(), distances, size_t(circle - last), "a distance is out of range");
    return {size_t(matrix.order), size_t(q), size_t(p), distances, matrix.added.data()};
}

template <class T>
void transform_streams(const AnyCube<T>& x, const SmallMatrixArrays& matrix, double scale, size_t workers) {
    const SmallMatrix plan = checked_matrix(matrix);
    const auto cube = checked_cube<T>(x, plan.order);
    if (cube.outer == 0 || cube.inner == 0) return;
    nb::gil_scoped_release release;
    transform_streams_shared(cube, plan, typename Wrapping<T>::type(scale), workers);
}

// The arrays of the steps of a rotation.
template <class T> struct StepArrays {
    static constexpr auto kName =
        const_name("isrht.kernels.records.RotationSteps[") + numpy_name(T()) + const_name("]");
    InVector<int64_t> starts;
    InMatrix<T> signs;
    SmallMatrixArrays matrix;

    auto fields() { return std::tie(starts, signs, matrix); }
};

// Rotates rows in several threads, and returns whether all of them are finite then.
template <class T>
bool rotate_rows(const AnyMatrix<T>& x, const StepArrays<T>& arrays,
                 const nb::ndarray<T, nb::ndim<2>, nb::device::cpu>& out, bool inverse, size_t workers) {
    const DenseRows<T> rows = dense_rows(x);
    const SmallMatrix plan = checked_matrix(arrays.matrix);
    const size_t count = arrays.starts.shape(0), length = arrays.signs.shape(1);
    require(count >= 1 && arrays.signs.shape(0) == count, "starts and signs differ in length");
    require(length >= 1 && length <= rows.width, "the steps are longer than the rows");
    require(length % plan.order == 0 && is_power_of_two(int64_t(length / plan.order)),
            "the length of the steps must be a power of two times the order of the matrix");
    require_within(arrays.starts.data(), count, rows.width - length + 1, "a step begins out of range");
    require(has_shape(out, rows.count, rows.width), "out has the wrong shape");
    require(out.shape(1) <= 1 || out.stride(1) == 1, "the values of a row of out must be contiguous");
    const RotationSteps<T> steps{arrays.starts.data(), arrays.signs.data(), count, length,
                                 T(1 / std::sqrt(double(length)))};
    const ptrdiff_t stride = ptrdiff_t(out.stride(0));
    const DenseKernels<T>& kernels = dense_kernels<T>();
    nb::gil_scoped_release release;
    std::atomic<bool> finite{true};
    const auto rotate = [&](size_t from, size_t to) {
        if (!kernels.rotate({rows.row(from), to - from, rows.width, rows.stride}, steps, plan, inverse,
                            {out.data() + ptrdiff_t(from) * stride, stride}))
            finite = false;
    };
    if (workers <= 1) rotate(0, rows.count);
    else share(rows.count, 16, workers, rotate);
    return finite;
}

void widen_halves(const InVector<uint16_t>& x, bool brain, const OutVector<float>& out) {
    require(x.shape(0) == out.shape(0), "x and out differ in length");
    nb::gil_scoped_release release;
    active_kernels().halves.widen(x.data(), x.shape(0), brain, out.data());
}

void narrow_halves(const InVector<float>& x, bool brain, const OutVector<uint16_t>& out) {
    require(x.shape(0) == out.shape(0), "x and out differ in length");
    nb::gil_scoped_release release;
    active_kernels().halves.narrow(x.data(), x.shape(0), brain, out.data());
}

template <class T> void bind_rotation(nb::module_& m) {
    m.def("rotate_rows", &rotate_rows<T>, array("x"), "steps"_a, array("out"), "inverse"_a, "workers"_a = 1);
}

template <class T> void bind(nb::module_& m) {
    m.def("transform", &transform<T>, array("x"), "scale"_a, "workers"_a = 1);
    m.def("transform_streams", &transform_streams<T>, array("x"), "matrix"_a, "scale"_a, "workers"_a = 1);
}

}  // namespace

void bind_transform(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
    bind<int32_t>(m);
    bind<int64_t>(m);
    bind_rotation<float>(m);
    bind_rotation<double>(m);
    m.def("widen_halves", &widen_halves, array("x"), "brain"_a, array("out"));
    m.def("narrow_halves", &narrow_halves, array("x"), "brain"_a, array("out"));
}

}  // namespace isrht
