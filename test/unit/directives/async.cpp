// async and ring_buffer: the same results, with tasks that wait for each other.
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "compare.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

struct Chain {
    Func f{"f"}, g{"g"}, h{"h"};
    Chain() {
        f(x, y) = x * x + 3 * y;
        g(x, y) = f(x, y) + f(x + 1, y + 1);
        h(x, y) = g(x, y) + g(x, y + 1);
    }
    void check() { check_sizes(h, {1, 8, 21}); }
};

}  // namespace

TEST_CASE_METHOD(Chain, "async at the root", "[async]") {
    g.compute_root().async();
    check();
    CHECK(Pipeline(h).loop_nest().find("produce g async:") == 0);
    CHECK(Pipeline(h).schedule_source().find(".async()") != std::string::npos);
}

TEST_CASE_METHOD(Chain, "async runs in a thread of its own", "[async]") {
    struct Threads : JITUserContext {
        std::mutex mutex;
        std::map<std::string, std::set<std::thread::id>> of;
        Threads() {
            handlers.custom_trace = [](JITUserContext *c, const TraceEvent *e) -> int32_t {
                auto &t = *static_cast<Threads *>(c);
                std::lock_guard lock(t.mutex);
                if (e->event == TraceEventCode::Store)
                    t.of[e->func].insert(std::this_thread::get_id());
                return 1;
            };
        }
    };
    g.compute_root().trace_stores();
    h.trace_stores();
    for (bool async : {false, true}) {
        if (async)
            g.async();
        Threads threads;
        Buffer<int> out(20, 20);
        h.realize(&threads, out);
        REQUIRE(threads.of["g"].size() == 1);
        REQUIRE(threads.of["h"].size() == 1);
        CHECK((threads.of["g"] == threads.of["h"]) == !async);
    }
}

TEST_CASE_METHOD(Chain, "a ring_buffer has as many copies as asked", "[async]") {
    auto bytes = [&](int copies) {
        g.compute_at(h, y).hoist_storage_root().ring_buffer(copies).async();
        Pipeline p(h);
        p.realize({1000, 30});
        return p.peak_scratch_bytes();
    };
    const int64_t one = bytes(1);
    CHECK(one >= 2 * 1000 * 4);
    CHECK(bytes(2) == 2 * one);
    CHECK(bytes(5) == 5 * one);
}

TEST_CASE_METHOD(Chain, "async in each iteration", "[async]") {
    g.compute_at(h, y).async();
    check();
    f.compute_at(g, y);
    check();
}

TEST_CASE_METHOD(Chain, "a sliding window runs ahead", "[async]") {
    g.compute_at(h, y).store_root().async();
    check();
    SECTION("in folded storage") {
        for (int factor : {2, 3, 5, 8}) {
            g.fold_storage(y, factor);
            check();
        }
    }
    SECTION("with a task of its own before it") {
        f.compute_at(g, y).store_root().async();
        check();
        f.fold_storage(y, 4);
        check();
    }
}

TEST_CASE("a window that starts anew does not run ahead over its end", "[async]") {
    // Found by random schedules (seed 1800014983): the producer began the next column where the
    // folded storage still held what the last rows of this one need.
    Func g("g"), h("h");
    g(y) = y * y;
    h(x, y) = x + g(y) + g(y + 1);
    h.reorder(y, x);
    g.compute_at(h, y).store_root().async().fold_storage(y, 4);
    check_equal(h, {{0, 500}, {0, 18}});
    check_equal(h, {{0, 500}, {-3, 19}});
}

TEST_CASE_METHOD(Chain, "ring_buffer", "[async]") {
    SECTION("alone") {
        g.compute_at(h, y).hoist_storage_root().ring_buffer(3);
    }
    SECTION("with async") {
        g.compute_at(h, y).hoist_storage_root().ring_buffer(2).async();
    }
    SECTION("of tiles") {
        h.tile(x, y, xo, yo, xi, yi, 4, 2, TailStrategy::GuardWithIf);
        g.compute_at(h, xo).hoist_storage_root().ring_buffer(4).async().vectorize(x, 4);
    }
    SECTION("nested") {
        g.compute_at(h, y).hoist_storage_root().ring_buffer(2).async();
        f.compute_at(g, y).hoist_storage(h, y).ring_buffer(2).async();
    }
    SECTION("inside a parallel loop") {
        h.split(y, yo, yi, 2, TailStrategy::GuardWithIf).parallel(yo);
        g.compute_at(h, yi).hoist_storage(h, yo).ring_buffer(2).async();
    }
    SECTION("of windows that slide, alone") {
        h.split(y, yo, yi, 3, TailStrategy::GuardWithIf);
        g.compute_at(h, yi).store_at(h, yo).hoist_storage_root().ring_buffer(2);
    }
    SECTION("of windows that slide, with async") {
        h.split(y, yo, yi, 3, TailStrategy::GuardWithIf);
        g.compute_at(h, yi).store_at(h, yo).hoist_storage_root().ring_buffer(3).async();
    }
    SECTION("of folded windows that slide, with async") {
        h.tile(x, y, xo, yo, xi, yi, 4, 3, TailStrategy::GuardWithIf);
        g.compute_at(h, yi).store_at(h, xo).hoist_storage_root().ring_buffer(2).async();
        g.fold_storage(y, 4);
    }
    SECTION("of what is computed anew in each iteration, with async") {
        h.tile(x, y, xo, yo, xi, yi, 4, 3, TailStrategy::GuardWithIf);
        h.reorder(yi, xi, xo, yo);
        g.compute_at(h, xi).store_at(h, xo).hoist_storage(h, yo).ring_buffer(2).async();
    }
    SECTION("hoisted without copies, with async") {
        h.split(y, yo, yi, 3, TailStrategy::GuardWithIf);
        g.compute_at(h, yi).store_at(h, yo).hoist_storage_root().async();
    }
    SECTION("one after the other") {
        g.compute_at(h, y).hoist_storage_root().ring_buffer(2).async();
        f.compute_at(h, y).hoist_storage_root().ring_buffer(3).async();
    }
    check();
}

TEST_CASE_METHOD(Chain, "a Func that both tasks read", "[async]") {
    Func k("k");
    k(x, y) = h(x, y) + f(x, y);
    g.compute_at(k, y).async();
    f.compute_at(k, y);
    h.compute_at(k, y);
    check_sizes(k, {1, 9});
    f.store_root();
    g.store_root();
    h.store_root();
    check_sizes(k, {1, 9});
}

TEST_CASE_METHOD(Chain, "a failure in a task ends the others", "[async]") {
    Param<int> n("n");
    Func big("big"), out("out");
    big(x, y) = x + y;
    out(x, y) = big(x, y) + big(x + n, y);
    big.compute_at(out, y).hoist_storage_root().ring_buffer(2).async().bound_storage(x, 64);
    n.set(10);
    check_sizes(out, {1, 20});
    n.set(100);
    require_message<RuntimeError>([&] { out.realize({4, 40}); }, {"big.bound_storage(x)", "64"});
}

// The number of the iteration left some out in the last, shorter one of a split: the producer wrote the
// copy that was being read.
TEST_CASE_METHOD(Chain, "the copies of a ring_buffer are taken in turn", "[async]") {
    h.split(y, yo, yi, 8, TailStrategy::GuardWithIf);
    SECTION("in the inner loop of a split") {
        g.compute_at(h, yi).hoist_storage_root().ring_buffer(3).async();
    }
    SECTION("further in") {
        g.compute_at(h, x).hoist_storage_root().ring_buffer(3).async();
    }
    SECTION("with a loop between the two of the split") {
        h.reorder(yi, x, yo);
        g.compute_at(h, yi).hoist_storage_root().ring_buffer(2).async();
    }
    SECTION("in two splits") {
        h.split(x, xo, xi, 4, TailStrategy::GuardWithIf).reorder(xi, yi, xo, yo);
        g.compute_at(h, xi).hoist_storage_root().ring_buffer(5).async();
    }
    for (int height : {1, 8, 11, 21}) {
        Buffer<int> expected(7, height);
        h.realize_reference(expected);
        int64_t wrong = 0;
        for (int again = 0; again < 20; again++)
            Buffer<int>(h.realize({7, height}))
                .for_each_value([&](int &a, int &b) { wrong += a != b; }, expected);
        CHECK(wrong == 0);
    }
}

TEST_CASE_METHOD(Chain, "a ring_buffer in loops that leave iterations out", "[async]") {
    h.split(y, yo, yi, 8, TailStrategy::GuardWithIf);
    SECTION("behind a test") {
        h.reorder(x, yo, yi);
        g.compute_at(h, x).hoist_storage_root().ring_buffer(3).async();
        require_message<CompileError>(
            [&] {
                h.realize({4, 4});
            },
            {"g.ring_buffer", "loop 'yo' of h", "'y'", "hoist_storage"});
    }
    SECTION("in loops that grow shorter") {
        g.compute_at(h, yi).store_at(h, yo);
        f.compute_at(g, y).hoist_storage_root().ring_buffer(2).async();
        require_message<CompileError>(
            [&] {
                h.realize({4, 4});
            },
            {"f.ring_buffer", "loop 'y' of g", "varying number of iterations"});
        f.hoist_storage(h, yi);
        check();
    }
}

TEST_CASE_METHOD(Chain, "what async and ring_buffer need", "[async]") {
    g.async();
    require_message<CompileError>([&] { h.realize({4, 4}); }, {"g.async", "inlined"});
    g.compute_at(h, y).ring_buffer(2);
    require_message<CompileError>([&] { h.realize({4, 4}); }, {"g.ring_buffer", "hoist_storage"});
    g.store_root().hoist_storage_root();
    require_message<CompileError>(
        [&] {
            h.realize({4, 4});
        },
        {"g.ring_buffer", "sliding window", "Hoist the storage further out"});
    Param<int> n("n");
    require_message<CompileError>([&] { g.ring_buffer(n); }, {"g.ring_buffer(n)", "constant"});
    require_message<CompileError>([&] { g.ring_buffer(0); }, {"g.ring_buffer", "at least 1"});
}
