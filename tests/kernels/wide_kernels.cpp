// The kernels at the width of AVX-512, callable from C with the records of core/records.hpp. The compiler splits the
// wide vectors for processors that lack them, so their logic is tested everywhere: see test_variants.py.
#define ISRHT_VARIANT wide
#define ISRHT_VECTOR_BYTES 64
#define ISRHT_PERMUTE
#include "variants/variant.hpp"

using namespace isrht;

#define ISRHT_EXPORT(T, suffix)                                                                                    \
    extern "C" void transform_##suffix(const Cube<T>* cube, double scale) { wide::transform<T>(*cube, T(scale)); } \
    extern "C" void project_rows_##suffix(const DenseRows<T>* rows, const T* diagonal, size_t length,              \
                                          const Columns<T>* columns, T* out) {                                     \
        wide::project_dense<T>(*rows, diagonal, length, *columns, out);                                            \
    }                                                                                                              \
    extern "C" void score_rows_##suffix(const DenseRows<T>* rows, const LinearModels* models, double* out) {       \
        wide::score_dense<T>(*rows, *models, out);                                                                 \
    }                                                                                                              \
    extern "C" void add_squares_##suffix(const DenseRows<T>* rows, const RowChoice* chosen, const T* diagonal,     \
                                         size_t length, double* totals) {                                          \
        wide::add_squares<T>(*rows, *chosen, diagonal, length, totals);                                            \
    }                                                                                                              \
    extern "C" void project_csr_##suffix(const SparseRows<T, int32_t>* rows, const T* diagonal, size_t length,     \
                                         const Columns<T>* columns, T* out) {                                      \
        wide::project_sparse<T, int32_t>(*rows, diagonal, length, *columns, out);                                  \
    }

ISRHT_EXPORT(float, float32)
ISRHT_EXPORT(double, float64)
