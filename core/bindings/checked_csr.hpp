// Rows of a CSR matrix that Python holds on to while solvers pass over them again and again.
#pragma once

#include <variant>

#include "bindings/bindings.hpp"
#include "bindings/python_records.hpp"
#include "infra/dispatch.hpp"

namespace isrht {

// Rows of a CSR matrix whose indices have been checked, which takes as long as a late epoch: once for all epochs.
class CheckedCsr {
  public:
    template <class T, class Index>
    CheckedCsr(const CsrArrays<T, Index>& arrays, size_t width) : held_(Held<T, Index>{arrays, {}}) {
        nb::gil_scoped_release release;
        std::get<Held<T, Index>>(held_).rows = sparse_rows(arrays, width);
    }

    // Calls a function with the rows.
    template <class Function> void visit(Function function) const {
        std::visit([&](const auto& held) { function(held.rows); }, held_);
    }

  private:
    // The arrays are kept for the rows that point into them.
    template <class T, class Index> struct Held {
        CsrArrays<T, Index> arrays;
        SparseRows<T, Index> rows;
    };
    std::variant<Held<float, int32_t>, Held<float, int64_t>, Held<double, int32_t>, Held<double, int64_t>> held_;
};

template <class T, class Index> const DescentKernels<SparseRows<T, Index>>& kernels_for(SparseRows<T, Index>) {
    return sparse_kernels<T, Index>().descent;
}

}  // namespace isrht
