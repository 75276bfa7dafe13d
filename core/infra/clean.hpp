// Kernels as they are called from outside: afterwards the upper halves of the vector registers are clean.
//
// Where they are not, code of others that knows no AVX takes up to three times as long from then on, until somebody
// cleans them. GCC does that at the end of functions, but forgets it at the end of some (each_group in
// dense/stages.hpp is one of them, with GCC 12).
#pragma once

#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

#ifdef __AVX__
struct Cleaning {
    ~Cleaning() { _mm256_zeroupper(); }
};

template <auto Kernel> struct CleanCall;
template <class Result, class... Arguments, Result (*Kernel)(Arguments...)> struct CleanCall<Kernel> {
    static Result call(Arguments... arguments) {
        const Cleaning cleaning;
        return Kernel(arguments...);
    }
};

template <auto Kernel> constexpr auto clean = &CleanCall<Kernel>::call;
#else
template <auto Kernel> constexpr auto clean = Kernel;
#endif

}  // namespace isrht::ISRHT_VARIANT
