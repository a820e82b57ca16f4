// Threads and memory of the process that Pipe is part of.
#include <pipe/pipe.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "autoschedule/machine.h"
#include "jit/runtime/scratch.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

/// Threads that ran an iteration of the loop.
int threads_of(JITUserContext *context) {
    static std::mutex mutex;
    static std::set<std::thread::id> seen;
    seen.clear();
    Var x("x");
    Func f("f");
    f(x) = x;
    f.parallel(x);
    f.jit_handlers().custom_do_task = [](JITUserContext *c, JITTask task, int i, uint8_t *closure) {
        {
            std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return task(c, i, closure);
    };
    Buffer<int> out(64);
    f.realize(context, out);
    bool right = true;
    out.for_each_element([&](int i) { right &= out(i) == i; });
    CHECK(right);
    return static_cast<int>(seen.size());
}

/// Runs f in a child; its answer, or -1 where the child was ended by a signal.
template <typename F> int in_child(const F &f) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(f());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The sum of a pipeline with a parallel loop and one that is stored: 0 if it is right.
int wrong_sum() {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_root().parallel(y);
    g.parallel(y);
    Buffer<int> out = g.realize({30, 40});
    int wrong = 0;
    out.for_each_element([&](int i, int j) { wrong += out(i, j) != (2 * i + 1) * j; });
    return wrong != 0;
}

/// A Func of so many bytes that is stored in scratch memory.
void use_scratch(int64_t bytes) {
    Var x("x");
    Func f("f"), g("g");
    f(x) = cast<uint8_t>(x);
    g(x) = f(x) + f(min(x + 1, cast<int>(bytes - 1)));
    f.compute_root().store_in(MemoryType::Heap);
    Buffer<uint8_t> out = g.realize({bytes});
    CHECK(out(5) == 11);
}

int64_t resident_bytes() {
    int64_t all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("set_num_threads bounds every parallel loop", "[process]") {
    const int before = get_num_threads();
    CHECK(before >= 1);
    for (int threads : {1, 3}) {
        set_num_threads(threads);
        CHECK(get_num_threads() == threads);
        CHECK(threads_of(nullptr) <= threads);
        CHECK(autoschedule::host_machine(get_host_target()).cores == threads);
        JITUserContext context;
        context.num_threads = 2;
        CHECK(threads_of(&context) <= 2);
    }
    set_num_threads(0);
    CHECK(get_num_threads() == before);
    set_num_threads(100000);  // libgomp's stack would overflow
    CHECK(get_num_threads() == 4096);
    set_num_threads(0);
    require_message<RuntimeError>([] { set_num_threads(-2); },
                                  {"set_num_threads(-2)", "at least 0"});
}

TEST_CASE("a thread keeps no more scratch memory than it may", "[process]") {
    CHECK(get_kept_memory() == int64_t(256) << 20);
    const int64_t mib = 1 << 20;
    release_memory();
    set_kept_memory(80 * mib);
    use_scratch(64 * mib);
    CHECK(runtime::this_threads_arena().capacity() >= 64 * mib);
    set_kept_memory(16 * mib);
    use_scratch(64 * mib);
    CHECK(runtime::this_threads_arena().capacity() <= 16 * mib);
    set_kept_memory(0);
    use_scratch(1000);
    CHECK(runtime::this_threads_arena().capacity() == 0);
    set_kept_memory(256 * mib);
    require_message<RuntimeError>([] { set_kept_memory(-1); }, {"set_kept_memory(-1)"});
}

TEST_CASE("release_memory reaches idle threads", "[process]") {
    const int64_t mib = 1 << 20;
    release_memory();
    std::atomic<bool> used{false}, done{false};
    int64_t left = -1;
    std::thread other([&] {
        use_scratch(100 * mib);
        used = true;
        used.notify_all();
        done.wait(false);
        left = runtime::this_threads_arena().capacity();
    });
    used.wait(false);
    const int64_t before = resident_bytes();
    release_memory();
    CHECK(resident_bytes() < before - 80 * mib);
    done = true;
    done.notify_all();
    other.join();
    CHECK(left == 0);
}

TEST_CASE("release_memory during a run takes nothing that is in use", "[process]") {
    Var x("x");
    Func f("f"), g("g");
    f(x) = x * 3;
    g(x) = f(x) + f(x + 1);
    f.compute_root().store_in(MemoryType::Heap);
    g.parallel(x);
    g.jit_handlers().custom_do_task = [](JITUserContext *c, JITTask task, int i, uint8_t *closure) {
        release_memory();
        return task(c, i, closure);
    };
    Buffer<int> out = g.realize({200});
    int wrong = 0;
    out.for_each_element([&](int i) { wrong += out(i) != 6 * i + 3; });
    CHECK(wrong == 0);
    CHECK(runtime::this_threads_arena().capacity() == 0);
}

TEST_CASE("release_memory lets memoized values go", "[process]") {
    static std::atomic<int> computed{0};
    Var x("x");
    Func f("f"), g("g");
    f(x) = x;
    g(x) = f(x);
    f.compute_root().memoize().trace_realizations();
    g.jit_handlers().custom_trace = [](JITUserContext *, const TraceEvent *event) -> int32_t {
        computed += event->event == TraceEventCode::Produce;
        return 0;
    };
    g.realize({4});
    const int once = computed;
    g.realize({4});
    CHECK(computed == once);
    release_memory();
    g.realize({4});
    CHECK(computed == 2 * once);
}

TEST_CASE("a child of a thread that had a team computes the same", "[process][fork]") {
    set_num_threads(3);
    REQUIRE(wrong_sum() == 0);
    CHECK(in_child([] { return wrong_sum(); }) == 0);
    // a new thread of the child has teams of its own
    CHECK(in_child([] {
              int wrong = 1;
              std::thread([&] { wrong = wrong_sum(); }).join();
              return wrong;
          }) == 0);
    // a grandchild
    CHECK(in_child([] { return in_child([] { return wrong_sum(); }); }) == 0);
    REQUIRE(wrong_sum() == 0);
    set_num_threads(0);
}
