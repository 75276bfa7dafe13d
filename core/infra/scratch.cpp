// Memory that a kernel needs while it works: see scratch.hpp.
#include "infra/scratch.hpp"

#include <new>

namespace isrht {

Scratch::Scratch(size_t bytes) : data(::operator new(bytes, std::align_val_t(kCacheLine))) {}
Scratch::~Scratch() { ::operator delete(data, std::align_val_t(kCacheLine)); }

}  // namespace isrht
