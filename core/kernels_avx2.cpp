// AVX2 and FMA: x86-64 processors since 2013. Compiled with those flags, called only where they are found.
#define ISRHT_VARIANT avx2
#define ISRHT_VECTOR_BYTES 32
#define ISRHT_PERMUTE
#include "variant.hpp"
