// The kernels for every processor of the architecture: SSE2 on x86-64, NEON on aarch64.
#define ISRHT_VARIANT baseline
#define ISRHT_VECTOR_BYTES 16
#ifdef ISRHT_X86_VARIANTS
#define ISRHT_LEAN  // Processors without AVX2 are older than 2013, and need no third copy of everything.
#endif
#include "variants/variant.hpp"
