// Sums over rows of small SVMs: the squared hinge, its gradient, and the Gram matrices of rows that enter or leave the
// margin.
//
// Rows are packed into blocks that stay in the cache while all problems pass over them, a few problems together. Vectors hold the same
// column of several rows, so scores need no sums across lanes. Sums over rows are taken in eight partial sums, to which
// the rows are added in turn, and which are added by halves. Which rows of a block are within the margin is one word.
#pragma once

#include "boosting/outer_products.hpp"
#include "boosting/small_svms.hpp"
#include "infra/vector.hpp"

namespace isrht::ISRHT_VARIANT {

constexpr size_t kSvmBlock = 32, kSvmPartials = 8;
constexpr size_t kSvmLanes = size_t(Lanes<double>::count), kSvmVectors = kSvmBlock / kSvmLanes;
constexpr size_t kSvmSlots = kSvmPartials / kSvmLanes;
// So many problems pass over the rows together, and so many vectors of rows are scored at a time: as registers allow.
constexpr size_t kSvmTogether = kSvmLanes == 8 ? 4 : 2, kSvmTile = 4;
// All problems pass over so many bytes of rows, or a block, before the next ones are read.
constexpr size_t kSvmCached = 1 << 14;

// Rows of weight zero are left out. A block has its columns one after the other, then ones, weights, and codes as
// doubles. The last block is filled up with rows of weight zero.
struct PackedRows {
    const double* values;
    size_t blocks, width, count;

    ISRHT_INLINE const double* block(size_t number) const { return values + number * (width + 2) * kSvmBlock; }
};

ISRHT_INLINE size_t counted_rows(const LearnedRows& rows) {
    size_t counted = 0;
    for (size_t i = 0; i < rows.count; ++i) counted += rows.weights[i] != 0;
    return counted;
}

// Packs the chosen rows, column after column: a few cache lines are read at a time, and written one after another.
ISRHT_INLINE void pack_block(const LearnedRows& rows, const size_t* chosen, size_t count, double* block) {
    for (size_t j = 0; j < rows.width; ++j)
        for (size_t i = 0; i < count; ++i) block[j * kSvmBlock + i] = rows.value(chosen[i], j);
    double *ones = block + rows.width * kSvmBlock, *weights = ones + kSvmBlock, *codes = weights + kSvmBlock;
    for (size_t i = 0; i < count; ++i) {
        ones[i] = 1;
        weights[i] = rows.weights[chosen[i]];
        codes[i] = double(rows.codes[chosen[i]]);
    }
}

inline PackedRows packed_rows(const LearnedRows& rows, size_t counted, double* values) {
    const size_t width = rows.width + 1, blocks = (counted + kSvmBlock - 1) / kSvmBlock;
    const size_t size = (width + 2) * kSvmBlock;
    for (size_t i = blocks ? (blocks - 1) * size : 0; i < blocks * size; ++i) values[i] = 0;
    for (size_t b = 0, row = 0; b < blocks; ++b) {
        size_t chosen[kSvmBlock], count = 0;
        // Which rows count is as good as random where folds leave some out, so it is no branch.
        for (; count < kSvmBlock && row < rows.count; ++row) {
            chosen[count] = row;
            count += rows.weights[row] != 0;
        }
        pack_block(rows, chosen, count, values + b * size);
    }
    return {values, blocks, width, counted};
}

// Returns the sign bits of the lanes, lane 0 lowest.
ISRHT_INLINE uint32_t bits_of(Lanes<double>::Bits lanes) {
#if defined(__AVX512DQ__) && ISRHT_VECTOR_BYTES == 64
    return uint32_t(_mm512_movepi64_mask((__m512i)lanes));
#elif defined(__AVX2__) && ISRHT_VECTOR_BYTES == 32
    return uint32_t(_mm256_movemask_pd((__m256d)lanes));
#else
    uint32_t bits = 0;
    for (size_t lane = 0; lane < kSvmLanes; ++lane) bits |= uint32_t(lanes[lane] < 0) << lane;
    return bits;
#endif
}

// One problem at some weights: its sums, in eight partial sums each, and the words of its active rows.
struct HingeTask {
    const double* weights;
    double positive;
    double* loss;      // (kSvmPartials)
    double* pull;      // (width, kSvmPartials)
    uint32_t* active;  // (blocks)
};

struct BlockHinge {
    Vector<double> pull[kSvmVectors];
    uint32_t active;
};

// Scores the rows of a block in several problems, so many vectors of rows at a time as registers hold: each value that is
// loaded serves all of them.
template <size_t Problems>
ISRHT_INLINE void score_block(const double* block, size_t width, const HingeTask* tasks,
                              Vector<double> (*scores)[kSvmVectors]) {
    for (size_t first = 0; first < kSvmVectors; first += kSvmTile) {
        Vector<double> score[Problems][kSvmTile] = {};
        for (size_t j = 0; j < width; ++j) {
            const double* column = block + j * kSvmBlock + first * kSvmLanes;
            for (size_t v = 0; v < kSvmTile; ++v) {
                const Vector<double> values = load(column + v * kSvmLanes);
                for (size_t p = 0; p < Problems; ++p) score[p][v] += tasks[p].weights[j] * values;
            }
        }
        for (size_t p = 0; p < Problems; ++p)
            for (size_t v = 0; v < kSvmTile; ++v) scores[p][first + v] = score[p][v];
    }
}

// Adds to the loss, and returns what the gradient is made of. `facts` are the weights of the rows, and then their codes.
ISRHT_INLINE BlockHinge hinge_of_block(const double* facts, const Vector<double>* score, const HingeTask& task) {
    const double *weights = facts, *codes = facts + kSvmBlock;
    const Vector<double> one = broadcast(1.0), zero{};
    BlockHinge found{};
    Vector<double> loss[kSvmSlots];
    for (size_t s = 0; s < kSvmSlots; ++s) loss[s] = load(task.loss + s * kSvmLanes);
    for (size_t v = 0; v < kSvmVectors; ++v) {
        const Vector<double> label = load(codes + v * kSvmLanes) == task.positive ? one : -one;
        const Vector<double> margin = one - label * score[v];
        const Vector<double> hinge = margin > zero ? margin : zero;
        const Vector<double> weighted = hinge * load(weights + v * kSvmLanes);
        loss[v % kSvmSlots] += hinge * weighted;
        found.pull[v] = label * weighted;
        found.active |= bits_of(weighted > zero) << (v * kSvmLanes);
    }
    for (size_t s = 0; s < kSvmSlots; ++s) store(task.loss + s * kSvmLanes, loss[s]);
    return found;
}

template <size_t Problems>
ISRHT_INLINE void add_pulls(const double* block, size_t width, const BlockHinge* found, const HingeTask* tasks) {
    for (size_t j = 0; j < width; ++j) {
        Vector<double> sum[Problems][kSvmSlots];
        for (size_t p = 0; p < Problems; ++p)
            for (size_t s = 0; s < kSvmSlots; ++s) sum[p][s] = load(tasks[p].pull + j * kSvmPartials + s * kSvmLanes);
        for (size_t v = 0; v < kSvmVectors; ++v) {
            const Vector<double> values = load(block + j * kSvmBlock + v * kSvmLanes);
            for (size_t p = 0; p < Problems; ++p) sum[p][v % kSvmSlots] += found[p].pull[v] * values;
        }
        for (size_t p = 0; p < Problems; ++p)
            for (size_t s = 0; s < kSvmSlots; ++s) store(tasks[p].pull + j * kSvmPartials + s * kSvmLanes, sum[p][s]);
    }
}

// Takes the sums of several problems over the blocks from `first` up to `end`.
template <size_t Problems>
ISRHT_INLINE void sum_blocks(const PackedRows& rows, size_t first, size_t end, const HingeTask* tasks) {
    for (size_t b = first; b < end; ++b) {
        const double* block = rows.block(b);
        Vector<double> scores[Problems][kSvmVectors];
        score_block<Problems>(block, rows.width, tasks, scores);
        BlockHinge found[Problems];
        uint32_t active = 0;
        for (size_t p = 0; p < Problems; ++p) {
            found[p] = hinge_of_block(block + rows.width * kSvmBlock, scores[p], tasks[p]);
            active |= tasks[p].active[b] = found[p].active;
        }
        if (active) add_pulls<Problems>(block, rows.width, found, tasks);
    }
}

// Takes the sums of all problems in one pass over the rows. All sums begin at zero.
inline void sum_hinges(const PackedRows& rows, const HingeTask* tasks, size_t count) {
    for (size_t p = 0; p < count; ++p) {
        for (size_t i = 0; i < kSvmPartials; ++i) tasks[p].loss[i] = 0;
        for (size_t i = 0; i < rows.width * kSvmPartials; ++i) tasks[p].pull[i] = 0;
    }
    const size_t at_once = 1 + kSvmCached / ((rows.width + 2) * kSvmBlock * sizeof(double));
    for (size_t first = 0; first < rows.blocks; first += at_once) {
        const size_t end = first + at_once < rows.blocks ? first + at_once : rows.blocks;
        size_t p = 0;
        for (; p + kSvmTogether <= count; p += kSvmTogether) sum_blocks<kSvmTogether>(rows, first, end, tasks + p);
        for (; p < count; ++p) sum_blocks<1>(rows, first, end, tasks + p);
    }
}

// Adds eight partial sums by halves.
ISRHT_INLINE double total_of_partials(const double* sums) {
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

ISRHT_INLINE size_t count_bits(uint32_t word) { return size_t(__builtin_popcount(word)); }

// Adds rows, times a factor each, to a Gram matrix, one row after another. Only the lower triangle is complete.
struct GramAdder {
    const PackedRows& rows;
    double* gram;
    double* gathered;  // (kGathered, stride)
    double factors[kGathered];
    size_t waiting = 0;

    // Adds the rows of the words `added`, and subtracts those of them that are not among `kept`.
    void add(const uint32_t* changed, const uint32_t* active) {
        const size_t stride = gram_stride(rows.width);
        for (size_t i = 0; i < kGathered * stride; ++i) gathered[i] = 0;
        for (size_t b = 0; b < rows.blocks; ++b)
            for (uint32_t left = changed[b]; left; left &= left - 1) {
                const size_t place = size_t(__builtin_ctz(left));
                gather(rows.block(b), place, (active[b] >> place) & 1);
                if (waiting == kGathered) flush();
            }
        flush();
    }

  private:
    ISRHT_INLINE void gather(const double* block, size_t place, bool enters) {
        double* row = gathered + waiting * gram_stride(rows.width);
        for (size_t j = 0; j < rows.width; ++j) row[j] = block[j * kSvmBlock + place];
        const double weight = block[rows.width * kSvmBlock + place];
        factors[waiting++] = enters ? weight : -weight;
    }

    void flush() {
        add_outer_products({gathered, factors, waiting, rows.width}, gram);
        waiting = 0;
    }
};

// Brings the Gram matrix of the rows `before` to that of the rows `now`, by those that entered or left if these are
// fewer, else from nothing. `words` has room for a word per block.
inline void update_gram(const PackedRows& rows, const uint32_t* before, const uint32_t* now, double* gram,
                        uint32_t* words, double* gathered) {
    size_t changed = 0, active = 0;
    for (size_t b = 0; b < rows.blocks; ++b) {
        words[b] = before[b] ^ now[b];
        changed += count_bits(words[b]);
        active += count_bits(now[b]);
    }
    GramAdder adder{rows, gram, gathered, {}, 0};
    if (changed <= active) {
        if (changed) adder.add(words, now);
        return;
    }
    for (size_t i = 0; i < rows.width * gram_stride(rows.width); ++i) gram[i] = 0;
    adder.add(now, now);
}

}  // namespace isrht::ISRHT_VARIANT
