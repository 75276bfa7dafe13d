// Whether indices are within a range: see ranges.hpp.
#include "infra/ranges.hpp"

#include <cstdint>

namespace isrht {

template <class Index> bool all_within(const Index* index, size_t count, size_t end) {
    Index signs = 0, most = 0;
    for (size_t i = 0; i < count; ++i) {
        signs |= index[i];
        most = index[i] > most ? index[i] : most;
    }
    return count == 0 || (signs >= 0 && uint64_t(most) < uint64_t(end));
}

template bool all_within(const int32_t*, size_t, size_t);
template bool all_within(const int64_t*, size_t, size_t);

}  // namespace isrht
