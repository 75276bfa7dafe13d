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

#include "infra/vector.hpp"
#include "kernels.hpp"
#include "linear/entries.hpp"
#include "linear/gram.hpp"

namespace isrht::ISRHT_VARIANT {

// The partial sums of a product, to which the entries of a row are added in turn.
constexpr size_t kDescentPartials = 4;

// So many floats, in as many vectors as it takes.
template <size_t Count> struct LaneVector {
    using Real = float;
    static constexpr size_t kBytes = Count * sizeof(float) < kVectorBytes ? Count * sizeof(float) : kVectorBytes;
    static constexpr size_t kParts = Count * sizeof(float) / kBytes, kWidth = kBytes / sizeof(float);
    typedef float Part __attribute__((vector_size(kBytes)));
    typedef float Unaligned __attribute__((vector_size(kBytes), aligned(alignof(float)), may_alias));
    Part part[kParts];

    ISRHT_INLINE static LaneVector zero() {
        LaneVector none;
        for (size_t p = 0; p < kParts; ++p) none.part[p] = Part{};
        return none;
    }
    ISRHT_INLINE static LaneVector at(const float* from) {
        LaneVector lanes;
        for (size_t p = 0; p < kParts; ++p) lanes.part[p] = *reinterpret_cast<const Unaligned*>(from + p * kWidth);
        return lanes;
    }
    ISRHT_INLINE void store(float* to) const {
        for (size_t p = 0; p < kParts; ++p) *reinterpret_cast<Unaligned*>(to + p * kWidth) = part[p];
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
    double value;

    ISRHT_INLINE static LaneVector zero() { return {0.0}; }
    ISRHT_INLINE static LaneVector at(const double* from) { return {*from}; }
    ISRHT_INLINE void store(double* to) const { *to = value; }
    ISRHT_INLINE void add_product(double factor, const LaneVector& other) { value += factor * other.value; }
    ISRHT_INLINE void add(const LaneVector& other) { value += other.value; }
};

template <size_t Count> using LaneReal = typename LaneVector<Count>::Real;

// Returns the products of a row and the weights of each lane.
template <size_t Count, class Entries>
ISRHT_INLINE LaneVector<Count> product_of(Entries row, const LaneReal<Count>* weights) {
    using Lanes = LaneVector<Count>;
    Lanes sum[kDescentPartials] = {Lanes::zero(), Lanes::zero(), Lanes::zero(), Lanes::zero()};
    size_t at = 0;
    for (; at + kDescentPartials <= row.count; at += kDescentPartials)
        for (size_t s = 0; s < kDescentPartials; ++s)
            sum[s].add_product(LaneReal<Count>(row.value(at + s)), Lanes::at(weights + row.feature(at + s) * Count));
    for (size_t s = 0; at + s < row.count; ++s)
        sum[s].add_product(LaneReal<Count>(row.value(at + s)), Lanes::at(weights + row.feature(at + s) * Count));
    sum[0].add(sum[2]);
    sum[1].add(sum[3]);
    sum[0].add(sum[1]);
    return sum[0];
}

// Adds a row times one factor per lane to the weights, and the factors to the intercepts if there are any.
template <size_t Count, class Entries>
ISRHT_INLINE void add_row(Entries row, const LaneReal<Count>* factors, LaneReal<Count>* weights,
                          LaneReal<Count>* intercept) {
    using Lanes = LaneVector<Count>;
    const Lanes factor = Lanes::at(factors);
    for (size_t at = 0; at < row.count; ++at) {
        typename Lanes::Real* to = weights + row.feature(at) * Count;
        Lanes lanes = Lanes::at(to);
        lanes.add_product(typename Lanes::Real(row.value(at)), factor);
        lanes.store(to);
    }
    if (intercept)
        for (size_t l = 0; l < Count; ++l) intercept[l] += factors[l];
}

// Takes the step of one row in all lanes that are open.
template <size_t Count, class Entries, class Real = LaneReal<Count>>
ISRHT_INLINE void step_of_row(Entries row, size_t number, const DualProblems<Real>& problems,
                              const DualState<Real>& state, const Epoch<Real>& epoch) {
    const unsigned closed = unsigned(state.closed[number]) | epoch.finished;
    if (closed == (1u << Count) - 1) return;
    Real products[Count], next[Count], steps[Count], gains[Count], changes[Count];
    typename BitsOf<Real>::Type open[Count], leaves[Count];
    product_of<Count>(row, state.weights).store(products);
    Real* alpha = state.alpha + number * Count;
    const Real *label = problems.labels + number * Count, *ridge = problems.ridge + number * Count;
    const Real norm = problems.norms[number], stretch = Real(epoch.stretch);
    for (size_t l = 0; l < Count; ++l) open[l] = !(closed >> l & 1);
    if (state.intercept)
        for (size_t l = 0; l < Count; ++l) products[l] += state.intercept[l];
    // Nothing but values of one width, so that compilers make vectors of it.
    for (size_t l = 0; l < Count; ++l) {
        const Real slope = label[l] * products[l] - Real(1) + ridge[l] * alpha[l], curvature = norm + ridge[l];
        const Real to = alpha[l] - stretch * (slope / curvature), positive = to > 0 ? to : Real(0);
        const Real change = open[l] ? positive - alpha[l] : Real(0);
        const Real rising = alpha[l] > 0 ? slope : Real(0), size = slope < 0 ? -slope : rising;
        const Real most = epoch.violation[l], larger = size > most ? size : most;
        leaves[l] = (open[l] & (alpha[l] == 0)) & (slope > epoch.threshold[l]);
        epoch.violation[l] = open[l] ? larger : most;
        next[l] = open[l] ? positive : alpha[l];
        gains[l] = -change * (slope + Real(0.5) * curvature * change);
        steps[l] = change * label[l];
        changes[l] = change;
    }
    unsigned leaving = 0;
    bool moved = false;
    for (size_t l = 0; l < Count; ++l) {
        leaving |= unsigned(leaves[l]) << l;
        moved |= changes[l] != 0;
    }
    state.closed[number] = uint8_t(state.closed[number] | leaving);
    if (!moved) return;
    for (size_t l = 0; l < Count; ++l) {
        alpha[l] = next[l];
        epoch.gain[l] += double(gains[l]);
    }
    add_row<Count>(row, steps, state.weights, state.intercept);
}

template <size_t Count, class Rows, class Real>
void descend_lanes(Rows rows, const DualProblems<Real>& problems, const DualState<Real>& state,
                   const Epoch<Real>& epoch) {
    constexpr unsigned everyone = (1u << Count) - 1;
    for (size_t at = 0; at < epoch.order.count; ++at) {
        const size_t number = size_t(epoch.order.index[at]);
        if (at + 1 < epoch.order.count) {  // The order is random, so that no processor could guess the next row.
            const size_t next = size_t(epoch.order.index[at + 1]);
            if ((unsigned(state.closed[next]) | epoch.finished) != everyone) entries_of(rows, next).fetch();
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
        if (any) add_row<Count>(entries_of(rows, number), factor, weights, intercept);
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
constexpr DescentKernels<Rows> descent_table{descend_one<Rows>, descend_some<Rows>, add_scaled_one<Rows>,
                                             add_scaled_some<Rows>, add_gram_product<Rows>};

}  // namespace isrht::ISRHT_VARIANT
