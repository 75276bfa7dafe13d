// The kernel that sums the dyadic autocorrelation of sparse rows, from which the sum of squares of every column of the
// rotated rows follows by one transform, without rotating a row.
//
// Each pair of entries of a row, of features k and l, adds to total k ^ l, which may lie anywhere. Totals beyond a
// cache are therefore worked through region by region, for a batch of rows at a time: the high bits of a feature name
// its region, and a pair adds to the region whose number is the exclusive or of those of its features. The entries of
// each row are sorted by region first.
#pragma once

#include "infra/vector.hpp"
#include "records.hpp"

namespace isrht::ISRHT_VARIANT {

// A region has so many totals, or more if there would be too many regions; a batch has about so many entries.
constexpr size_t kRegion = 32768, kMostRegions = 64, kBatchEntries = 65536;

template <class T, class Index> struct Autocorrelation {
    SparseRows<T, Index> rows;
    RowChoice chosen;
    const T* diagonal;
    double* totals;
    size_t regions;
    int region_bits;
    double* value;      // The entries of the batch, sorted by region within each row.
    uint32_t* feature;  // Their low bits.
    uint32_t* start;    // Where the entries of each region begin: (rows, regions + 1).

    void add_all() const {
        for (size_t first = 0; first < chosen.count;) {
            const size_t count = batch_rows(first);
            for (size_t i = 0, at = 0; i < count; at += entries(first + i), ++i)
                sort_row(first + i, at, start + i * (regions + 1));
            for (size_t i = 0; i < count; ++i) add_within(start + i * (regions + 1));
            for (size_t region = 1; region < regions; ++region)
                for (size_t i = 0; i < count; ++i) add_between(start + i * (regions + 1), region);
            first += count;
        }
    }

    // Returns how many entries chosen row c has.
    size_t entries(size_t c) const { return rows.end(size_t(chosen.index[c])) - rows.begin(size_t(chosen.index[c])); }

    // Returns how many of the chosen rows from `first` on fit the batch together; that is at least one.
    size_t batch_rows(size_t first) const {
        size_t count = 1;
        for (size_t sum = entries(first); first + count < chosen.count; ++count) {
            sum += entries(first + count);
            if (sum > kBatchEntries) break;
        }
        return count;
    }

  private:
    // Sorts the entries of chosen row c by region, from place `at` of the batch on, and keeps their order within a
    // region.
    void sort_row(size_t c, size_t at, uint32_t* starts) const {
        const size_t from = rows.begin(size_t(chosen.index[c])), to = from + entries(c);
        for (size_t g = 0; g <= regions; ++g) starts[g] = 0;
        for (size_t p = from; p < to; ++p) starts[(size_t(rows.indices[p]) >> region_bits) + 1] += 1;
        starts[0] = uint32_t(at);
        for (size_t g = 0; g < regions; ++g) starts[g + 1] += starts[g];
        for (size_t p = from; p < to; ++p) {
            const size_t k = size_t(rows.indices[p]), place = starts[k >> region_bits]++;
            feature[place] = uint32_t(k & ((size_t(1) << region_bits) - 1));
            value[place] = double(rows.data[p]) * double(diagonal[k]);
        }
        for (size_t g = regions; g > 0; --g) starts[g] = starts[g - 1];
        starts[0] = uint32_t(at);
    }

    // Adds the pairs of entries of the same region, and each entry with itself.
    void add_within(const uint32_t* starts) const {
        for (size_t g = 0; g < regions; ++g)
            for (size_t p = starts[g]; p < starts[g + 1]; ++p) {
                totals[0] += value[p] * value[p];
                add_pairs(p, starts[g], p, totals);
            }
    }

    // Adds the pairs of entries whose regions differ by `region`.
    void add_between(const uint32_t* starts, size_t region) const {
        for (size_t g = 0; g < regions; ++g) {
            const size_t other = g ^ region;
            if (other < g) continue;
            for (size_t p = starts[g]; p < starts[g + 1]; ++p)
                add_pairs(p, starts[other], starts[other + 1], totals + (region << region_bits));
        }
    }

    // Adds the pairs of entry p with those from `from` to `to`. Each pair counts twice, as (k, l) and as (l, k).
    ISRHT_INLINE void add_pairs(size_t p, size_t from, size_t to, double* into) const {
        const double twice = 2 * value[p];
        const uint32_t k = feature[p];
        for (size_t q = from; q < to; ++q) into[k ^ feature[q]] += twice * value[q];
    }
};

template <class T, class Index>
void add_autocorrelation(SparseRows<T, Index> rows, RowChoice chosen, const T* diagonal, size_t length,
                         double* totals) {
    size_t regions = length / kRegion;
    regions = regions < 1 ? 1 : regions > kMostRegions ? kMostRegions : regions;
    Autocorrelation<T, Index> work{rows,    chosen,  diagonal, totals, regions, int(__builtin_ctzll(length / regions)),
                                   nullptr, nullptr, nullptr};
    size_t most_entries = kBatchEntries, most_rows = 1;
    for (size_t c = 0; c < chosen.count; ++c)
        most_entries = work.entries(c) > most_entries ? work.entries(c) : most_entries;
    for (size_t first = 0; first < chosen.count;) {
        const size_t count = work.batch_rows(first);
        most_rows = count > most_rows ? count : most_rows;
        first += count;
    }
    Scratch values(most_entries * sizeof(double)), features(most_entries * sizeof(uint32_t));
    Scratch starts(most_rows * (regions + 1) * sizeof(uint32_t));
    work.value = static_cast<double*>(values.data);
    work.feature = static_cast<uint32_t*>(features.data);
    work.start = static_cast<uint32_t*>(starts.data);
    work.add_all();
}

}  // namespace isrht::ISRHT_VARIANT
