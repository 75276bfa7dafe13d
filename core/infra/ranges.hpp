// Whether indices are within a range, which the bindings ask of all entries of sparse rows before every pass over them.
#pragma once

#include <cstddef>

namespace isrht {

// Returns whether every index is within [0, end). Compiled in a file of its own, for speed: the bindings are compiled for
// size, and a loop that looks at one index after another takes as long as some of the kernels that follow.
template <class Index> bool all_within(const Index* index, size_t count, size_t end);

}  // namespace isrht
