// The kernel that judges small SVMs by rows that they were not trained on.
//
// An SVM has a two-class problem for every class, or one for two classes. Rows are packed as for training, and each block is
// scored by all problems while it is in the cache. The class with the largest score is kept for every row from problem
// to problem, so that no score outlives its block.
#pragma once

#include <limits>

#include "boosting/hinge_sums.hpp"

namespace isrht::ISRHT_VARIANT {

// What the rows of a block say: the largest score so far, and the class that has it.
struct BlockVerdict {
    Vector<double> largest[kSvmVectors], guess[kSvmVectors];

    // Of two classes the second has the only problem, and the first one a score of zero.
    ISRHT_INLINE void begin(bool two_classes) {
        const double least = two_classes ? 0 : -std::numeric_limits<double>::infinity();
        for (size_t v = 0; v < kSvmVectors; ++v) largest[v] = broadcast(least), guess[v] = broadcast(0.0);
    }

    ISRHT_INLINE void hear(const Vector<double>* scores, double code) {
        const Vector<double> told = broadcast(code);
        for (size_t v = 0; v < kSvmVectors; ++v) {
            guess[v] = scores[v] > largest[v] ? told : guess[v];
            largest[v] = scores[v] > largest[v] ? scores[v] : largest[v];
        }
    }

    // Adds the weights of the rows whose class is guessed to eight partial sums. `facts` are weights, and then codes.
    ISRHT_INLINE void add_hits(const double* facts, double* hits) const {
        const Vector<double> zero{};
        for (size_t v = 0; v < kSvmVectors; ++v) {
            const Vector<double> weights = load(facts + v * kSvmLanes), codes = load(facts + kSvmBlock + v * kSvmLanes);
            double* sum = hits + v % kSvmSlots * kSvmLanes;
            store(sum, load(sum) + (guess[v] == codes ? weights : zero));
        }
    }
};

struct SvmJudge {
    PackedRows rows;
    const HingeTask* tasks;
    size_t count, labels;
    double* hits;  // (count / labels, kSvmPartials)
    double* sums;  // (count, kJudgedSums, kSvmPartials)

    void judge() const {
        for (size_t b = 0; b < rows.blocks; ++b) {
            BlockVerdict verdict{};
            size_t p = 0;
            for (; p + kSvmTogether <= count; p += kSvmTogether) judge_some<kSvmTogether>(rows.block(b), p, verdict);
            for (; p < count; ++p) judge_some<1>(rows.block(b), p, verdict);
        }
    }

  private:
    template <size_t Problems>
    ISRHT_INLINE void judge_some(const double* block, size_t first, BlockVerdict& verdict) const {
        const double* facts = block + rows.width * kSvmBlock;
        Vector<double> scores[Problems][kSvmVectors];
        score_block<Problems>(block, rows.width, tasks + first, scores);
        for (size_t q = 0; q < Problems; ++q) {
            const size_t p = first + q, label = p % labels;
            if (label == 0) verdict.begin(labels == 1);
            verdict.hear(scores[q], tasks[p].positive);
            if (label + 1 == labels) verdict.add_hits(facts, hits + p / labels * kSvmPartials);
            add_sums(facts, scores[q], tasks[p].positive, sums + p * kJudgedSums * kSvmPartials);
        }
    }

    ISRHT_INLINE static void add_sums(const double* facts, const Vector<double>* scores, double positive,
                                      double* totals) {
        const Vector<double> one = broadcast(1.0), zero{};
        Vector<double> sum[kJudgedSums][kSvmSlots];
        for (size_t i = 0; i < kJudgedSums; ++i)
            for (size_t s = 0; s < kSvmSlots; ++s) sum[i][s] = load(totals + i * kSvmPartials + s * kSvmLanes);
        for (size_t v = 0; v < kSvmVectors; ++v) {
            const Vector<double> weights = load(facts + v * kSvmLanes), score = scores[v];
            const Vector<double> label = load(facts + kSvmBlock + v * kSvmLanes) == positive ? one : -one;
            const Vector<double> weighted = weights * score, margin = one - label * score;
            const Vector<double> hinge = margin > zero ? margin : zero;
            const size_t slot = v % kSvmSlots;
            sum[0][slot] += weighted;
            sum[1][slot] += weighted * score;
            sum[2][slot] += weighted * label;
            sum[3][slot] += weights * label;
            sum[4][slot] += hinge * (hinge * weights);
        }
        for (size_t i = 0; i < kJudgedSums; ++i)
            for (size_t s = 0; s < kSvmSlots; ++s) store(totals + i * kSvmPartials + s * kSvmLanes, sum[i][s]);
    }
};

inline void judge_small_svms(const LearnedRows& given, const double* weights, size_t count, size_t labels,
                             const JudgedSvms& judged) {
    const size_t counted = counted_rows(given), width = given.width + 1;
    const size_t blocks = (counted + kSvmBlock - 1) / kSvmBlock, models = count / labels;
    const size_t doubles = (models + count * kJudgedSums) * kSvmPartials;
    Scratch values((blocks * (width + 2) * kSvmBlock + 1) * sizeof(double)), tasks(count * sizeof(HingeTask));
    Scratch scratch(doubles * sizeof(double));
    double *hits = static_cast<double*>(scratch.data), *sums = hits + models * kSvmPartials;
    for (size_t i = 0; i < doubles; ++i) hits[i] = 0;
    HingeTask* const problems = static_cast<HingeTask*>(tasks.data);
    for (size_t p = 0; p < count; ++p)
        problems[p] = {weights + p * width, labels == 1 ? 1.0 : double(p % labels), nullptr, nullptr, nullptr};
    SvmJudge{packed_rows(given, counted, static_cast<double*>(values.data)), problems, count, labels, hits, sums}
        .judge();
    for (size_t c = 0; c < models; ++c) judged.hits[c] = total_of_partials(hits + c * kSvmPartials);
    for (size_t i = 0; i < kJudgedSums; ++i)
        for (size_t p = 0; p < count; ++p)
            judged.sums[i * count + p] = total_of_partials(sums + (p * kJudgedSums + i) * kSvmPartials);
}

}  // namespace isrht::ISRHT_VARIANT
