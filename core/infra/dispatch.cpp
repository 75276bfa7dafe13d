// The choice among the variants of the kernels: see dispatch.hpp.
#include "infra/dispatch.hpp"

#include <atomic>
#include <stdexcept>

namespace isrht {
namespace {

struct Variant {
    const Kernels* kernels;
    bool runs_here;
};

std::vector<Variant> variants() {
    std::vector<Variant> all{{&baseline::kernels, true}};
#ifdef ISRHT_X86_VARIANTS
    __builtin_cpu_init();
    all.push_back({&avx2::kernels, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")});
    all.push_back({&avx512::kernels, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")});
#endif
    return all;
}

const Kernels* best() {
    const Kernels* found = nullptr;
    for (const Variant& variant : variants())
        if (variant.runs_here) found = variant.kernels;
    return found;
}

std::atomic<const Kernels*>& active() {
    static std::atomic<const Kernels*> kernels{best()};
    return kernels;
}

}  // namespace

std::vector<std::string> available_variants() {
    std::vector<std::string> names;
    for (const Variant& variant : variants())
        if (variant.runs_here) names.push_back(variant.kernels->name);
    return names;
}

std::vector<std::string> processor_features() {
    std::vector<std::string> names;
#ifdef ISRHT_X86_VARIANTS
    __builtin_cpu_init();
    // The compiler takes nothing but a literal for the name of an instruction set, so a loop over names will not do.
#define ISRHT_FEATURE(name) \
    if (__builtin_cpu_supports(name)) names.push_back(name)
    ISRHT_FEATURE("sse2");
    ISRHT_FEATURE("avx");
    ISRHT_FEATURE("avx2");
    ISRHT_FEATURE("fma");
    ISRHT_FEATURE("avx512f");
    ISRHT_FEATURE("avx512dq");
    ISRHT_FEATURE("avx512bw");
    ISRHT_FEATURE("avx512vl");
#undef ISRHT_FEATURE
#elif defined(__aarch64__)
    names.push_back("neon");
#endif
    return names;
}

const Kernels& active_kernels() { return *active().load(std::memory_order_relaxed); }

void use_variant(const std::string& name) {
    for (const Variant& variant : variants()) {
        if (variant.kernels->name != name) continue;
        if (!variant.runs_here) throw std::invalid_argument("this processor cannot run the kernels '" + name + "'");
        active().store(variant.kernels, std::memory_order_relaxed);
        return;
    }
    throw std::invalid_argument("no kernels '" + name + "' are built in");
}

}  // namespace isrht
