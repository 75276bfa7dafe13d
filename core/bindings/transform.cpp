// The binding of the transform, which is shared among threads.
#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "infra/dispatch.hpp"
#include "infra/threads.hpp"

namespace isrht {
namespace {

// So many transforms are left of one whose three largest strides are done.
constexpr size_t kTopStrides = 8;

// Transforms the blocks of a cube in several threads. Blocks are independent of each other. Where there are fewer of
// them than threads, the threads do the largest strides of a block together, column by column, which leaves eight
// independent transforms.
template <class T> void transform_shared(Cube<T> cube, T scale, size_t workers) {
    const DenseKernels<T>& kernels = dense_kernels<T>();
    const auto transform_blocks = [&](const Cube<T>& some, size_t from, size_t to) {
        kernels.transform({some.block(from), to - from, some.length, some.inner, some.stride}, scale);
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

template <class T> void transform(const nb::ndarray<T, nb::ndim<3>, nb::device::cpu>& x, double scale, size_t workers) {
    const Cube<T> cube{x.data(), x.shape(0), x.shape(1), x.shape(2), ptrdiff_t(x.stride(0))};
    require(is_power_of_two(int64_t(cube.length)), "the length of a transform must be a power of two");
    require(x.stride(2) == 1 || cube.inner == 1, "the last axis must be contiguous");
    require(cube.length == 1 || x.stride(1) == int64_t(cube.inner), "the middle axis must be contiguous");
    if (cube.outer == 0 || cube.inner == 0) return;
    nb::gil_scoped_release release;
    transform_shared(cube, T(scale), workers);
}

}  // namespace

void bind_transform(nb::module_& m) {
    m.def("transform", &transform<float>, array("x"), "scale"_a, "workers"_a = 1);
    m.def("transform", &transform<double>, array("x"), "scale"_a, "workers"_a = 1);
}

}  // namespace isrht
