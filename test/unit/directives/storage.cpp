// Directives on the memory of a Func, and on the region that is computed.
#include "compare.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

Var x("x"), y("y"), xo("xo"), xi("xi"), yo("yo"), yi("yi");

struct Blur {
    Func f{"f"}, g{"g"};
    Blur() {
        f(x, y) = x * x + 3 * y;
        g(x, y) = f(x, y) + f(x + 1, y + 2);
    }
    std::string nest() { return Pipeline(g).loop_nest(); }
};

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE_METHOD(Blur, "align_bounds grows what is computed to a grid", "[storage]") {
    f.compute_root().vectorize(x, 8, TailStrategy::RoundUp);
    for (int remainder : {0, 1, 5}) {
        f.align_bounds(x, 8, remainder);
        check_sizes(g, {1, 6, 8, 15});
    }
    f.align_bounds(y, 4);
    f.compute_at(g, y).store_root();
    check_sizes(g, {1, 6, 8, 15});
    CHECK(contains(nest(), "x in multiples of 8"));
    CHECK(contains(Pipeline(g).schedule_source(), ".align_bounds(f_x, 8, 5)"));
}

TEST_CASE("align_bounds on an output needs a buffer that is large enough", "[storage]") {
    Func f("f");
    f(x) = x;
    f.align_bounds(x, 4, 1);
    check_equal(f, {{1, 8}});
    check_equal(f, {{-3, 4}});
    Buffer<int> eight(8);
    require_message<RuntimeError>([&] { f.realize(eight); }, {"Output f", "is written from -3"});
    Buffer<int> part = f.realize({8});
    for (int i = 0; i < 8; i++)
        CHECK(part(i) == i);
}

TEST_CASE("what is computed really is aligned", "[storage]") {
    // The update runs over the pure Var's whole, aligned range.
    Func f("f"), count("count"), g("g");
    f(x) = 1;
    g(x) = f(x);
    f.compute_root().align_extent(x, 16);
    ImageParam in(Int(32), 1, "in");
    Func h("h"), k("k");
    h(x) = in(x);
    k(x) = h(x);
    h.compute_root().align_extent(x, 16);
    GuardedBuffer image = noise<int>({{0, 20}});
    in.set(image.buffer);
    require_message<RuntimeError>([&] { k.realize({20}); }, {"in", "from 0 to 31"});
    GuardedBuffer larger = noise<int>({{0, 32}});
    in.set(larger.buffer);
    check_equal(k, {{0, 20}});
    check_equal(k, {{0, 1}});
}

TEST_CASE_METHOD(Blur, "align_extent", "[storage]") {
    f.compute_at(g, y).align_extent(x, 8).vectorize(x, 8, TailStrategy::GuardWithIf);
    check_sizes(g, {1, 7, 8, 20});
    f.store_root();
    check_sizes(g, {1, 7, 8, 20});
    CHECK(contains(Pipeline(g).schedule_source(), ".align_extent(f_x, 8)"));
}

TEST_CASE("bound_extent, at all sizes and places", "[storage]") {
    for (int n : {1, 5, 8}) {
        INFO(n);
        Func f("f"), g("g");
        f(x) = x * x;
        g(x) = f(x) + 1;
        g.split(x, xo, xi, n, TailStrategy::GuardWithIf);
        f.compute_at(g, xo).bound_extent(x, 8).vectorize(x);
        for (int width : {1, 7, 33})
            for (int min : {0, -7})
                check_equal(g, {{min, width}});
    }
}

TEST_CASE_METHOD(Blur, "bound_extent of rows", "[storage]") {
    f.compute_at(g, y).bound_extent(y, 3).unroll(y);
    check_sizes(g, {1, 7, 33});
}

TEST_CASE_METHOD(Blur, "align_storage", "[storage]") {
    f.compute_root().align_storage(x, 32);
    check_sizes(g, {1, 31, 33});
    g.realize({33, 2});
    // Rows of 34 elements take 64; 4 rows of them.
    CHECK(Pipeline(g).loop_nest() == "produce f, x aligned to 32:\n"
                                     "  for y:\n"
                                     "    for x:\n"
                                     "      f(x, y) = ...\n"
                                     "produce g:\n"
                                     "  for y:\n"
                                     "    for x:\n"
                                     "      g(x, y) = ...\n");
    Pipeline p(g);
    p.realize({33, 2});
    CHECK(p.peak_scratch_bytes() == 64 * 4 * 4);
}

TEST_CASE("rows and planes a multiple of a page apart are a little longer", "[storage]") {
    auto bytes = [](std::vector<int> size, bool said) {
        Var x("x"), y("y"), z("z");
        Func f("f"), g("g");
        f(x, y, z) = x + 1000 * y + 1000000 * z;
        g(x, y, z) = f(x, y, z) + 1;
        f.compute_root();
        if (said)
            f.align_storage(x, 1).align_storage(y, 1);
        Pipeline p(g);
        Buffer<int> out = p.realize(std::vector<int64_t>(size.begin(), size.end()));
        const auto [w, h, d] = std::array{size[0], size[1], size[2]};
        CHECK(out(w - 1, h - 1, d - 1) == w - 1 + 1000 * (h - 1) + 1000000 * (d - 1) + 1);
        CHECK(out(0, 0, d - 1) == 1000000 * (d - 1) + 1);
        return p.peak_scratch_bytes() / 4;
    };
    CHECK(bytes({1024, 3, 2}, false) == (1024 + 16) * 3 * 2);
    CHECK(bytes({64, 32, 3}, false) == 64 * 33 * 3);
    CHECK(bytes({1024, 64, 2}, false) == (1024 + 16) * 65 * 2);
    CHECK(bytes({64, 30, 3}, false) == 64 * 30 * 3);
    CHECK(bytes({512, 2, 8}, false) == 512 * 2 * 8);  // a row more would be too much
    CHECK(bytes({16, 16, 2}, false) == 16 * 16 * 2);
    CHECK(bytes({1024, 64, 2}, true) == 1024 * 64 * 2);
}

TEST_CASE_METHOD(Blur, "reorder_storage", "[storage]") {
    SECTION("at root") {
        // Columns of 4 elements take 16; 34 of them. (In rows it would be 48 x 4.)
        f.compute_root().reorder_storage(y, x).align_storage(y, 16);
        Pipeline p(g);
        p.realize({33, 2});
        CHECK(p.peak_scratch_bytes() == 34 * 16 * 4);
    }
    SECTION("in a loop") {
        f.compute_at(g, y).reorder_storage(y, x);
    }
    SECTION("of a window that slides and folds") {
        f.compute_at(g, y).store_root().reorder_storage({y, x}).fold_storage(y, 4);
    }
    SECTION("of vectors across it") {
        f.compute_root().reorder_storage(y, x).vectorize(x, 8, TailStrategy::GuardWithIf);
        g.vectorize(x, 4, TailStrategy::GuardWithIf);
    }
    check_sizes(g, {1, 7, 20});
    CHECK(contains(Pipeline(g).schedule_source(), ".reorder_storage({f_y, f_x})"));
}

TEST_CASE_METHOD(Blur, "bound_storage", "[storage]") {
    f.compute_at(g, y).bound_storage(x, 20).bound_storage(y, 3).store_in(MemoryType::Stack);
    check_sizes(g, {1, 7, 19});
    require_message<RuntimeError>(
        [&] {
            g.realize({20, 2});
        },
        {"f.bound_storage(x)", "21 elements are needed", "20"});
    f.bound_storage(y, 2);
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.bound_storage(y)", "3 elements are needed"});
}

TEST_CASE_METHOD(Blur, "storage directives need storage", "[storage]") {
    f.align_storage(x, 8);
    require_message<CompileError>([&] { g.realize({4, 4}); }, {"f.align_storage(x)", "inlined"});
    f.compute_root();
    g.bound_storage(x, 8);
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"g.bound_storage(x)", "output", "the caller"});
}

TEST_CASE_METHOD(Blur, "store_in", "[storage]") {
    g.tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    f.compute_at(g, xo);
    for (MemoryType memory : {MemoryType::Stack, MemoryType::Heap, MemoryType::Register}) {
        f.store_in(memory);
        check_sizes(g, {1, 8, 11});
        Pipeline p(g);
        p.realize({11, 5});
        CHECK((p.peak_scratch_bytes() > 0) == (memory == MemoryType::Heap));
    }
    f.compute_root();
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.store_in", "not known", "bound_storage"});
    f.store_in(MemoryType::Stack);
    check_sizes(g, {1, 8, 11});
    require_message<CompileError>([&] { f.store_in(MemoryType::VTCM); },
                                  {"f.store_in(MemoryType::VTCM)", "memory is not supported"});
}

TEST_CASE("windows of constant size in registers", "[storage]") {
    Var x("x"), y("y"), xo("xo"), xi("xi");
    Func f("f"), g("g"), out("out");
    SECTION("of a row") {
        f(x, y) = x * x + y;
        SECTION("downwards") {
            g(x, y) = f(-x, y) + f(3 - x, y);
            f.store_at(g, y).compute_at(g, x);
        }
        if (!g.defined())
            g(x, y) = f(x - 1, y) + f(x, y) + f(x + 2, y);
        SECTION("along a loop") {
            f.store_at(g, y).compute_at(g, x);
        }
        SECTION("unrolled") {
            g.split(x, xo, xi, 4).unroll(xi);
            f.store_at(g, y).compute_at(g, xi);
        }
        SECTION("unrolled, stored for as long") {
            g.split(x, xo, xi, 4, TailStrategy::GuardWithIf).unroll(xi);
            f.store_at(g, xo).compute_at(g, xi);
        }
    }
    SECTION("of rows of constant length") {
        f(x, y) = x * x + 7 * y;
        g(x, y) = f(x, y - 1) + f(x, y) + f(x, y + 1);
        g.split(x, xo, xi, 8, TailStrategy::GuardWithIf).reorder(xi, y, xo).vectorize(xi);
        f.store_at(g, xo).compute_at(g, y).bound_extent(x, 8).vectorize(x);
    }
    f.store_in(MemoryType::Register);
    out(x, y) = g(x, y);
    g.compute_root();
    Pipeline p(out);
    Buffer<int> heap = p.realize({200, 3});
    CHECK(p.peak_scratch_bytes() <= 200 * 3 * 4 + 64);
    check_sizes(out, {1, 7, 20});
}

// The memory of the iteration before is used again: what all need together is much more.
TEST_CASE("store_in(Stack) of a size that grows from iteration to iteration", "[storage]") {
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x) = x * 3;
    g(x, y) = f(x + y) + f(2 * x + y);
    f.compute_at(g, x).store_in(MemoryType::Stack);
    for (int size : {1, 7, 9000}) {
        Pipeline p(g);
        Buffer<int> out = p.realize({size, 2});
        int wrong = 0;
        out.for_each_element([&](int i, int j) { wrong += out(i, j) != 9 * i + 6 * j; });
        CHECK(wrong == 0);
        CHECK(p.peak_scratch_bytes() >= size * 4);
        CHECK(p.peak_scratch_bytes() < size * 4 + 128);
    }
    g.parallel(y);
    Buffer<int> out = g.realize({500, 40});
    CHECK(out(499, 39) == 9 * 499 + 6 * 39);
}

TEST_CASE_METHOD(Blur, "hoist_storage", "[storage]") {
    g.tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::GuardWithIf);
    SECTION("to a loop") {
        f.compute_at(g, xo).hoist_storage(g, yo);
    }
    SECTION("to the root") {
        f.compute_at(g, xo).hoist_storage_root();
    }
    SECTION("a window that slides inside") {
        f.compute_at(g, yi).store_at(g, xo).hoist_storage(LoopLevel(g, yo));
    }
    check_sizes(g, {1, 8, 11, 24});
    CHECK(contains(nest(), "hoist f"));
    CHECK(contains(Pipeline(g).schedule_source(), ".hoist_storage"));
}

TEST_CASE_METHOD(Blur, "hoisted storage is allocated once", "[storage]") {
    struct Allocations : JITUserContext {
        int count = 0;
        Allocations() {
            handlers.custom_malloc = [](JITUserContext *c, size_t bytes) -> void * {
                static_cast<Allocations *>(c)->count++;
                return std::malloc(bytes);
            };
            handlers.custom_free = [](JITUserContext *, void *p) { std::free(p); };
        }
    };
    auto allocations = [&] {
        Allocations context;
        Buffer<int> out(500, 50);
        g.realize(&context, out);
        return context.count;
    };
    f.compute_at(g, y).store_in(MemoryType::Heap);
    CHECK(allocations() == 50);
    f.hoist_storage_root();
    CHECK(allocations() == 1);
}

TEST_CASE("hoisted storage that grows with the loops in to it", "[storage]") {
    Func f("f"), g("g");
    f(x, y) = x + y;
    g(x, y) = f(x * y, y);  // row y needs (width - 1) * y + 1 elements
    f.compute_at(g, y).hoist_storage_root();
    check_equal(g, {{0, 5}, {0, 4}});
    check_equal(g, {{2, 5}, {1, 6}});
}

TEST_CASE_METHOD(Blur, "hoisting inwards, or out of a parallel loop", "[storage]") {
    f.compute_root().hoist_storage(g, y);
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.hoist_storage(g, y)", "not inside", "further out"});
    f.compute_at(g, y).hoist_storage_root();
    g.parallel(y);
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.hoist_storage_root", "parallel loop 'y'", "overwrite"});
    f.hoist_storage(LoopLevel::inlined()).store_root();
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"store_root of f (storage.cpp:", "cannot slide", "the loop g.s0.y is not serial",
         "hoist_storage"});
    f(x, y) += 1;
    require_message<CompileError>(
        [&] {
            g.realize({4, 4});
        },
        {"f.store_root", "parallel loop 'y'", "overwrite"});
}

TEST_CASE("store_at and store_root of windows that cannot slide", "[storage][error]") {
    Func f("f"), g("g");
    f(x, y) = x + 3 * y;
    std::string why;
    SECTION("in several dimensions") {
        Var both("both");
        g(x, y) = f(x, y) + f(x + 1, y + 1);
        g.fuse(x, y, both);
        f.compute_at(g, both);
        why = "in several dimensions";
    }
    SECTION("both ways") {
        g(x, y) = f(x, 2 * y - 8) + f(x, 8 - y);
        f.compute_at(g, y);
        why = "move monotonically with the loop g.s0.y";
    }
    f.store_root();
    require_message<CompileError>(
        [&] {
            g.realize({8, 8});
        },
        {"store_root of f (storage.cpp:", "cannot slide", why, "at one level", "hoist_storage"});
}

TEST_CASE_METHOD(Blur, "fold_storage", "[storage]") {
    f.compute_at(g, y).store_root();
    SECTION("as many planes as live") {
        for (int factor : {3, 4, 5, 7}) {
            f.fold_storage(y, factor);
            check_sizes(g, {1, 8, 11});
        }
        CHECK(contains(nest(), "y modulo 7"));
        Pipeline p(g);
        p.realize({999, 30});
        CHECK(p.peak_scratch_bytes() >= 1000 * 7 * 4);
        CHECK(p.peak_scratch_bytes() < 1000 * 7 * 4 + 128);
    }
    SECTION("too few") {
        f.fold_storage(y, 2);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage(y) of f", "factor 2 is too small", "3 planes"});
    }
    SECTION("a window that cannot slide") {
        g.reorder(y, x);
        f.fold_storage(x, 8);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage(x) of f", "cannot slide along x", "along y"});
        f.fold_storage(y, 8);
        g.tile(x, y, xo, yo, xi, yi, 4, 4, TailStrategy::GuardWithIf);
        f.compute_at(g, xo);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage", "cannot slide along"});
    }
    SECTION("backward") {
        f.fold_storage(y, 4, false);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage(y) of f", "moves upwards"});
    }
    SECTION("of how many planes nothing is known") {
        Func whole("whole"), reader("reader");
        whole(x, y) = x + y;
        reader(x, y) = whole(x, y) + whole(y, x);
        whole.compute_root().fold_storage(y, 4);
        require_message<CompileError>(
            [&] {
                reader.realize({4, 4});
            },
            {"fold_storage(y) of whole", "depends on sizes", "Compute it further in"});
    }
    SECTION("a factor that is no constant") {
        Param<int> n("n", 4);
        f.fold_storage(y, n);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage(y) of f", "must be a constant"});
    }
}

/// How many elements of Funcs whose stores are traced one realization computes.
int traced_stores(Func output, const std::vector<int> &sizes) {
    struct Counter : JITUserContext {
        int stores = 0;
    } counter;
    counter.handlers.custom_trace = [](JITUserContext *context, const TraceEvent *event) {
        static_cast<Counter *>(context)->stores += event->event == TraceEventCode::Store;
        return 0;
    };
    output.realize(&counter, sizes);
    return counter.stores;
}

// The consumer reads the producer mirrored: the window moves down.
struct Mirrored {
    Func f{"f"}, g{"g"};
    Mirrored() {
        f(x, y) = x * x + 3 * y;
        g(x, y) = f(x, 2 - y) + f(x + 1, -y);
        f.compute_at(g, y).store_root();
    }
    /// How many elements of f are computed for an output of one column.
    int evaluations(int height) {
        f.trace_stores();
        return traced_stores(g, {1, height});
    }
};

// Each level of a pyramid is made of rows y / 2 and one neighbor, above or below, of the next.
TEST_CASE("windows of an upsampling slide, level by level", "[storage]") {
    const int levels = 4;
    std::vector<Func> f;
    for (int l = 0; l < levels; l++)
        f.emplace_back("level_" + std::to_string(l));
    f.back()(x, y) = 100 * x + y;
    for (int l = levels - 1; l-- > 0;)
        f[l](x, y) = 3 * f[l + 1](x, y / 2) + f[l + 1](x, y / 2 - 1 + y % 2 * 2);
    Func output("output");
    output(x, y) = f[0](x, y) + 1;
    SECTION("over all rows") {
        for (Func stage : f)
            stage.store_root().compute_at(output, y);
        check_sizes(output, {1, 2, 7, 33});
    }
    SECTION("in strips") {
        output.split(y, yo, yi, 16).parallel(yo);
        for (Func stage : f)
            stage.store_at(output, yo).compute_at(output, yi);
        check_sizes(output, {1, 2, 7, 33});
    }
    SECTION("each row is computed once") {
        for (Func stage : f) {
            stage.store_root().compute_at(output, y);
            stage.trace_stores();
        }
        // rows 0 .. 63, -1 .. 32, and, one more at each end, -2 .. 17 and -2 .. 9
        CHECK(traced_stores(output, {1, 64}) == 64 + 34 + 20 + 12);
    }
}

// The loop over one row of g, in each row of h, does not stand in the way.
TEST_CASE("a window slides over the loop around its consumer", "[storage]") {
    Func f("f"), g("g"), h("h");
    f(x, y) = x * x + 3 * y;
    g(x, y) = f(x, y) + f(x, y - 1);
    h(x, y) = g(x, y) + x;
    g.compute_at(h, y);
    SECTION("from root") {
        f.store_root().compute_at(g, y);
        check_sizes(h, {1, 2, 7, 16});
        f.trace_stores();
        CHECK(traced_stores(h, {10, 10}) == 110);
    }
    SECTION("from inside of strips, and with what it reads") {
        Func first("first"), second("second"), last("last");
        first(x, y) = f(x, y) + f(x, y + 1);
        second(x, y) = 2 * first(x, y - 1) + first(x, y);
        last(x, y) = second(x, y) + x;
        last.split(y, yo, yi, 5, TailStrategy::GuardWithIf);
        second.compute_at(last, yi);
        first.store_at(last, yo).compute_at(second, y);
        f.store_at(last, yo).compute_at(second, y);
        check_sizes(last, {1, 2, 7, 16});
        f.trace_stores();
        CHECK(traced_stores(last, {10, 10}) == 2 * 10 * 7);
    }
    SECTION("in one dimension") {
        Func a("a"), b("b"), c("c");
        a(x) = x * x;
        b(x) = a(x) + a(x - 1);
        c(x) = b(x) * 3;
        b.compute_at(c, x);
        a.store_root().compute_at(b, x);
        Buffer<int> out = c.realize({20}), reference = c.realize_reference({20});
        for (int i = 0; i < 20; i++)
            CHECK(out(i) == reference(i));
        a.trace_stores();
        CHECK(traced_stores(c, {20}) == 21);
    }
}

TEST_CASE("the window of a Func with updates", "[storage]") {
    Func f("f"), g("g");
    RDom r(-1, 3, "r");
    f(x, y) = x + y;
    g(x, y) = f(x, y - 1) + f(x, y) + f(x + 1, y + 1);
    const char *why = nullptr;
    SECTION("slides where they stay in its rows") {
        f(x, y) += (x + r) * y;
        f(x, y) = f(x, y) * f(x, y) + 1;
        g.reorder(x, y);
        f.compute_at(g, y).store_root();
        check_sizes(g, {1, 2, 7, 16});
        f.trace_stores();
        // 12 rows of 11 elements: once, three times, and once
        CHECK(traced_stores(g, {10, 10}) == 12 * 11 * (1 + 3 + 1));
    }
    SECTION("and folds") {
        f(x, y) += (x + r) * y;
        f.compute_at(g, y).store_root().fold_storage(y, 3);
        check_sizes(g, {1, 2, 7, 16});
    }
    SECTION("does not slide where loops of an update round up") {
        f(x, y) += (x + r) * y;
        f.update().split(y, yo, yi, 4, TailStrategy::RoundUp);
        f.compute_at(g, y).store_root();
        check_sizes(g, {1, 2, 7, 16});
    }
    SECTION("in tasks") {
        f(x, y) += (x + r) * y;
        f.compute_at(g, y).store_root().async();
        check_sizes(g, {1, 2, 7, 16});
    }
    SECTION("cannot slide where they store chosen rows") {
        f(x, r) += f(x, r - 1);
        why = "store at computed coordinates along y";
    }
    if (why) {
        f.compute_at(g, y).store_root();
        require_message<CompileError>(
            [&] {
                g.realize({8, 8});
            },
            {"store_root of f (storage.cpp:", "cannot slide", why, "at one level"});
    }
}

TEST_CASE_METHOD(Mirrored, "a window that moves downwards", "[storage]") {
    SECTION("keeps four rows") {
        check_sizes(g, {1, 2, 7, 16});
        Pipeline p(g);
        p.realize({15, 100});
        CHECK(p.peak_scratch_bytes() == 4 * 16 * 4);
    }
    SECTION("folded as the user says") {
        for (int factor : {3, 4, 5, 8}) {
            f.fold_storage(y, factor, false);
            check_sizes(g, {1, 2, 7, 16});
        }
    }
    SECTION("folded backward while it runs ahead") {
        f.fold_storage(y, 8, false).async();
        check_sizes(g, {1, 2, 7, 16});
    }
    SECTION("is not folded forward") {
        f.fold_storage(y, 8);
        require_message<CompileError>(
            [&] {
                g.realize({4, 4});
            },
            {"fold_storage(y) of f", "moves downwards", "`false`"});
    }
    SECTION("in splits, behind another window") {
        Func h("h");
        h(x, y) = g(x, -y) + g(x, 1 - y);
        g.compute_at(h, yi).store_at(h, yo);
        f.compute_at(h, yi).store_at(h, yo);
        h.split(y, yo, yi, 8, TailStrategy::GuardWithIf);
        check_sizes(h, {1, 2, 7, 16});
    }
}

TEST_CASE_METHOD(Mirrored, "a window that moves downwards computes each row once", "[storage]") {
    CHECK(evaluations(10) == 2 * (10 + 2));  // g reads two columns of f
}

// Two derivatives share a loop behind a window of gray, in strips that shift inwards: the hand
// schedule of Harris. All three windows have constant heights, so the strip's 64 rows are never
// stored whole.
TEST_CASE("a window behind a window folds", "[storage]") {
    Var yu("yu");
    Func gray("gray"), dx("dx"), dy("dy"), out("out");
    gray(x, y) = x * x + 3 * y;
    dx(x, y) = gray(x + 1, y - 1) + gray(x, y + 1);
    dy(x, y) = gray(x, y - 1) - gray(x, y + 1);
    out(x, y) = dx(x, y - 1) + dx(x, y + 1) + dy(x, y - 1) + dy(x, y + 1);
    out.split(y, yo, yi, 32, TailStrategy::ShiftInwards)
        .split(yi, yi, yu, 2)
        .reorder(yu, x, yi, yo)
        .unroll(yu);
    gray.store_at(out, yo).compute_at(out, yi);
    dx.store_at(out, yo).compute_at(out, yi);
    dy.store_at(out, yo).compute_at(out, yi).compute_with(dx, x);
    for (int height : {32, 33, 70})
        check_equal(out, {{-3, 5}, {2, height}});
    Pipeline p(out);
    p.realize({8, 64});
    // rows of gray are one longer; an allocation takes whole lines of 64 bytes
    CHECK(p.peak_scratch_bytes() == (4 * 9 * 8 + 32) + 4 * 8 * 4 + 4 * 8 * 4);
}
