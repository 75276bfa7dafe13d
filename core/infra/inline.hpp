// Functions that are never, or always, functions of their own in the compiled code.
//
// What every variant of the kernels includes is compiled once for each instruction set. Were such a function not
// inlined, the linker would keep one of its copies for all variants, perhaps one that uses instructions which this
// processor lacks. So functions outside the namespace of a variant that kernels call are ISRHT_INLINE; inside it, the
// name is for speed.
#pragma once

#define ISRHT_INLINE inline __attribute__((always_inline))
#define ISRHT_NOINLINE __attribute__((noinline))
// The same, compiled for size.
#define ISRHT_SMALL __attribute__((noinline, cold))
