// The kernels of dual coordinate descent: several linear SVMs on the same rows, one in each lane of a vector.
//
// The dual of the squared hinge has one variable alpha >= 0 per row, and the weights are the sum of the rows times
// alpha times label. One step makes one alpha the best that it can be while the others stay: a product of the row and
// the weights, and a sum. The folds of a cross-validation, or the classes of a problem, share the rows, so a step serves
// all of them at once: the weights of a feature in all lanes lie side by side, and a row is read once.
//
// No lane looks at another one: which problems share a vector never changes a bit of any of them. Lanes are floats,
// which are enough to come near the optimum. A problem that is alone has doubles, which come as near as is wanted.
#pragma once

#include "infra/clean.hpp"
#include "infra/vector.hpp"
#include "kernels.hpp"
#include "linear/entries.hpp"
#include "linear/gram.hpp"

namespace isrht::ISRHT_VARIANT {

// The partial sums of a product, to which the entries of a row are added in turn.
constexpr size_t kDescentPartials = 4;

// The types of some lanes of floats. They are written out, because GCC forgets within a template that a type is a vector
// whose length depends on the template.
template <size_t Bytes> struct LaneTypes;
template <> struct LaneTypes<16> {
    typedef float Part __attribute__((vector_size(16)));
    typedef float Unaligned __attribute__((vector_size(16), aligned(alignof(float)), may_alias));
    typedef int32_t Mask __attribute__((vector_size(16)));
    typedef double Doubles __attribute__((vector_size(32), aligned(alignof(double)), may_alias));
};
template <> struct LaneTypes<32> {
    typedef float Part __attribute__((vector_size(32)));
    typedef float Unaligned __attribute__((vector_size(32), aligned(alignof(float)), may_alias));
    typedef int32_t Mask __attribute__((vector_size(32)));
    typedef double Doubles __attribute__((vector_size(64), aligned(alignof(double)), may_alias));
};

// So many floats, in as many vectors as it takes: its parts.
template <size_t Count> struct LaneVector {
    using Real = float;
    static constexpr size_t kBytes = Count * sizeof(float) < kVectorBytes ? Count * sizeof(float) : kVectorBytes;
    static constexpr size_t kParts = Count * sizeof(float) / kBytes, kWidth = kBytes / sizeof(float);
    using Part = typename LaneTypes<kBytes>::Part;
    using Unaligned = typename LaneTypes<kBytes>::Unaligned;
    using Mask = typename LaneTypes<kBytes>::Mask;
    using Doubles = typename LaneTypes<kBytes>::Doubles;
    Part part[kParts];

    ISRHT_INLINE static Part load(const float* from) { return *reinterpret_cast<const Unaligned*>(from); }
    ISRHT_INLINE static void store(float* to, Part values) { *reinterpret_cast<Unaligned*>(to) = values; }
    ISRHT_INLINE static void add_to(double* sums, Part values) {
        *reinterpret_cast<Doubles*>(sums) += __builtin_convertvector(values, Doubles);
    }
    // Returns the lanes whose bits are not set.
    ISRHT_INLINE static Mask unset(unsigned bits) {
        Mask own;
        for (size_t l = 0; l < kWidth; ++l) own[l] = 1 << l;
        return ((Mask{} + int32_t(bits)) & own) == 0;
    }
    ISRHT_INLINE static unsigned bits_of(Mask lanes) {
#ifdef __AVX2__
        if constexpr (kBytes == 32) return unsigned(_mm256_movemask_ps((__m256)lanes));
        else return unsigned(_mm_movemask_ps((__m128)lanes));
#else
        unsigned bits = 0;
        for (size_t l = 0; l < kWidth; ++l) bits |= unsigned(lanes[l] & 1) << l;
        return bits;
#endif
    }

    ISRHT_INLINE static LaneVector zero() {
        LaneVector none;
        for (size_t p = 0; p < kParts; ++p) none.part[p] = Part{};
        return none;
    }
    ISRHT_INLINE static LaneVector at(const float* from) {
        LaneVector lanes;
        for (size_t p = 0; p < kParts; ++p) lanes.part[p] = load(from + p * kWidth);
        return lanes;
    }
    ISRHT_INLINE void store(float* to) const {
        for (size_t p = 0; p < kParts; ++p) store(to + p * kWidth, part[p]);
    }
    ISRHT_INLINE void add_product(float factor, const LaneVector& other) {
        for (size_t p = 0; p < kParts; ++p) part[p] += factor * other.part[p];
    }
    ISRHT_INLINE void add(const LaneVector& other) {
        for (size_t p = 0; p < kParts; ++p) part[p] += other.part[p];
    }
};

// One double.
template <> struct LaneVector<1> {
    using Real = double;
    using Part = double;
    using Mask = bool;
    static constexpr size_t kParts = 1, kWidth = 1;
    double part[1];

    ISRHT_INLINE static double load(const double* from) { return *from; }
    ISRHT_INLINE static void store(double* to, double value) { *to = value; }
    ISRHT_INLINE static void add_to(double* sum, double value) { *sum += value; }
    ISRHT_INLINE static bool unset(unsigned bits) { return !(bits & 1); }
    ISRHT_INLINE static unsigned bits_of(bool lane) { return lane; }

    ISRHT_INLINE static LaneVector zero() { return {{0.0}}; }
    ISRHT_INLINE static LaneVector at(const double* from) { return {{*from}}; }
    ISRHT_INLINE void store(double* to) const { *to = part[0]; }
    ISRHT_INLINE void add_product(double factor, const LaneVector& other) { part[0] += factor * other.part[0]; }
    ISRHT_INLINE void add(const LaneVector& other) { part[0] += other.part[0]; }
};

template <size_t Count> using LaneReal = typename LaneVector<Count>::Real;

// Returns the products of a row and the weights of each lane.
template <size_t Count, class Entries>
ISRHT_INLINE LaneVector<Count> product_of(Entries row, const LaneReal<Count>* weights) {
    using Lanes = LaneVector<Count>;
    Lanes sum[kDescentPartials] = {Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero()};
    const auto add_entry = [&](size_t s, size_t at) {
        sum[s].add_product(LaneReal<Count>(row.value(at)), Lanes::at(weights + row.feature(at) * Count));
    };
    size_t at = 0;
    for (; at + kDescentPartials <= row.count; at += kDescentPartials)
        for (size_t s = 0; s < kDescentPartials; ++s) add_entry(s, at + s);
    // No loop, which would keep the sums in memory.
    if (at < row.count) add_entry(0, at);
    if (at + 1 < row.count) add_entry(1, at + 1);
    if (at + 2 < row.count) add_entry(2, at + 2);
    sum[0].add(sum[2]);
    sum[1].add(sum[3]);
    sum[0].add(sum[1]);
    return sum[0];
}

// Adds a row times one factor per lane to the weights, and the factors to the intercepts if there are any.
template <size_t Count, class Entries>
ISRHT_INLINE void add_row(Entries row, const LaneVector<Count>& factors, LaneReal<Count>* weights,
                          LaneReal<Count>* intercept) {
    const auto add_entry = [&](size_t at) {
        LaneReal<Count>* to = weights + row.feature(at) * Count;
        LaneVector<Count> lanes = LaneVector<Count>::at(to);
        lanes.add_product(LaneReal<Count>(row.value(at)), factors);
        lanes.store(to);
    };
    size_t at = 0;
    for (; at + kDescentPartials <= row.count; at += kDescentPartials)
        for (size_t s = 0; s < kDescentPartials; ++s) add_entry(at + s);
    for (; at < row.count; ++at) add_entry(at);
    if (!intercept) return;
    LaneVector<Count> sums = LaneVector<Count>::at(intercept);
    sums.add(factors);
    sums.store(intercept);
}

// Takes the step of one row in all lanes that are open. It is written by vectors: compilers that are given a loop over
// lanes write most of it by single values, which takes longer than the product of a row of eighty entries.
template <size_t Count, class Entries, class Real = LaneReal<Count>>
ISRHT_INLINE void step_of_row(Entries row, size_t number, const DualProblems<Real>& problems,
                              const DualState<Real>& state, const Epoch<Real>& epoch) {
    using Lanes = LaneVector<Count>;
    using Part = typename Lanes::Part;
    const unsigned closed = unsigned(state.closed[number]) | epoch.finished;
    if (closed == (1u << Count) - 1) return;
    Lanes products = product_of<Count>(row, state.weights), next, steps, gains;
    if (state.intercept) products.add(Lanes::at(state.intercept));
    const Real norm = problems.norms[number], stretch = Real(epoch.stretch);
    const Part zero{};
    unsigned leaving = 0, moving = 0;
    for (size_t p = 0; p < Lanes::kParts; ++p) {
        const size_t lane = p * Lanes::kWidth, at = number * Count + lane;
        const Part alpha = Lanes::load(state.alpha + at), label = Lanes::load(problems.labels + at);
        const Part ridge = Lanes::load(problems.ridge + at), most = Lanes::load(epoch.violation + lane);
        const typename Lanes::Mask open = Lanes::unset(closed >> lane);
        const Part slope = label * products.part[p] - Real(1) + ridge * alpha, curvature = norm + ridge;
        const Part to = alpha - stretch * (slope / curvature), positive = to > zero ? to : zero;
        const Part change = open ? positive - alpha : zero;
        const Part rising = alpha > zero ? slope : zero, size = slope < zero ? -slope : rising;
        const Part larger = size > most ? size : most;
        Lanes::store(epoch.violation + lane, open ? larger : most);
        leaving |= Lanes::bits_of(open & (alpha == zero) & (slope > Lanes::load(epoch.threshold + lane))) << lane;
        moving |= Lanes::bits_of(change != zero) << lane;
        next.part[p] = open ? positive : alpha;
        gains.part[p] = -change * (slope + Real(0.5) * curvature * change);
        steps.part[p] = change * label;
    }
    state.closed[number] = uint8_t(state.closed[number] | leaving);
    if (!moving) return;
    next.store(state.alpha + number * Count);
    for (size_t p = 0; p < Lanes::kParts; ++p) Lanes::add_to(epoch.gain + p * Lanes::kWidth, gains.part[p]);
    add_row<Count>(row, steps, state.weights, state.intercept);
}

// The order is random, so that no processor could guess which rows come next: they are asked for so many steps ahead.
constexpr size_t kRowsAhead = 3;

template <size_t Count, class Rows, class Real>
ISRHT_INLINE void fetch_row(Rows rows, size_t number, const DualProblems<Real>& problems,
                            const DualState<Real>& state) {
    entries_of(rows, number).fetch();
    for (const Real* lanes : {const_cast<const Real*>(state.alpha), problems.labels, problems.ridge})
        __builtin_prefetch(lanes + number * Count, 0, 3);
}

template <size_t Count, class Rows, class Real>
void descend_lanes(Rows rows, const DualProblems<Real>& problems, const DualState<Real>& state,
                   const Epoch<Real>& epoch) {
    constexpr unsigned everyone = (1u << Count) - 1;
    for (size_t at = 0; at < epoch.order.count; ++at) {
        const size_t number = size_t(epoch.order.index[at]);
        if (at + kRowsAhead < epoch.order.count) {
            const size_t later = size_t(epoch.order.index[at + kRowsAhead]);
            if ((unsigned(state.closed[later]) | epoch.finished) != everyone)
                fetch_row<Count>(rows, later, problems, state);
        }
        step_of_row<Count>(entries_of(rows, number), number, problems, state, epoch);
    }
}

template <class Rows>
void descend_one(Rows rows, const DualProblems<double>& problems, const DualState<double>& state,
                 const Epoch<double>& epoch) {
    descend_lanes<1>(rows, problems, state, epoch);
}

template <class Rows>
void descend_some(Rows rows, size_t lanes, const DualProblems<float>& problems, const DualState<float>& state,
                  const Epoch<float>& epoch) {
    if (lanes == 4) return descend_lanes<4>(rows, problems, state, epoch);
    descend_lanes<8>(rows, problems, state, epoch);
}

template <size_t Count, class Rows, class Real = LaneReal<Count>>
void add_lanes(Rows rows, const Real* factors, Real* weights, Real* intercept) {
    for (size_t number = 0; number < rows.count; ++number) {
        const Real* factor = factors + number * Count;
        bool any = false;
        for (size_t l = 0; l < Count; ++l) any |= factor[l] != 0;
        if (any) add_row<Count>(entries_of(rows, number), LaneVector<Count>::at(factor), weights, intercept);
    }
}

template <class Rows> void add_scaled_one(Rows rows, const double* factors, double* weights, double* intercept) {
    add_lanes<1>(rows, factors, weights, intercept);
}

template <class Rows>
void add_scaled_some(Rows rows, size_t lanes, const float* factors, float* weights, float* intercept) {
    if (lanes == 4) return add_lanes<4>(rows, factors, weights, intercept);
    add_lanes<8>(rows, factors, weights, intercept);
}

template <class Rows>
constexpr DescentKernels<Rows> descent_table{clean<descend_one<Rows>>, clean<descend_some<Rows>>,
                                             clean<add_scaled_one<Rows>>, clean<add_scaled_some<Rows>>,
                                             clean<add_gram_product<Rows>>};

}  // namespace isrht::ISRHT_VARIANT
