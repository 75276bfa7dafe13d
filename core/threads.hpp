// Threads that work for one caller, call after call.
//
// To start a thread takes as long as to transform half a million values, so those that helped once wait for the next call of
// the same thread; when it ends, they do. Each call gives every thread a range of the work, of which it takes pieces one after
// another: they follow each other in memory, so what one asks for ahead the next one finds. Cores of a shared machine are
// not equally fast, so a thread that is done goes on with pieces of the other ranges.
//
// A fork copies the caller alone. The child sees that the helpers belong to another process and starts its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace isrht {

inline int process_id() {
#ifdef _WIN32
    return _getpid();
#else
    return int(getpid());
#endif
}

// What a caller and its helpers share. Helpers hold it, too, so that they may end after it was let go.
struct Helpers {
    using Task = std::function<void(size_t)>;

    std::mutex mutex;
    std::condition_variable called, finished;
    size_t calls = 0, wanted = 0, count = 0;
    const Task* task = nullptr;  // null ends the helpers
    std::atomic<size_t> at_work{0};

    // As many as asked for, or as there can be.
    static void grow(const std::shared_ptr<Helpers>& helpers, size_t count) try {
        for (; helpers->count < count; ++helpers->count)
            std::thread(&Helpers::serve, helpers, helpers->count + 1, helpers->calls).detach();
    } catch (const std::system_error&) {
        // No more threads are to be had: those there are do the work.
    }

    // task(0) here and task(k) in helper k, for k up to `others`.
    void call(const Task& new_task, size_t others) {
        at_work = others;
        announce(&new_task, others);
        new_task(0);
        // To fall asleep and be woken takes longer than the last pieces do.
        constexpr int kPatience = 1000;
        for (int turn = 0; turn < kPatience && at_work.load(); ++turn) std::this_thread::yield();
        std::unique_lock<std::mutex> lock(mutex);
        finished.wait(lock, [this] { return at_work.load() == 0; });
    }

    void announce(const Task* new_task, size_t others) {
        const std::lock_guard<std::mutex> lock(mutex);
        task = new_task;
        wanted = others;
        ++calls;
        called.notify_all();
    }

    static void serve(const std::shared_ptr<Helpers> helpers, size_t number, size_t seen) {
        while (const Task* task = helpers->next_task(number, seen)) {
            (*task)(number);
            const std::lock_guard<std::mutex> lock(helpers->mutex);
            if (helpers->at_work.fetch_sub(1) == 1) helpers->finished.notify_one();
        }
    }

    const Task* next_task(size_t number, size_t& seen) {
        std::unique_lock<std::mutex> lock(mutex);
        do {
            called.wait(lock, [&] { return calls != seen; });
            seen = calls;
        } while (task && number > wanted);
        return task;
    }
};

// The helpers of one calling thread.
struct Caller {
    std::shared_ptr<Helpers> helpers;
    int process = 0;

    Helpers& with(size_t others) {
        if (process != process_id()) {
            abandon();
            helpers = std::make_shared<Helpers>();
            process = process_id();
        }
        Helpers::grow(helpers, others);
        return *helpers;
    }

    ~Caller() {
        if (helpers && process == process_id()) helpers->announce(nullptr, 0);
        else abandon();
    }

    // After a fork nobody can tell who holds the mutex, so it is not even destroyed.
    void abandon() {
        if (helpers) new std::shared_ptr<Helpers>(std::move(helpers));
    }
};

inline Caller& this_caller() {
    thread_local Caller caller;
    return caller;
}

struct alignas(64) Range {  // a cache line of its own
    std::atomic<size_t> next{0};
    size_t end = 0;
};

// Calls work(from, to) for pieces that make up [0, count), of a multiple of `grain` items, in up to `workers` threads,
// the calling one among them. `work` must not throw.
template <class Work> void share(size_t count, size_t grain, size_t workers, const Work& work) {
    constexpr size_t kPiecesEach = 32;
    const size_t grains = (count + grain - 1) / grain;
    workers = std::max<size_t>(1, std::min(workers, grains));
    const size_t piece = std::max<size_t>(1, grains / (workers * kPiecesEach)) * grain;
    std::vector<Range> ranges(workers);
    for (size_t k = 0; k < workers; ++k) {
        ranges[k].next = grains * k / workers * grain;
        ranges[k].end = std::min(grains * (k + 1) / workers * grain, count);
    }
    const auto take_turns = [&](size_t own) {
        for (size_t k = 0; k < workers; ++k) {
            Range& range = ranges[(own + k) % workers];
            for (size_t from; (from = range.next.fetch_add(piece)) < range.end;) work(from, std::min(from + piece, range.end));
        }
    };
    Helpers& helpers = this_caller().with(workers - 1);
    helpers.call(take_turns, std::min(workers - 1, helpers.count));
}

}  // namespace isrht
