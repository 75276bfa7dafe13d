// The kernel that takes the sums of small SVMs over some of the rows, for rows that are not all in memory.
//
// Nothing of a row outlives a pass there. Which rows were active follows from the weights before.
#pragma once

#include "boosting/hinge_sums.hpp"

namespace isrht::ISRHT_VARIANT {

// Memory for one problem at a time.
struct SumsMemory {
    double *pull, *gram, *gathered;
    uint32_t *active, *before, *words;
    double loss[kSvmPartials];
};

// Sets the sums of problem p.
inline void set_sums(const PackedRows& rows, SumsMemory& memory, const SvmSums& sums, size_t p) {
    const size_t width = rows.width, stride = gram_stride(width);
    sums.loss[p] = total_of_partials(memory.loss);
    for (size_t j = 0; j < width; ++j) sums.pull[p * width + j] = total_of_partials(memory.pull + j * kSvmPartials);
    sums.changed[p] = 0;
    for (size_t b = 0; b < rows.blocks; ++b) {
        memory.words[b] = memory.active[b] ^ memory.before[b];
        sums.changed[p] += int64_t(count_bits(memory.words[b]));
    }
    for (size_t i = 0; i < width * stride; ++i) memory.gram[i] = 0;
    GramAdder adder{rows, memory.gram, memory.gathered, {}, 0};
    adder.add(memory.words, memory.active);
    double* gram = sums.gram + p * width * width;
    for (size_t j = 0; j < width; ++j)
        for (size_t k = 0; k <= j; ++k) gram[j * width + k] = gram[k * width + j] = memory.gram[j * stride + k];
}

// Sets the sums at `weights` (problems, width + 1). Rows were active at the weights `before`, or none where it is null.
inline void sum_small_svms(const LearnedRows& given, const SvmProblems& problems, const double* weights,
                           const double* before, const SvmSums& sums) {
    const size_t counted = counted_rows(given), width = given.width + 1, stride = gram_stride(width);
    const size_t blocks = (counted + kSvmBlock - 1) / kSvmBlock;
    Scratch values((blocks * (width + 2) * kSvmBlock + 1) * sizeof(double));
    const size_t doubles = width * kSvmPartials + width * stride + kGathered * stride;
    Scratch scratch(doubles * sizeof(double) + 3 * blocks * sizeof(uint32_t) + 1);
    double* const numbers = static_cast<double*>(scratch.data);
    uint32_t* const words = reinterpret_cast<uint32_t*>(numbers + doubles);
    SumsMemory memory{numbers,
                      numbers + width * kSvmPartials,
                      numbers + width * kSvmPartials + width * stride,
                      words,
                      words + blocks,
                      words + 2 * blocks,
                      {}};
    const PackedRows rows = packed_rows(given, counted, static_cast<double*>(values.data));
    for (size_t p = 0; p < problems.count; ++p) {
        const double positive = double(problems.positive[p]);
        for (size_t b = 0; b < blocks; ++b) memory.before[b] = 0;
        if (before) {
            const HingeTask task{before + p * width, positive, memory.loss, memory.pull, memory.before};
            sum_hinges(rows, &task, 1);
        }
        const HingeTask task{weights + p * width, positive, memory.loss, memory.pull, memory.active};
        sum_hinges(rows, &task, 1);
        set_sums(rows, memory, sums, p);
    }
}

}  // namespace isrht::ISRHT_VARIANT
