// The kernels at the width of AVX-512, callable from C. The compiler splits the wide vectors for processors that
// lack them, so their logic is tested everywhere; see test_kernels.py.
#include <cstdlib>

#define ISRHT_VARIANT wide
#define ISRHT_VECTOR_BYTES 64
#define ISRHT_PERMUTE
#include "variant.hpp"

namespace isrht {
Scratch::Scratch(size_t bytes) : data(std::aligned_alloc(64, (bytes + 64) / 64 * 64)) {}
Scratch::~Scratch() { std::free(data); }
}  // namespace isrht

using namespace isrht;

#define ISRHT_EXPORT(T, suffix)                                                                                     \
    extern "C" void transform_##suffix(T* data, size_t rows, size_t length, size_t inner, double scale) {          \
        wide::transform<T>(data, rows, ptrdiff_t(length * inner), length, inner, T(scale));                        \
    }                                                                                                               \
    extern "C" void project_rows_##suffix(const T* x, size_t rows, size_t width, const T* diagonal, size_t length, \
                                          const int64_t* columns, const T* scales, size_t count, T* out) {         \
        wide::project<T>({x, rows, width, ptrdiff_t(width)}, diagonal, length, {columns, scales, count}, out);     \
    }                                                                                                               \
    extern "C" void score_rows_##suffix(const T* x, size_t rows, size_t width, const double* weights,              \
                                        const double* intercept, size_t problems, double* out) {                   \
        wide::score_rows<T>({x, rows, width, ptrdiff_t(width)},                                                     \
                            {weights, intercept, problems, width, ptrdiff_t(width), 1}, out);                       \
    }                                                                                                               \
    extern "C" void add_squares_##suffix(const T* x, size_t rows, size_t width, const int64_t* chosen, size_t count, \
                                         const T* diagonal, size_t length, double* totals) {                       \
        wide::add_squares<T>({x, rows, width, ptrdiff_t(width)}, {chosen, count}, diagonal, length, totals);       \
    }                                                                                                               \
    extern "C" void project_csr_##suffix(const T* data, const int32_t* indices, const int32_t* indptr, size_t rows, \
                                         size_t width, const T* diagonal, size_t length, const int64_t* columns,   \
                                         const T* scales, size_t count, T* out) {                                  \
        wide::project_sparse<T, int32_t>({data, indices, indptr, rows, width}, diagonal, length,                   \
                                         {columns, scales, count}, out);                                           \
    }

ISRHT_EXPORT(float, float32)
ISRHT_EXPORT(double, float64)
