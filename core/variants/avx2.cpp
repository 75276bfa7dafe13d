// The kernels for x86-64 processors since 2013, which have AVX2 and FMA. This file is compiled with those flags, and
// its kernels are called only where both are found.
#define ISRHT_VARIANT avx2
#define ISRHT_VECTOR_BYTES 32
#define ISRHT_PERMUTE
#include "variants/variant.hpp"
