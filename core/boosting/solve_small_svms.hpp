// The kernels that train squared-hinge SVMs on a handful of columns, many at once, from where they last stood.
//
// The objective |w|^2 / 2 + cost * sum of the weighted squared hinge, where w includes the intercept, is piecewise
// quadratic: once a full Newton step leaves the set of active rows as it was, the step ended exactly at the optimum;
// once it changes few of them, it ended near it. Then it may be found by the Gram matrix of all rows, which is about
// that of the active ones if these are counted. All problems share every pass over the rows, and only rows that enter or
// leave that set change a Gram matrix.
#pragma once

#include "boosting/cholesky.hpp"
#include "boosting/hinge_sums.hpp"

namespace isrht::ISRHT_VARIANT {

constexpr int kMostNewtonSteps = 60;
// A step that promises less than this part of the objective is rounding. An objective that is larger by less than this
// part of it counts as equal: the last step, which is exact, must not be halved for rounding.
constexpr double kSmallestDecrease = 1e-15, kSvmRounding = 1e-15;
constexpr double kShortestStep = 1e-10, kSufficient = 1e-4;

// Memory for one problem. What is found at a trial point is kept apart until the step is taken.
struct SvmState {
    double *weights, *trial, *step;  // (width)
    double *pull, *trial_pull;       // (width, kSvmPartials)
    double trial_loss[kSvmPartials];
    double *gram, *gradient;                    // (width, stride), (width)
    uint32_t *active, *trial_active, *of_gram;  // (blocks)
    double cost, positive, loss, promise, length, factor;
    bool going;
};

struct SmallNewton {
    PackedRows rows;
    SvmState* states;
    HingeTask* tasks;
    size_t count, labels;
    double *hessian, *gathered;
    uint32_t* words;
    double tolerance;
    double* shared;  // the Gram matrix of all rows, or null if every problem has its own

    void solve() {
        sum_at_trials();
        for (size_t p = 0; p < count; ++p) take(states[p]);
        if (shared) gram_of_all_rows();
        else first_grams();
        for (int step = 0; step < kMostNewtonSteps; ++step) {
            if (!find_steps()) return;
            while (sum_at_trials()) judge_trials();
            for (size_t p = 0; p < count; ++p)
                if (states[p].going && !shared) follow_gram(states[p]);
        }
    }

  private:
    static constexpr double kWaiting = 0, kNoFactor = -1;

    ISRHT_INLINE double objective(const SvmState& state, const double* weights, double loss) const {
        double square = 0;
        for (size_t j = 0; j < rows.width; ++j) square += weights[j] * weights[j];
        return 0.5 * square + state.cost * loss;
    }

    // Takes the sums of all problems that have a trial point. Returns whether there were any.
    bool sum_at_trials() {
        size_t waiting = 0;
        for (size_t p = 0; p < count; ++p) {
            SvmState& state = states[p];
            if (state.length == kWaiting) continue;
            tasks[waiting++] = {state.trial, state.positive, state.trial_loss, state.trial_pull, state.trial_active};
        }
        sum_hinges(rows, tasks, waiting);
        return waiting > 0;
    }

    // Moves to the trial point.
    void take(SvmState& state) {
        swap(state.weights, state.trial);
        swap(state.pull, state.trial_pull);
        swap(state.active, state.trial_active);
        state.loss = total_of_partials(state.trial_loss);
        state.length = kWaiting;
    }

    template <class Pointer> ISRHT_INLINE static void swap(Pointer& left, Pointer& right) {
        const Pointer kept = left;
        left = right;
        right = kept;
    }

    // The Gram matrix of each problem begins as that of its neighbour, whose active rows are about the same.
    void first_grams() {
        const size_t size = rows.width * gram_stride(rows.width);
        for (size_t p = 0; p < count; ++p) {
            SvmState& state = states[p];
            for (size_t i = 0; i < size; ++i) state.gram[i] = p < labels ? 0 : states[p - labels].gram[i];
            for (size_t b = 0; b < rows.blocks; ++b) state.of_gram[b] = p < labels ? 0 : states[p - labels].active[b];
            follow_gram(state);
        }
    }

    void gram_of_all_rows() {
        for (size_t i = 0; i < rows.width * gram_stride(rows.width); ++i) shared[i] = 0;
        GramAdder adder{rows, shared, gathered, {}, 0};
        for (size_t b = 0; b < rows.blocks; ++b) words[b] = ~uint32_t(0);
        adder.add(words, words);
    }

    // Returns how many rows are active.
    size_t count_active(const uint32_t* active) const {
        size_t count = 0;
        for (size_t b = 0; b < rows.blocks; ++b) count += count_bits(active[b]);
        return count;
    }

    void follow_gram(SvmState& state) {
        update_gram(rows, state.of_gram, state.active, state.gram, words, gathered);
        for (size_t b = 0; b < rows.blocks; ++b) state.of_gram[b] = state.active[b];
    }

    // Finds the steps of all problems that are going on. Returns whether any of them promises anything.
    bool find_steps() {
        bool moving = false;
        if (!shared) {
            for (size_t p = 0; p < count; ++p)
                if (states[p].going) {
                    set_hessian(states[p].gram, 2 * states[p].cost);
                    moving |= find_step(states[p]);
                }
            return moving;
        }
        for (size_t p = 0; p < count; ++p) states[p].factor = states[p].going ? shared_factor(states[p]) : kNoFactor;
        for (size_t p = 0; p < count; ++p)
            if (states[p].factor != kNoFactor) moving |= find_steps_like(p);
        return moving;
    }

    // Finds the steps of problem p and of all behind it that have the same Hessian.
    bool find_steps_like(size_t p) {
        const double factor = states[p].factor;
        bool moving = false;
        set_hessian(shared, factor);
        for (; p < count; ++p)
            if (states[p].factor == factor) {
                moving |= find_step(states[p]);
                states[p].factor = kNoFactor;
            }
        return moving;
    }

    // Returns by what the Gram matrix of all rows is to be multiplied for a problem: by twice its cost times the share
    // of its rows that are active, rounded up to a power of two or three quarters of one. So many problems have the same
    // Hessian, and none has one that is too small.
    double shared_factor(const SvmState& state) const {
        const double share = rows.count ? double(count_active(state.active)) / double(rows.count) : 0;
        int exponent;
        const double part = std::frexp(2 * state.cost * share, &exponent);
        return part == 0 ? 0 : std::ldexp(part <= 0.75 ? 0.75 : 1.0, exponent);
    }

    // Sets the Hessian to the identity and a factor times a Gram matrix, and factorises it.
    void set_hessian(const double* gram, double factor) {
        const size_t width = rows.width, stride = gram_stride(width);
        for (size_t j = 0; j < width; ++j) {
            for (size_t k = 0; k < j; ++k) hessian[j * stride + k] = factor * gram[j * stride + k];
            hessian[j * stride + j] = factor * gram[j * stride + j] + 1;
        }
        cholesky(hessian, width, stride);
    }

    // Finds the Newton step, and sets the trial point to its end. Returns whether it promises anything.
    bool find_step(SvmState& state) {
        const size_t width = rows.width;
        const double twice = 2 * state.cost;
        for (size_t j = 0; j < width; ++j)
            state.step[j] = state.gradient[j] =
                state.weights[j] - twice * total_of_partials(state.pull + j * kSvmPartials);
        solve_by_cholesky(hessian, width, gram_stride(width), state.step);
        state.promise = 0;
        for (size_t j = 0; j < width; ++j) state.promise += state.gradient[j] * state.step[j];
        state.going = state.promise > kSmallestDecrease * objective(state, state.weights, state.loss);
        if (state.going) set_trial(state, 1);
        return state.going;
    }

    void set_trial(SvmState& state, double length) {
        state.length = length;
        for (size_t j = 0; j < rows.width; ++j) state.trial[j] = state.weights[j] - length * state.step[j];
    }

    // Takes the steps after which the objective has fallen enough, and halves the others until they are too short.
    void judge_trials() {
        for (size_t p = 0; p < count; ++p) {
            SvmState& state = states[p];
            if (state.length == kWaiting) continue;
            const double length = state.length, before = objective(state, state.weights, state.loss);
            const double after = objective(state, state.trial, total_of_partials(state.trial_loss));
            if (after <= (1 + kSvmRounding) * before - kSufficient * length * state.promise) {
                state.going = length < 1 || is_far(state);
                take(state);
            } else if (length / 2 > kShortestStep) {
                set_trial(state, length / 2);
            } else {
                state.length = kWaiting;
                state.going = false;
            }
        }
    }

    // Returns whether the trial point has other active rows, more of them than are tolerated.
    bool is_far(const SvmState& state) const {
        size_t changed = 0;
        for (size_t b = 0; b < rows.blocks; ++b) changed += count_bits(state.active[b] ^ state.trial_active[b]);
        return double(changed) > tolerance * double(count_active(state.trial_active));
    }
};

// Hands out consecutive pieces of memory, each at the beginning of a cache line.
struct Pieces {
    char* next;

    template <class T> T* take(size_t count) {
        T* piece = reinterpret_cast<T*>(next);
        next += bytes<T>(count);
        return piece;
    }
    template <class T> static size_t bytes(size_t count) {
        return (count * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
    }
};

inline size_t bytes_of_state(size_t width, size_t blocks, bool own_gram) {
    const size_t size = own_gram ? width * gram_stride(width) : 0;
    return 4 * Pieces::bytes<double>(width) + 2 * Pieces::bytes<double>(width * kSvmPartials) +
           Pieces::bytes<double>(size) + 3 * Pieces::bytes<uint32_t>(blocks);
}

inline SvmState new_state(Pieces& pieces, size_t width, size_t blocks, bool own_gram) {
    SvmState state{};
    for (double** row : {&state.weights, &state.trial, &state.step, &state.gradient}) *row = pieces.take<double>(width);
    for (double** sums : {&state.pull, &state.trial_pull}) *sums = pieces.take<double>(width * kSvmPartials);
    state.gram = pieces.take<double>(own_gram ? width * gram_stride(width) : 0);
    for (uint32_t** rows : {&state.active, &state.trial_active, &state.of_gram}) *rows = pieces.take<uint32_t>(blocks);
    return state;
}

// Replaces weights (problems, width + 1), whose intercepts come last, by those at the optimum, and sets loss (problems).
inline void solve_small_svms(const LearnedRows& given, const SvmProblems& problems, double* weights, double* loss) {
    const size_t counted = counted_rows(given), width = given.width + 1, stride = gram_stride(width);
    const size_t blocks = (counted + kSvmBlock - 1) / kSvmBlock, count = problems.count;
    Scratch values((blocks * (width + 2) * kSvmBlock + 1) * sizeof(double));
    const bool own_grams = problems.tolerance == 0;
    Scratch memory(count * bytes_of_state(width, blocks, own_grams) + Pieces::bytes<SvmState>(count) +
                   Pieces::bytes<HingeTask>(count) + 2 * Pieces::bytes<double>(width * stride) +
                   Pieces::bytes<double>(kGathered * stride) + Pieces::bytes<uint32_t>(blocks) + kCacheLine);
    Pieces pieces{static_cast<char*>(memory.data)};
    SmallNewton newton{packed_rows(given, counted, static_cast<double*>(values.data)),
                       pieces.take<SvmState>(count),
                       pieces.take<HingeTask>(count),
                       count,
                       problems.labels,
                       pieces.take<double>(width * stride),
                       pieces.take<double>(kGathered * stride),
                       pieces.take<uint32_t>(blocks),
                       problems.tolerance,
                       own_grams ? nullptr : pieces.take<double>(width * stride)};
    for (size_t p = 0; p < count; ++p) {
        SvmState& state = newton.states[p] = new_state(pieces, width, blocks, own_grams);
        state.cost = problems.cost[p];
        state.positive = double(problems.positive[p]);
        state.length = 1;
        state.going = true;
        for (size_t j = 0; j < width; ++j) state.trial[j] = weights[p * width + j];
    }
    newton.solve();
    for (size_t p = 0; p < count; ++p) {
        for (size_t j = 0; j < width; ++j) weights[p * width + j] = newton.states[p].weights[j];
        loss[p] = newton.states[p].loss;
    }
}

}  // namespace isrht::ISRHT_VARIANT
