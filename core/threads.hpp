// Threads for one call: they start with it and end with it, so a process may fork before and after.
//
// Pieces of the work are handed out one at a time, since cores of a shared machine are not equally fast.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace isrht {

// Calls work(from, to) for pieces that make up [0, count), of a multiple of `grain` items, in up to `workers` threads,
// the calling one among them. `work` must not throw.
template <class Work> void share(size_t count, size_t grain, size_t workers, const Work& work) {
    constexpr size_t kPiecesEach = 32;
    const size_t grains = (count + grain - 1) / grain, piece = std::max<size_t>(1, grains / (workers * kPiecesEach)) * grain;
    std::atomic<size_t> handed_out{0};
    const auto take_turns = [&] {
        for (size_t from; (from = handed_out.fetch_add(piece)) < count;) work(from, std::min(from + piece, count));
    };
    std::vector<std::thread> others;
    others.reserve(workers);
    try {
        while (others.size() + 1 < std::min(workers, grains)) others.emplace_back(take_turns);
    } catch (const std::system_error&) {
        // No more threads are to be had: those there are do the work.
    }
    take_turns();
    for (std::thread& other : others) other.join();
}

}  // namespace isrht
