// AVX-512 (F, DQ, BW, VL): compiled with those flags, called only where they are found.
#define ISRHT_VARIANT avx512
#define ISRHT_VECTOR_BYTES 64
#define ISRHT_PERMUTE
#include "variant.hpp"
