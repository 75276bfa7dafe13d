// Threads that work for one caller, call after call.
//
// To start a thread takes as long as to transform half a million values. So threads that have helped once wait for the
// next call of the same caller, and end when the calling thread ends. Each call gives every thread a range of the work,
// which it goes through piece by piece. The pieces of a range follow each other in memory, so a piece finds in the
// cache what the one before has asked for ahead. Cores of a shared machine are not equally fast, so a thread that has
// finished its own range goes on with pieces of the others.
//
// A fork copies the calling thread alone. The child sees that the helpers belong to another process and starts its own.
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

// What a caller and its helpers share. The helpers own it together with the caller, so that they may end after the
// caller.
struct Helpers {
    using Task = std::function<void(size_t)>;

    std::mutex mutex;
    std::condition_variable called, finished;
    size_t calls = 0, wanted = 0, count = 0;
    const Task* task = nullptr;  // null ends the helpers
    std::atomic<size_t> at_work{0};

    // Starts helpers until there are `count` of them, or as many as there can be.
    static void grow(const std::shared_ptr<Helpers>& helpers, size_t count) try {
        for (; helpers->count < count; ++helpers->count)
            std::thread(&Helpers::serve, helpers, helpers->count + 1, helpers->calls).detach();
    } catch (const std::system_error&) {
        // The system gives no more threads; those that there are do the work.
    }

    // Runs task(0) in this thread and task(k) in helper k, for k from 1 to `others`, and returns when all have ended.
    void call(const Task& new_task, size_t others) {
        at_work = others;
        announce(&new_task, others);
        new_task(0);
        // To fall asleep and be woken takes longer than the last pieces of the helpers take.
        constexpr int kPatience = 1000;
        for (int turn = 0; turn < kPatience && at_work.load(); ++turn) std::this_thread::yield();
        std::unique_lock<std::mutex> lock(mutex);
        finished.wait(lock, [this] { return at_work.load() == 0; });
    }

    // Wakes all helpers. A null task ends them.
    void announce(const Task* new_task, size_t others) {
        const std::lock_guard<std::mutex> lock(mutex);
        task = new_task;
        wanted = others;
        ++calls;
        called.notify_all();
    }

    // The life of helper `number`, which has seen that many calls.
    static void serve(const std::shared_ptr<Helpers> helpers, size_t number, size_t seen) {
        while (const Task* task = helpers->next_task(number, seen)) {
            (*task)(number);
            const std::lock_guard<std::mutex> lock(helpers->mutex);
            if (helpers->at_work.fetch_sub(1) == 1) helpers->finished.notify_one();
        }
    }

    // Waits for a call that wants this helper.
    const Task* next_task(size_t number, size_t& seen) {
        std::unique_lock<std::mutex> lock(mutex);
        do {
            called.wait(lock, [&] { return calls != seen; });
            seen = calls;
        } while (task && number > wanted);
        return task;
    }
};

// A calling thread and its helpers.
struct Caller {
    std::shared_ptr<Helpers> helpers;
    int process = 0;

    // Returns the helpers of this process, if possible `others` of them.
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

    // Lets go of helpers that a fork has left behind. Nobody can tell whether their mutex is locked, so it must not
    // even be destroyed.
    void abandon() {
        if (helpers) new std::shared_ptr<Helpers>(std::move(helpers));
    }
};

inline Caller& this_caller() {
    thread_local Caller caller;
    return caller;
}

// The part of the work that one thread begins with. It has a cache line of its own, or threads would slow each other
// down.
struct alignas(64) Range {
    std::atomic<size_t> next{0};
    size_t end = 0;
};

// Calls work(from, to) for pieces that make up [0, count), in up to `workers` threads, of which the calling one is one.
// Each piece but the last is a multiple of `grain` items. `work` must not throw.
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
            for (size_t from; (from = range.next.fetch_add(piece)) < range.end;)
                work(from, std::min(from + piece, range.end));
        }
    };
    Helpers& helpers = this_caller().with(workers - 1);
    helpers.call(take_turns, std::min(workers - 1, helpers.count));
}

}  // namespace isrht
