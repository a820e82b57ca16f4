// Parallel loops inside of others: each iteration once, idle threads help, failures reach the caller.
#include "jit/runtime/runtime.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace Pipe::runtime;

namespace {

struct Nest {
    int outer = 1, inner = 1;
    std::vector<std::atomic<int>> *counts = nullptr;
    int fails_at = -1;
};

struct Row {
    Nest *nest;
    int y;
};

int32_t element(Context *context, int32_t begin, int32_t end, void *closure) {
    const Row &row = *static_cast<Row *>(closure);
    for (int32_t x = begin; x < end; x++) {
        int at = row.y * row.nest->inner + x;
        if (at == row.nest->fails_at) {
            context->fail(7, "an iteration failed");
            return 7;
        }
        (*row.nest->counts)[static_cast<size_t>(at)]++;
    }
    return 0;
}

int32_t row(Context *context, int32_t begin, int32_t end, void *closure) {
    for (int32_t y = begin; y < end; y++) {
        Row inside{static_cast<Nest *>(closure), y};
        if (int32_t code = pipe_parallel_for(context, element, 0, inside.nest->inner, &inside))
            return code;
    }
    return 0;
}

struct Called {
    Called() { context.threads = 4; }
    Pipe::JITHandlers handlers;
    Pipe::JITUserContext user;
    Context context{handlers, &user};
};

}  // namespace

TEST_CASE("loops inside of parallel loops run each iteration once", "[parallel]") {
    for (int outer : {1, 2, 3, 4, 7, 50})
        for (int inner : {1, 2, 5, 100}) {
            std::vector<std::atomic<int>> counts(static_cast<size_t>(outer * inner));
            Nest nest{outer, inner, &counts};
            for (int run = 1; run <= 20; run++) {
                Called call;
                REQUIRE(pipe_parallel_for(&call.context, row, 0, outer, &nest) == 0);
                for (std::atomic<int> &count : counts)
                    REQUIRE(count == run);
            }
        }
}

TEST_CASE("a failure in a loop inside of another is the answer of both", "[parallel]") {
    for (int fails_at : {0, 37, 199}) {
        std::vector<std::atomic<int>> counts(200);
        Nest nest{2, 100, &counts, fails_at};
        Called call;
        CHECK(pipe_parallel_for(&call.context, row, 0, 2, &nest) == 7);
        CHECK(call.context.message() == "an iteration failed");
    }
}

namespace {

struct Late {
    std::atomic<bool> other_ended{false};
};

void wait_for(const std::function<bool()> &what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (!what() && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
}

int32_t fails_late(Context *context, int32_t begin, int32_t, void *closure) {
    auto &late = *static_cast<Late *>(closure);
    if (begin == 0) {
        context->fail(7, "an iteration failed");
        wait_for([&] { return late.other_ended.load(); });
        return 7;
    }
    wait_for([&] { return context->failed(); });
    std::vector<std::atomic<int>> counts(1);
    Nest nest{1, 1, &counts};
    const int32_t code = pipe_parallel_for(context, row, 0, 1, &nest);
    late.other_ended = true;
    return code;
}

}  // namespace

// Found by a test run on a busy machine.
TEST_CASE("a loop that does not begin, because another thread failed, hides no failure",
          "[parallel]") {
    Late late;
    Called call;
    CHECK(pipe_parallel_for(&call.context, fails_late, 0, 2, &late) == 7);
    CHECK(call.context.message() == "an iteration failed");
}

namespace {

struct Meeting {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<size_t> met{0};
};

/// Waits for another thread to come to the loop, too.
int32_t meet(Context *, int32_t, int32_t, void *closure) {
    auto &meeting = *static_cast<Meeting *>(closure);
    {
        std::lock_guard lock(meeting.mutex);
        meeting.threads.insert(std::this_thread::get_id());
        meeting.met = meeting.threads.size();
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (meeting.met < 2 && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    return 0;
}

/// Only the last iteration has something to do.
int32_t uneven(Context *context, int32_t begin, int32_t end, void *closure) {
    for (int32_t y = begin; y < end; y++)
        if (int32_t code = y == 1 ? pipe_parallel_for(context, meet, 0, 100, closure) : 0)
            return code;
    return 0;
}

}  // namespace

TEST_CASE("a thread that has nothing left helps with a loop inside that has begun", "[parallel]") {
    Meeting meeting;
    Called call;
    call.context.threads = 2;
    REQUIRE(pipe_parallel_for(&call.context, uneven, 0, 2, &meeting) == 0);
    CHECK(meeting.threads.size() == 2);
}
