// The kernels for every processor of the architecture: SSE2 on x86-64, NEON on aarch64.
#define ISRHT_VARIANT baseline
#define ISRHT_VECTOR_BYTES 16
#include "variants/variant.hpp"
