// The cache of memoized Funcs: keys, what goes when, several threads, failures, misuse.
#include <atomic>
#include <stdexcept>
#include <thread>

#include "compare.h"
#include "memoize.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xi("xi");

/// A row of f, 16 ints of 64 bytes: out(x) = f(x) + 1, f(x) = x + p
struct Row : Cache {
    Param<int> p{"p", 0};
    Param<uint64_t> key{"key", 0};
    Func f{"f"}, out{"out"};
    Row() {
        f(x) = pipe_memo_counted(x + p);
        out(x) = f(x) + 1;
        f.compute_root();
    }
    /// Whether f was found.
    bool finds(int value) {
        p.set(value);
        Buffer<int> got(16);
        int count = computed([&] { out.realize(got); });
        for (int i = 0; i < 16; i++)
            REQUIRE(got(i) == i + value + 1);
        CHECK((count == 0 || count == 16));
        return count == 0;
    }
};

}  // namespace

TEST_CASE_METHOD(Row, "what was not used for the longest time goes", "[memoize]") {
    f.memoize();
    memoization_cache_set_size(3 * 64);
    CHECK(!finds(1));
    CHECK(!finds(2));
    CHECK(!finds(3));
    CHECK(finds(1));
    CHECK(!finds(4));  // instead of 2
    CHECK(finds(1));
    CHECK(finds(3));
    CHECK(finds(4));
    CHECK(!finds(2));  // instead of 1
    CHECK(finds(3));
    CHECK(finds(4));
    CHECK(!finds(1));
    memoization_cache_set_size(64);
    CHECK(finds(1));
    CHECK(!finds(4));
    memoization_cache_set_size(1);
    CHECK(!finds(1));
    CHECK(finds(1));  // stays until the next is stored
    CHECK(!finds(2));
    CHECK(!finds(1));
    memoization_cache_set_size(0);
    for (int i = 0; i < 100; i++)
        finds(i);
    for (int i = 0; i < 100; i++)
        CHECK(finds(i));
    memoization_cache_cleanup();
    CHECK(!finds(1));
    require_message<RuntimeError>([] { memoization_cache_set_size(-1); }, {"-1", "negative"});
}

TEST_CASE_METHOD(Row, "eviction by key", "[memoize]") {
    f.memoize(EvictionKey(key));
    key.set(7);
    CHECK(!finds(1));
    CHECK(!finds(2));
    key.set(8);
    CHECK(finds(1));  // stored under 7
    CHECK(!finds(3));
    memoization_cache_evict(9);
    CHECK(finds(3));
    memoization_cache_evict(7);
    CHECK(finds(3));
    CHECK(!finds(1));  // now under 8
    memoization_cache_evict(8);
    CHECK(!finds(3));
}

TEST_CASE_METHOD(Row, "eviction keys are unsigned numbers of 64 bits", "[memoize]") {
    f.memoize(EvictionKey(cast<int8_t>(-3)));
    CHECK(!finds(1));
    memoization_cache_evict(static_cast<uint64_t>(-3));
    CHECK(!finds(1));
}

TEST_CASE_METHOD(Row, "what has no eviction key stays", "[memoize]") {
    f.memoize();
    CHECK(!finds(1));
    memoization_cache_evict(0);
    CHECK(finds(1));
}

TEST_CASE_METHOD(Cache, "memoize_tag", "[memoize]") {
    Param<float> level("level", 0.f);
    Param<int> version("version", 0);
    ImageParam image(Int(32), 1, "image");
    Buffer<int> input(20);
    Func f("f"), out("out");
    auto run = [&](bool found) {
        Buffer<int> got = Buffer<int>(10);
        CHECK(computed([&] { out.realize(got); }) == (found ? 0 : 10));
        return got(3);
    };
    SECTION("a value that says all") {
        f(x) = pipe_memo_counted(x + memoize_tag(cast<int>(level * 4)));
        out(x) = f(x);
        f.compute_root().memoize();
        level.set(1.f);
        CHECK(run(false) == 7);
        level.set(1.2f);
        CHECK(run(true) == 7);
        level.set(1.25f);
        CHECK(run(false) == 8);
    }
    SECTION("a key for an image") {
        input.fill(1);
        image.set(input);
        Func copy("copy");
        copy(x) = image(x + version);
        f(x) = pipe_memo_counted(memoize_tag(copy(x), version));
        out(x) = f(x);
        f.compute_root().memoize();
        CHECK(run(false) == 1);
        input.fill(2);
        CHECK(run(true) == 1);  // as it was said
        version.set(1);
        CHECK(run(false) == 2);
        version.set(0);
        CHECK(run(true) == 1);
    }
    SECTION("several keys, a constant, the size of an image, and what stands outside") {
        image.set(input);
        f(x) = pipe_memo_counted(memoize_tag(cast<int>(level), version, image.dim(0).extent(), 7) +
                                 x * version);
        out(x) = f(x);
        f.compute_root().memoize();
        run(false);
        level.set(5.f);
        run(true);
        version.set(3);
        CHECK(run(false) == 14);
        image.set(Buffer<int>(30));
        run(false);
        image.set(Buffer<int>(20));
        run(true);
    }
    SECTION("where nothing is memoized it is the value") {
        f(x) = memoize_tag(cast<int>(level) + x, version);
        f.specialize(memoize_tag(version, 1) > 2).vectorize(x, 4, TailStrategy::GuardWithIf);
        out(x) = memoize_tag(f(x) + memoize_tag(version), 1) * 2;
        f.compute_root();
        version.set(5);
        level.set(2.f);
        check_sizes(out, {});
        Buffer<int> got(10), expected(10);
        out.realize(got);
        out.realize_reference(Realization(expected));
        CHECK(got(4) == 22);
        CHECK(expected(4) == 22);
    }
}

TEST_CASE_METHOD(Cache, "a constant Buffer, and sizes of images", "[memoize]") {
    Buffer<int> constant(12);
    constant.fill(3);
    ImageParam image(Int(32), 1, "image");
    Func f("f"), g("g"), out("out");
    f(x) = pipe_memo_counted(constant(clamp(x, 0, 11)) + image.dim(0).extent());
    g(x) = image(x);
    out(x) = f(x) + g(x);
    f.compute_root().memoize();
    for (auto [extent, expected] : {std::pair{10, 10}, {11, 10}, {10, 0}}) {
        Buffer<int> input(extent);
        input.fill(1);
        image.set(input);
        Buffer<int> got(10);
        CHECK(computed([&] { out.realize(got); }) == expected);
        CHECK(got(9) == 3 + extent + 1);
    }
}

TEST_CASE_METHOD(Row, "pipelines have entries of their own", "[memoize]") {
    f.memoize();
    CHECK(!finds(1));
    Func other("out");
    other(x) = f(x) + 1;
    Buffer<int> got(16);
    CHECK(computed([&] { other.realize(got); }) == 16);
    CHECK(computed([&] { other.realize(got); }) == 0);
    CHECK(finds(1));
    out.vectorize(x, 4);  // compiled anew
    CHECK(!finds(1));
    CHECK(finds(1));
}

TEST_CASE_METHOD(Row, "a Callable", "[memoize]") {
    f.memoize();
    Callable call = out.compile_to_callable({p});
    Buffer<int> got(16);
    CHECK(computed([&] { call(1, got); }) == 16);
    CHECK(computed([&] { call(1, got); }) == 0);
    CHECK(computed([&] { call(2, got); }) == 16);
    CHECK(got(3) == 6);
}

TEST_CASE_METHOD(Cache, "several threads at once", "[memoize]") {
    Func f("f"), out("out");
    Param<int> p("p");
    f(x, y) = x * p + y;
    out(x, y) = f(x, y) + f(x, y + 1);
    out.parallel(y);
    f.compute_at(out, y).memoize(EvictionKey(p));
    Callable call = out.compile_to_callable({p});
    memoization_cache_set_size(20 * 512);
    std::atomic<int> wrong{0};
    auto work = [&](int me) {
        for (int i = 0; i < 60; i++) {
            int value = (i + me) % 5;
            Buffer<int> got(64, 12);
            call(value, got);
            for (int b = 0; b < 12; b++)
                for (int a = 0; a < 64; a++)
                    wrong += got(a, b) != 2 * (a * value + b) + 1;
            if (i % 7 == 0)
                memoization_cache_evict(static_cast<uint64_t>(value));
            if (i % 23 == 0)
                memoization_cache_cleanup();
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back(work, t);
    for (std::thread &t : threads)
        t.join();
    CHECK(wrong == 0);
}

TEST_CASE_METHOD(Row, "what fails is not kept", "[memoize]") {
    f(x) += require(p < 100, 0, "p is too large");
    f.memoize();
    CHECK(!finds(1));
    p.set(100);
    Buffer<int> got(16);
    for (int i = 0; i < 3; i++)
        require_message<RuntimeError>([&] { out.realize(got); }, {"p is too large"});
    CHECK(finds(1));
    out(x) += require(p != 5, 0, "p is five");
    CHECK(!finds(4));
    p.set(5);
    require_message<RuntimeError>([&] { out.realize(got); }, {"p is five"});
    // f itself was complete.
    CHECK(computed([&] {
              require_message<RuntimeError>([&] { out.realize(got); }, {"p is five"});
          }) == 0);
    CHECK(finds(4));
}

TEST_CASE_METHOD(Row, "a handler that throws while it is computed", "[memoize]") {
    f(x) += print_when(p == 3, 0);
    f.memoize();
    JITUserContext context;
    context.handlers.custom_print = [](JITUserContext *, const char *) {
        throw std::logic_error("no printing");
    };
    p.set(3);
    Buffer<int> got(16);
    CHECK_THROWS_AS(out.realize(&context, got), std::logic_error);
    CHECK(computed([&] { CHECK_THROWS_AS(out.realize(&context, got), std::logic_error); }) == 16);
    CHECK(!finds(4));
    CHECK(finds(4));
}

TEST_CASE_METHOD(Cache, "memory that nobody has", "[memoize]") {
    Func f("f"), out("out");
    Param<int> n("n", 1);
    f(x, y) = cast<double>(x + y);
    out(x) = f(x, 0) + f(n, n);
    f.compute_root().memoize();
    Buffer<double> got(4);
    n.set(10);
    out.realize(got);
    CHECK(got(2) == 22);
    n.set(INT32_MAX - 10);
    require_message<RuntimeError>([&] { out.realize(got); }, {"out of memory", "f"});
    n.set(10);
    out.realize(got);
    CHECK(got(2) == 22);
}

TEST_CASE_METHOD(Row, "where memoize cannot be", "[memoize]") {
    auto refused = [&](Func what, const std::vector<std::string> &parts) {
        require_message<CompileError>([&] { what.realize({16}); }, parts);
    };
    f.memoize();
    SECTION("inlined") {
        f.compute_inline();
        refused(out, {"f.memoize", "inlined", "compute_root()"});
    }
    SECTION("an output") {
        refused(f, {"f.memoize", "output"});
    }
    SECTION("stored elsewhere") {
        f.compute_at(out, x).store_root();
        refused(out, {"f.memoize", "stored at root", "loop 'x' of out"});
    }
    SECTION("with memory of its own") {
        f.compute_at(out, x).hoist_storage_root();
        refused(out, {"f.memoize", "hoist_storage"});
    }
    SECTION("on the stack") {
        f.store_in(MemoryType::Stack);
        refused(out, {"f.memoize", "store_in(MemoryType::Stack)"});
    }
    SECTION("a task") {
        f.async();
        refused(out, {"f.memoize", "async"});
    }
    SECTION("in lanes") {
        out.split(x, x, xi, 4).vectorize(xi);
        f.compute_at(out, xi);
        refused(out, {"f.memoize", "vectorized loop 'xi' of out"});
    }
    SECTION("shared loops") {
        Func h("h");
        h(x) = x * 2;
        out(x) += h(x);
        h.compute_root().compute_with(f, x);
        refused(out, {"f.memoize", "'h' shares loops with 'f'"});
    }
    SECTION("what lives longer is computed inside") {
        Func in("in"), k("k"), last("last");
        in(x) = x;
        k(x) = in(x) + in(x + 1);
        last(x) = k(x) + k(x + 1);
        Var xo("xo");
        last.split(x, xo, xi, 4);
        k.compute_at(last, xo).memoize();
        in.compute_at(k, x).store_root();
        refused(last, {"in.store_at or store_root", "'k'", "memoize"});
        in.store_at(last, xo);
        Buffer<int> got(16);
        last.realize(got);
        CHECK(got(5) == 24);
    }
}

TEST_CASE_METHOD(Row, "what can be no key", "[memoize]") {
    ImageParam image(Int(32), 1, "image");
    Param<void *> pointer("pointer");
    Func g("g"), last("last");
    f.memoize();
    require_message<CompileError>([&] { memoize_tag(x + p); }, {"memoize_tag", "x"});
    require_message<CompileError>([&] { memoize_tag(x, f(0)); }, {"memoize_tag", "f(0)"});
    require_message<CompileError>([&] { memoize_tag(x, image(0)); }, {"memoize_tag", "image"});
    require_message<CompileError>([&] { f.memoize(EvictionKey(x)); }, {"f.memoize", "x"});
    require_message<CompileError>([&] { f.memoize(EvictionKey(1.5f)); },
                                  {"f.memoize", "1.5", "integer"});
    g(x) = image(x);
    last(x) = g(x);
    g.compute_root().memoize();
    require_message<CompileError>(
        [&] { last.compile_jit(); },
        {"g.memoize", "ImageParam 'image'", "memoize_tag(image(...), version)"});
    Func plain("plain"), h("h"), end("end");
    plain(x) = image(x);
    h(x) = plain(x) + 1;
    end(x) = h(x);
    h.compute_root().memoize();
    require_message<CompileError>([&] { end.compile_jit(); },
                                  {"h.memoize", "ImageParam 'image', which 'plain' reads"});
    Func far("far"), use("use");
    far(x) = x + reinterpret<int64_t>(pointer);
    use(x) = far(x);
    far.compute_root().memoize();
    require_message<CompileError>([&] { use.compile_jit(); }, {"far.memoize", "pointer 'pointer'"});
}

TEST_CASE_METHOD(Row, "how it is shown", "[memoize]") {
    std::string keyed;
    SECTION("with a key") {
        f.memoize(EvictionKey(key + 1));
        keyed = ".memoize(EvictionKey(key + uint64(1)));";
    }
    SECTION("without one") {
        f.memoize();
        keyed = ".memoize();";
    }
    CHECK(Pipeline(out).loop_nest().find("produce f memoized:") == 0);
    CHECK(Pipeline(out).schedule_source().find("f\n    .compute_root()\n    " + keyed) !=
          std::string::npos);
}

TEST_CASE_METHOD(Row, "the autoscheduler leaves it standing", "[memoize]") {
    Func free("free"), last("last");
    free(x) = f(x) * 2;
    last(x) = free(x) + free(x + 1);
    f.compute_inline().memoize();
    Pipeline pipeline(last);
    pipeline.autoschedule(get_host_target());
    Buffer<int> got(1000);
    CHECK(computed([&] { pipeline.realize(got); }) == 1001);
    CHECK(computed([&] { pipeline.realize(got); }) == 0);
    CHECK(got(7) == 2 * (7 + 8));
    CHECK(pipeline.schedule_source().find(".memoize()") != std::string::npos);
}

TEST_CASE_METHOD(Row, "traced and profiled", "[memoize]") {
    static std::string events;
    events.clear();
    f.memoize().trace_realizations();
    JITUserContext context;
    context.handlers.custom_print = [](JITUserContext *, const char *text) { events += text; };
    Buffer<int> got(16);
    out.realize(&context, got);
    CHECK(events == "Begin pipeline out()\n"
                    "Begin realization f(0, 16)\nProduce f(0, 16)\nEnd produce f(0, 16)\n"
                    "Consume f(0, 16)\nEnd consume f(0, 16)\nEnd realization f(0, 16)\n"
                    "End pipeline out()\n");
    events.clear();
    out.realize(&context, got);
    CHECK(events == "Begin pipeline out()\n"
                    "Begin realization f(0, 16)\nConsume f(0, 16)\nEnd consume f(0, 16)\n"
                    "End realization f(0, 16)\nEnd pipeline out()\n");
    Target profiled = get_host_target().with_feature(Target::Profile);
    for (int i = 0; i < 2; i++) {
        out.realize(&context, got, profiled);
        CHECK(got(3) == 4);
    }
}
