// The kernels for x86-64 processors with AVX-512 (F, DQ, BW and VL). This file is compiled with those flags, and its
// kernels are called only where all of them are found.
#define ISRHT_VARIANT avx512
#define ISRHT_VECTOR_BYTES 64
#define ISRHT_PERMUTE
#define ISRHT_INTEGERS \
    avx2  // Who has AVX-512 has AVX2, which is nearly as fast; a third copy would be 3 % of the wheel.
#include "variants/variant.hpp"
