// Threads for one call: they start with it and end with it, so a process may fork before and after.
//
// Each thread has a range of the work and takes pieces of it one after another: they follow each other in memory, so what
// one asks for ahead the next one finds. Cores of a shared machine are not equally fast, so a thread that is done goes on
// with pieces of the other ranges.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace isrht {

struct alignas(64) Range {  // a cache line of its own
    std::atomic<size_t> next{0};
    size_t end = 0;
};

// Calls work(from, to) for pieces that make up [0, count), of a multiple of `grain` items, in up to `workers` threads,
// the calling one among them. `work` must not throw.
template <class Work> void share(size_t count, size_t grain, size_t workers, const Work& work) {
    constexpr size_t kPiecesEach = 32, kPatience = 1000;
    const size_t grains = (count + grain - 1) / grain;
    workers = std::max<size_t>(1, std::min(workers, grains));
    const size_t piece = std::max<size_t>(1, grains / (workers * kPiecesEach)) * grain;
    std::vector<Range> ranges(workers);
    for (size_t k = 0; k < workers; ++k) {
        ranges[k].next = grains * k / workers * grain;
        ranges[k].end = std::min(grains * (k + 1) / workers * grain, count);
    }
    std::atomic<size_t> done{0};
    const auto take_turns = [&](size_t own) {
        for (size_t k = 0; k < workers; ++k) {
            Range& range = ranges[(own + k) % workers];
            for (size_t from; (from = range.next.fetch_add(piece)) < range.end;) work(from, std::min(from + piece, range.end));
        }
        done.fetch_add(1);
    };
    std::vector<std::thread> others;
    others.reserve(workers);
    try {
        for (size_t k = 1; k < workers; ++k) others.emplace_back(take_turns, k);
    } catch (const std::system_error&) {
        // No more threads are to be had: those there are do the work.
    }
    take_turns(0);
    // To fall asleep and be woken takes longer than the last pieces do.
    for (size_t turn = 0; turn < kPatience && done.load() <= others.size(); ++turn) std::this_thread::yield();
    for (std::thread& other : others) other.join();
}

}  // namespace isrht
