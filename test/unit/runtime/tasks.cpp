// Tasks that run at once: bounded by their semaphores, free of races (run it under ThreadSanitizer),
// and ended by a failure.
#include "jit/runtime/tasks.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe::runtime;

namespace {

struct Semaphore {
    explicit Semaphore(int64_t count) { pipe_semaphore_open(memory, count); }
    ~Semaphore() { pipe_semaphore_close(memory); }
    alignas(64) unsigned char memory[Pipe::runtime::semaphore_bytes];
};

/// A ring of slots that the producer fills and the consumer empties, each `rounds` times.
struct Ring {
    Ring(size_t size, int n) : slots(size), free(static_cast<int64_t>(size)), rounds(n) {}
    std::vector<int> slots;
    Semaphore free, ready{0};
    int rounds;
    std::atomic<int> produced{0}, consumed{0}, most_ahead{0};
    int64_t sum = 0;
    int fails_at = -1;
};

int32_t produce(Context *context, int32_t, int32_t, void *closure) {
    Ring &ring = *static_cast<Ring *>(closure);
    for (int i = 0; i < ring.rounds; i++) {
        if (int32_t code = pipe_semaphore_acquire(context, ring.free.memory))
            return code;
        if (i == ring.fails_at) {
            context->fail(7, "the producer failed");
            return 7;
        }
        ring.slots[static_cast<size_t>(i) % ring.slots.size()] = i;
        int ahead = ++ring.produced - ring.consumed;
        ring.most_ahead = std::max(ring.most_ahead.load(), ahead);
        pipe_semaphore_release(ring.ready.memory);
    }
    return 0;
}

int32_t consume(Context *context, int32_t, int32_t, void *closure) {
    Ring &ring = *static_cast<Ring *>(closure);
    for (int i = 0; i < ring.rounds; i++) {
        if (int32_t code = pipe_semaphore_acquire(context, ring.ready.memory))
            return code;
        ring.sum += ring.slots[static_cast<size_t>(i) % ring.slots.size()];
        ring.consumed++;
        pipe_semaphore_release(ring.free.memory);
    }
    return 0;
}

/// A fork whose second task forks: three tasks at once.
int32_t fork_inside(Context *context, int32_t, int32_t, void *closure) {
    return pipe_fork(context, produce, closure, consume, closure);
}

}  // namespace

TEST_CASE("a producer is ahead by no more than the slots", "[tasks]") {
    const Pipe::JITHandlers handlers;
    for (size_t slots : {1, 2, 5}) {
        Context context(handlers, nullptr);
        Ring ring(slots, 1000);
        CHECK(pipe_fork(&context, produce, &ring, consume, &ring) == 0);
        CHECK(ring.sum == 1000 * 999 / 2);
        // What is counted as produced may be consumed before it is counted as such.
        CHECK(ring.most_ahead <= static_cast<int>(slots) + 1);
    }
}

TEST_CASE("forks inside of forks", "[tasks]") {
    const Pipe::JITHandlers handlers;
    Context context(handlers, nullptr);
    Ring a(2, 300), b(3, 300);
    CHECK(pipe_fork(&context, fork_inside, &a, fork_inside, &b) == 0);
    CHECK(a.sum == 300 * 299 / 2);
    CHECK(b.sum == 300 * 299 / 2);
}

TEST_CASE("a failure ends the tasks that wait", "[tasks]") {
    const Pipe::JITHandlers handlers;
    Context context(handlers, nullptr);
    Ring ring(2, 100);
    ring.fails_at = 10;
    CHECK(pipe_fork(&context, produce, &ring, consume, &ring) == 7);
    CHECK(context.message() == "the producer failed");
}
