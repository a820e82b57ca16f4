// JITUserContext and jit_handlers: each hook per call, and what remains when one fails.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <pipe/pipe.h>

#include "test/support/everywhere.h"
#include "test/support/require_message.h"

using namespace Pipe;

namespace {

/// A context that counts what its handlers see.
struct Counting : JITUserContext {
    std::atomic<int> mallocs{0}, live{0}, tasks{0}, loops{0}, errors{0};
    std::mutex mutex;
    std::string message;
    int fail_malloc_at = -1, fail_task_at = -1;
    bool throws = false;

    static Counting &of(JITUserContext *c) { return *static_cast<Counting *>(c); }
    void use_malloc() {
        handlers.custom_malloc = [](JITUserContext *c, size_t bytes) -> void * {
            int n = of(c).mallocs++;
            if (n == of(c).fail_malloc_at) {
                if (of(c).throws)
                    throw std::domain_error("no memory today");
                return nullptr;
            }
            of(c).live++;
            return std::malloc(bytes);
        };
        handlers.custom_free = [](JITUserContext *c, void *p) {
            of(c).live--;
            std::free(p);
        };
    }
    void use_do_task() {
        handlers.custom_do_task = [](JITUserContext *c, JITTask task, int i, uint8_t *closure) {
            int n = of(c).tasks++;
            if (n == of(c).fail_task_at) {
                if (of(c).throws)
                    throw std::domain_error("no task today");
                return 17;
            }
            return task(c, i, closure);
        };
    }
    void use_par_for() {
        handlers.custom_do_par_for = [](JITUserContext *c, JITTask task, int min, int extent,
                                        uint8_t *closure) {
            of(c).loops++;
            std::atomic<int> result{0};
            std::vector<std::thread> threads;
            for (int t = 0; t < 2; t++)
                threads.emplace_back([&, t] {
                    for (int i = min + t; i < min + extent; i += 2)
                        if (int code = task(c, i, closure))
                            result = code;
                });
            for (auto &t : threads)
                t.join();
            return result.load();
        };
    }
    void use_error() {
        handlers.custom_error = [](JITUserContext *c, const char *text) {
            of(c).errors++;
            of(c).message = text;
        };
    }
};

/// Two stages in parallel loops, with scratch memory inside.
struct Rows {
    Var x{"x"}, y{"y"};
    Func row{"row"}, out{"out"};
    Rows() {
        row(x, y) = x + y;
        out(x, y) = row(x, y) + row(x + 1, y);
        row.compute_at(out, y).store_in(MemoryType::Heap);
        out.parallel(y);
    }
    static bool right(const Buffer<int> &b) {
        int wrong = 0;
        b.for_each_element([&](int i, int j) { wrong += b(i, j) != 2 * (i + j) + 1; });
        return wrong == 0;
    }
};

}  // namespace

TEST_CASE_METHOD(Rows, "custom malloc and free", "[driver][handlers]") {
    Counting context;
    context.use_malloc();
    Buffer<int> b(50, 20);
    out.realize(&context, b);
    CHECK(right(b));
    CHECK(context.mallocs == 20);
    CHECK(context.live == 0);
    out.realize(b);  // without context: nothing is counted
    CHECK(context.mallocs == 20);
}

TEST_CASE("store_in(Stack) of a size that only the run knows asks for memory once",
          "[driver][handlers]") {
    Counting context;
    context.use_malloc();
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x + 100 * y;
    g(x, y) = f(x, y) + f(x + 1, y);
    f.compute_at(g, y).store_in(MemoryType::Stack);
    Buffer<int> b(50, 20);
    auto run = [&](int expected) {
        context.mallocs = 0;
        g.realize(&context, b);
        CHECK(context.mallocs == expected);
        CHECK(context.live == 0);
        b.for_each_element([&](int i, int j) { REQUIRE(b(i, j) == 2 * i + 1 + 200 * j); });
    };
    SECTION("in all iterations") {
        run(1);
    }
    SECTION("in the parts of a loop that is taken apart") {
        f(x, y) = select(y<7, x, y> 11, x + 1, x - 1);
        f(x, y) = x + 100 * y;
        run(1);
    }
    SECTION("where a thread begins another part of a parallel loop") {
        g.parallel(y);
        context.use_do_task();
        run(20);
    }
    SECTION("where it grows") {
        Func h("h");
        h(x, y) = f(x + y, y) + f(2 * x + y, y);
        f.compute_at(h, x);
        context.mallocs = 0;
        h.realize(&context, b);
        CHECK(context.mallocs > 1);
        CHECK(context.mallocs <= 50);
        CHECK(context.live == 0);
        b.for_each_element([&](int i, int j) { REQUIRE(b(i, j) == 3 * i + 202 * j); });
    }
    SECTION("an error frees it") {
        context.fail_malloc_at = 0;
        CHECK_THROWS_AS(g.realize(&context, b), RuntimeError);
        CHECK(context.live == 0);
    }
}

TEST_CASE("of a chain of stages that are stored, two are in memory at a time",
          "[driver][handlers]") {
    static std::atomic<int> live, most;
    live = most = 0;
    JITUserContext context;
    context.handlers.custom_malloc = [](JITUserContext *, size_t bytes) {
        most = std::max<int>(most, ++live);
        return std::malloc(bytes);
    };
    context.handlers.custom_free = [](JITUserContext *, void *memory) {
        live--;
        std::free(memory);
    };
    Var x("x"), y("y");
    Func stage("first");
    stage(x, y) = x + 100 * y;
    for (int i = 0; i < 8; i++) {
        Func next("next");
        stage.compute_root().store_in(MemoryType::Heap);
        next(x, y) = stage(x - 1, y) + stage(x + 1, y);
        stage = next;
    }
    Buffer<int> b(50, 20);
    stage.realize(&context, b);
    b.for_each_element([&](int i, int j) { REQUIRE(b(i, j) == 256 * (i + 100 * j)); });
    CHECK(most == 2);
    CHECK(live == 0);
}

TEST_CASE_METHOD(Rows, "a custom malloc that has no memory, or throws", "[driver][handlers]") {
    for (bool throws : {false, true}) {
        INFO(throws);
        Counting context;
        context.use_malloc();
        context.fail_malloc_at = 7;
        context.throws = throws;
        Buffer<int> b(50, 20);
        if (throws)
            require_message<std::domain_error>([&] { out.realize(&context, b); },
                                               {"no memory today"});
        else
            require_message<RuntimeError>([&] { out.realize(&context, b); },
                                          {"out of memory", "row"});
        CHECK(context.live == 0);
        context.fail_malloc_at = -1;
        out.realize(&context, b);
        CHECK(right(b));
        CHECK(context.live == 0);
    }
}

TEST_CASE("what was allocated around a failure is freed", "[driver][handlers]") {
    Var x("x");
    Func f("f"), g("g"), h("h");
    f(x) = x, g(x) = f(x) + f(x + 1), h(x) = g(x) + g(x + 1);
    f.compute_root().store_in(MemoryType::Heap);
    g.compute_root().store_in(MemoryType::Heap);
    Counting context;
    context.use_malloc();
    context.fail_malloc_at = 1;  // of two
    Buffer<int> b(10);
    CHECK_THROWS_AS(h.realize(&context, b), RuntimeError);
    CHECK(context.mallocs == 2);
    CHECK(context.live == 0);
}

TEST_CASE_METHOD(Rows, "custom do_task and do_par_for", "[driver][handlers]") {
    Buffer<int> b(50, 21);
    Counting tasks;
    tasks.use_do_task();
    tasks.use_malloc();
    out.realize(&tasks, b);
    CHECK(right(b));
    CHECK(tasks.tasks == 21);
    Counting loops;
    loops.use_par_for();
    b.fill(0);
    out.realize(&loops, b);
    CHECK(right(b));
    CHECK(loops.loops == 1);
}

TEST_CASE_METHOD(Rows, "a do_task that answers an error, or throws", "[driver][handlers]") {
    Buffer<int> b(50, 20);
    for (bool in_par_for : {false, true}) {
        Counting context;
        context.use_malloc();
        context.use_do_task();
        context.fail_task_at = 3;
        if (in_par_for)
            context.handlers.custom_do_par_for = [](JITUserContext *, JITTask, int, int,
                                                    uint8_t *) { return 17; };
        require_message<RuntimeError>([&] { out.realize(&context, b); },
                                      {in_par_for ? "custom_do_par_for" : "custom_do_task", "17"});
        CHECK(context.live == 0);
    }
    Counting context;
    context.use_do_task();
    context.fail_task_at = 3;
    context.throws = true;
    require_message<std::domain_error>([&] { out.realize(&context, b); }, {"no task today"});
    CHECK_NOTHROW(out.realize(b));
    CHECK(right(b));
}

TEST_CASE("custom error gets what realize would throw", "[driver][handlers]") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + in(x + 1);
    in.set(Buffer<int>(5));
    Buffer<int> b(10);
    Counting context;
    context.use_error();
    f.realize(&context, b);
    CHECK(context.errors == 1);
    CHECK(context.message.find("0 to 10") != std::string::npos);
    f.realize(&context, Buffer<float>(10));
    CHECK(context.errors == 2);
    CHECK(context.message.find("float32") != std::string::npos);
    Callable call = f.compile_to_callable({in});
    CHECK(call(&context, Buffer<int>(5), b) != 0);
    CHECK(context.errors == 3);
    CHECK(call(&context, Buffer<int>(11), b) == 0);
    context.handlers.custom_error = [](JITUserContext *, const char *text) {
        throw std::domain_error(text);
    };
    require_message<std::domain_error>([&] { f.realize(&context, b); }, {"in", "0 to 10"});
}

TEST_CASE_METHOD(Rows, "handlers of a Pipeline, and the context's before them",
                 "[driver][handlers]") {
    Pipeline p(out), other(out);
    static std::atomic<int> seen{0};
    p.jit_handlers().custom_do_task = [](JITUserContext *c, JITTask task, int i, uint8_t *closure) {
        seen++;
        return task(c, i, closure);
    };
    Buffer<int> b(8, 5);
    seen = 0;
    p.realize(b);
    CHECK(seen == 5);
    other.realize(b);
    CHECK(seen == 5);
    Counting context;
    context.use_do_task();
    p.realize(&context, b);
    CHECK(seen == 5);
    CHECK(context.tasks == 5);
    Callable call = p.compile_to_callable({});
    p.jit_handlers().custom_do_task = nullptr;
    call(b);  // keeps the handlers of then
    CHECK(seen == 10);
    CHECK(right(b));
}

TEST_CASE("the number of threads of one call", "[driver][handlers]") {
    Var x("x"), y("y");
    Func slow("slow"), out("out");
    RDom r(0, 2000);
    slow(x, y) = 0.0f;
    slow(x, y) += sin(cast<float>(r + x));
    auto sum_of_sines = [](int x) {
        double sum = 0;
        for (int i = 0; i < 2000; i++)
            sum += std::sin(i + x);
        return static_cast<float>(sum);
    };
    out(x, y) = slow(x, y);
    slow.compute_at(out, y);
    out.parallel(y);
    for (int threads : {1, 2, 3}) {
        struct Watching : JITUserContext {
            std::mutex mutex;
            std::set<std::thread::id> ids;
        } context;
        context.num_threads = threads;
        context.handlers.custom_do_task = [](JITUserContext *c, JITTask task, int i,
                                             uint8_t *closure) {
            auto &w = *static_cast<Watching *>(c);
            {
                std::lock_guard lock(w.mutex);
                w.ids.insert(std::this_thread::get_id());
            }
            return task(c, i, closure);
        };
        out.realize(&context, {16, 64});
        CHECK(context.ids.size() <= static_cast<size_t>(threads));
        CHECK(context.ids.size() >= 1);
        for (auto [width, height, left, top] : everywhere::shapes) {
            Buffer<float> limited(width, height), free(width, height);
            limited.set_min(left, top);
            free.set_min(left, top);
            // Of each call alone: OpenMP may end a thread between two teams and begin another.
            context.ids.clear();
            out.realize(&context, limited);
            out.realize(free);
            CHECK(context.ids.size() <= static_cast<size_t>(threads));
            int wrong = 0;
            free.for_each_element([&](int i, int j) {
                wrong += limited(i, j) != free(i, j);
                wrong += !(std::fabs(free(i, j) - sum_of_sines(i)) < 1e-2f);
            });
            INFO(threads << " threads, " << width << " x " << height);
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("threads that find no iteration of a parallel loop help with those inside", "[driver]") {
    struct Watching : JITUserContext {
        std::mutex mutex;
        std::set<std::thread::id> ids;
    } context;
    context.num_threads = 3;
    context.handlers.custom_do_task = [](JITUserContext *c, JITTask task, int i, uint8_t *closure) {
        auto &w = *static_cast<Watching *>(c);
        {
            std::lock_guard lock(w.mutex);
            w.ids.insert(std::this_thread::get_id());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return task(c, i, closure);
    };
    Var x("x"), y("y"), n("n");
    Func rows("rows"), out("out");
    rows(x, y, n) = x + 10 * y;
    out(x, y, n) = rows(x, y, n) + rows(x, y + 1, n) + 1000 * n;
    rows.compute_at(out, n).parallel(y);  // which has scratch memory around it
    out.parallel(y).parallel(n);
    Buffer<int> b(4, 30, 2);
    for (int tries = 0; tries < 20 && context.ids.size() < 3; tries++) {
        context.ids.clear();
        out.realize(&context, b);
    }
    CHECK(context.ids.size() == 3);
    int wrong = 0;
    b.for_each_element(
        [&](int i, int j, int k) { wrong += b(i, j, k) != 2 * i + 10 * (2 * j + 1) + 1000 * k; });
    CHECK(wrong == 0);
}

TEST_CASE_METHOD(Rows, "two threads with different handlers at the same time",
                 "[driver][handlers]") {
    Pipeline p(out);
    p.compile_jit();
    std::atomic<int> bad{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&, t] {
            Counting context;
            if (t == 0)
                context.use_do_task();
            if (t == 1)
                context.use_malloc();
            if (t == 2)
                context.use_error();
            for (int i = 0; i < 20; i++) {
                Buffer<int> b(30, 11);
                p.realize(&context, b);
                bad += !right(b);
            }
            bad += context.tasks != (t == 0 ? 220 : 0);
            bad += context.mallocs != (t == 1 ? 220 : 0);
            bad += context.live != 0;
        });
    for (auto &t : threads)
        t.join();
    CHECK(bad == 0);
}

TEST_CASE_METHOD(Rows, "a handler may call the same pipeline", "[driver][handlers]") {
    struct Nesting : JITUserContext {
        Pipeline *pipeline = nullptr;
        Buffer<int> inner{6, 3};
        std::atomic<int> calls{0};
    } context;
    Pipeline p(out);
    context.pipeline = &p;
    context.handlers.custom_do_par_for = [](JITUserContext *c, JITTask task, int min, int extent,
                                            uint8_t *closure) {
        auto &n = *static_cast<Nesting *>(c);
        if (n.calls++ == 0)
            n.pipeline->realize(n.inner);
        for (int i = min; i < min + extent; i++)
            if (int code = task(c, i, closure))
                return code;
        return 0;
    };
    Buffer<int> b(50, 20);
    p.realize(&context, b);
    CHECK(right(b));
    CHECK(right(context.inner));
}
