// Rows from columns: see interleave.hpp.
#include "dense/interleave.hpp"

#include "infra/inline.hpp"

namespace isrht {
namespace {

// So many rows are finished together: what is written of them stays in the cache until each line of it is whole.
constexpr size_t kRows = 256;
// So many columns are read together. More would fall into the same sets of a cache, for columns often lie at distances
// that are powers of two.
constexpr size_t kColumns = 8;

template <class T> struct Square {
    static constexpr int side = int(16 / sizeof(T));
    typedef T Vector __attribute__((vector_size(16)));
    typedef T Unaligned __attribute__((vector_size(16), aligned(alignof(T)), may_alias));
};

template <class T> ISRHT_INLINE typename Square<T>::Vector load(const T* from) {
    return *reinterpret_cast<const typename Square<T>::Unaligned*>(from);
}
template <class T> ISRHT_INLINE void store(T* to, typename Square<T>::Vector value) {
    *reinterpret_cast<typename Square<T>::Unaligned*>(to) = value;
}

ISRHT_INLINE void transpose(const float* from, size_t count, float* to, size_t width) {
    using Vector = Square<float>::Vector;
    const Vector a = load(from), b = load(from + count), c = load(from + 2 * count), d = load(from + 3 * count);
    const Vector ab{a[0], b[0], a[1], b[1]}, cd{c[0], d[0], c[1], d[1]};
    const Vector ab_high{a[2], b[2], a[3], b[3]}, cd_high{c[2], d[2], c[3], d[3]};
    store(to, Vector{ab[0], ab[1], cd[0], cd[1]});
    store(to + width, Vector{ab[2], ab[3], cd[2], cd[3]});
    store(to + 2 * width, Vector{ab_high[0], ab_high[1], cd_high[0], cd_high[1]});
    store(to + 3 * width, Vector{ab_high[2], ab_high[3], cd_high[2], cd_high[3]});
}

ISRHT_INLINE void transpose(const double* from, size_t count, double* to, size_t width) {
    using Vector = Square<double>::Vector;
    const Vector a = load(from), b = load(from + count);
    store(to, Vector{a[0], b[0]});
    store(to + width, Vector{a[1], b[1]});
}

// Some rows and columns that make no whole squares.
template <class T> void copy_rest(const T* from, size_t columns, size_t count, size_t rows, T* to, size_t width) {
    for (size_t row = 0; row < rows; ++row)
        for (size_t column = 0; column < columns; ++column) to[row * width + column] = from[column * count + row];
}

}  // namespace

template <class T> void interleave(const T* columns, size_t width, size_t count, T* out) {
    constexpr size_t side = size_t(Square<T>::side);
    const size_t whole = width - width % kColumns;
    for (size_t start = 0; start < count; start += kRows) {
        const size_t stop = count - start < kRows ? count : start + kRows, squares = stop - (stop - start) % side;
        for (size_t left = 0; left < whole; left += kColumns) {
            for (size_t row = start; row < squares; row += side)
                for (size_t column = left; column < left + kColumns; column += side)
                    transpose(columns + column * count + row, count, out + row * width + column, width);
            copy_rest(columns + left * count + squares, kColumns, count, stop - squares, out + squares * width + left,
                      width);
        }
        copy_rest(columns + whole * count + start, width - whole, count, stop - start, out + start * width + whole,
                  width);
    }
}

template void interleave<float>(const float*, size_t, size_t, float*);
template void interleave<double>(const double*, size_t, size_t, double*);

}  // namespace isrht
