// Rows from columns: see interleave.hpp.
#include "dense/interleave.hpp"

#include <limits>
#include <type_traits>

#include "infra/inline.hpp"

namespace isrht {
namespace {

// So many rows are finished together: what is written of them stays in the cache until each line of it is whole.
constexpr size_t kRows = 256;
// So many columns are read together: they make whole lines of what is written.
template <class T> constexpr size_t kColumns = 64 / sizeof(T);

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

// Both add the difference of every value and itself to `trace`: it is 0 unless a value is not finite, and then NaN.
ISRHT_INLINE void transpose(const float* const* from, size_t row, float* to, size_t width,
                            Square<float>::Vector& trace) {
    using Vector = Square<float>::Vector;
    const Vector a = load(from[0] + row), b = load(from[1] + row), c = load(from[2] + row), d = load(from[3] + row);
    trace += ((a - a) + (b - b)) + ((c - c) + (d - d));
    const Vector ab{a[0], b[0], a[1], b[1]}, cd{c[0], d[0], c[1], d[1]};
    const Vector ab_high{a[2], b[2], a[3], b[3]}, cd_high{c[2], d[2], c[3], d[3]};
    store(to, Vector{ab[0], ab[1], cd[0], cd[1]});
    store(to + width, Vector{ab[2], ab[3], cd[2], cd[3]});
    store(to + 2 * width, Vector{ab_high[0], ab_high[1], cd_high[0], cd_high[1]});
    store(to + 3 * width, Vector{ab_high[2], ab_high[3], cd_high[2], cd_high[3]});
}

ISRHT_INLINE void transpose(const double* const* from, size_t row, double* to, size_t width,
                            Square<double>::Vector& trace) {
    using Vector = Square<double>::Vector;
    const Vector a = load(from[0] + row), b = load(from[1] + row);
    trace += (a - a) + (b - b);
    store(to, Vector{a[0], b[0]});
    store(to + width, Vector{a[1], b[1]});
}

ISRHT_INLINE bool bit(const uint8_t* bits, size_t place) { return (bits[place / 8] >> (place % 8)) & 1; }

// Asks for the next values of a column while these are converted: they are too few for the processor to foresee, because
// those of all other columns lie between. The address is a number because it may lie past the end, where a prefetch does
// no harm.
void ask_for(uintptr_t from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const void*>(from + at));
}

template <class From, class T> void convert(const Column& column, size_t first, size_t rows, T* to) {
    const From* from = static_cast<const From*>(column.values) + first;
    ask_for(reinterpret_cast<uintptr_t>(from + rows), rows * sizeof(From));
    for (size_t row = 0; row < rows; ++row) to[row] = T(from[row]);
}

void convert_any(const Column& column, size_t first, size_t rows, double* to) {
    switch (column.kind) {
        case Kind::Bool:
            for (size_t row = 0; row < rows; ++row)
                to[row] = bit(static_cast<const uint8_t*>(column.values), first + row);
            break;
        case Kind::Int8: convert<int8_t>(column, first, rows, to); break;
        case Kind::UInt8: convert<uint8_t>(column, first, rows, to); break;
        case Kind::Int16: convert<int16_t>(column, first, rows, to); break;
        case Kind::UInt16: convert<uint16_t>(column, first, rows, to); break;
        case Kind::Int32: convert<int32_t>(column, first, rows, to); break;
        case Kind::UInt32: convert<uint32_t>(column, first, rows, to); break;
        case Kind::Int64: convert<int64_t>(column, first, rows, to); break;
        case Kind::UInt64: convert<uint64_t>(column, first, rows, to); break;
        case Kind::Float: convert<float>(column, first, rows, to); break;
        case Kind::Double: convert<double>(column, first, rows, to); break;
    }
}
void convert_any(const Column& column, size_t first, size_t rows, float* to) {
    convert<float>(column, first, rows, to);
}

// Returns some consecutive values of a column: where they are, or in `room` after they are converted.
template <class T> const T* values_of(const Column& column, size_t start, size_t rows, T* room) {
    constexpr Kind same = std::is_same_v<T, float> ? Kind::Float : Kind::Double;
    const size_t first = column.offset + start;
    if (column.kind == same && !column.valid) return static_cast<const T*>(column.values) + first;
    convert_any(column, first, rows, room);
    if (column.valid)
        for (size_t row = 0; row < rows; ++row)
            if (!bit(column.valid, first + row)) room[row] = std::numeric_limits<T>::quiet_NaN();
    return room;
}

// Some rows and columns that make no whole squares. Returns what `transpose` adds.
template <class T> T copy_rest(const T* const* from, size_t columns, size_t first, size_t last, T* to, size_t width) {
    T trace = 0;
    for (size_t row = first; row < last; ++row)
        for (size_t column = 0; column < columns; ++column) {
            const T value = from[column][row];
            trace += value - value;
            to[row * width + column] = value;
        }
    return trace;
}

}  // namespace

template <class T> bool interleave(const Column* columns, size_t width, size_t start, size_t count, T* out) {
    constexpr size_t side = size_t(Square<T>::side), most = kColumns<T>;
    alignas(64) T room[most][kRows];
    const T* from[most];
    typename Square<T>::Vector trace{};
    T rest = 0;
    for (size_t done = 0; done < count; done += kRows) {
        const size_t rows = count - done < kRows ? count - done : kRows, squares = rows - rows % side;
        for (size_t left = 0; left < width; left += most) {
            const size_t some = width - left < most ? width - left : most, whole = some - some % side;
            for (size_t i = 0; i < some; ++i) from[i] = values_of(columns[left + i], start + done, rows, room[i]);
            T* to = out + done * width + left;
            for (size_t row = 0; row < squares; row += side)
                for (size_t i = 0; i < whole; i += side) transpose(from + i, row, to + row * width + i, width, trace);
            rest += copy_rest(from, whole, squares, rows, to, width);
            rest += copy_rest(from + whole, some - whole, 0, rows, to + whole, width);
        }
    }
    for (size_t i = 0; i < side; ++i) rest += trace[i];
    return rest == 0;
}

template bool interleave<float>(const Column*, size_t, size_t, size_t, float*);
template bool interleave<double>(const Column*, size_t, size_t, size_t, double*);

}  // namespace isrht
