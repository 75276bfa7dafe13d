// Memory that a kernel needs while it works.
#pragma once

#include <cstddef>

namespace isrht {

constexpr size_t kCacheLine = 64;

// Memory that begins at a cache line and is freed at the end of its scope. Where there is none, std::bad_alloc is
// thrown. The functions are compiled in a file of their own, so that no variant compiles them for its own instruction
// set.
struct Scratch {
    explicit Scratch(size_t bytes);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    void* data;
};

}  // namespace isrht
