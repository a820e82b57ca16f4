// What is done wrong in schedules: each message names the directive, the Func and the line of its
// definition, says why, and what to do instead. One misuse per section.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

/// a -> b -> c, where c reads a too.
struct Blur {
    Var x{"x"}, y{"y"}, xo{"xo"}, yo{"yo"}, xi{"xi"}, yi{"yi"}, t{"t"};
    Func a{"a"}, b{"b"}, c{"c"};
    std::string at_a, at_b, at_c;
    Blur() {
        at_a = line(1);
        a(x, y) = x + y;
        at_b = line(1);
        b(x, y) = a(x, y) + a(x, y + 1);
        at_c = line(1);
        c(x, y) = b(x, y) + a(x, y);
    }
    void require_at(const std::string &where, const std::function<void()> &misuse,
                    std::vector<std::string> parts) {
        parts.push_back("(" + where + ")");
        require_message<CompileError>(misuse, parts);
    }
    /// What is only found when the pipeline is compiled.
    void require_compiling(const std::string &where, std::vector<std::string> parts) {
        parts.push_back(where);
        require_message<CompileError>([&] { c.compile_jit(); }, parts);
    }
};

}  // namespace

TEST_CASE_METHOD(Blur, "split", "[error][directives]") {
    Func f("f");
    std::string where = line(1);
    f(x) = x;
    SECTION("by 0") {
        require_at(where, [&] { f.split(x, xo, xi, 0); },
                   {"f.split(x, xo, xi)", "factor is 0", "at least 1"});
    }
    SECTION("by a negative number") {
        require_at(where, [&] { f.split(x, xo, xi, -4); },
                   {"f.split(x, xo, xi)", "factor is -4", "at least 1"});
    }
    SECTION("by a float") {
        require_at(where, [&] { f.split(x, xo, xi, 1.5f); },
                   {"f.split(x, xo, xi)", "float32", "must be an integer"});
    }
    SECTION("by nothing") {
        require_at(where, [&] { f.split(x, xo, xi, Expr()); },
                   {"f.split(x, xo, xi)", "undefined Expr", "Give it a value"});
    }
    SECTION("twice") {
        f.split(x, xo, xi, 4);
        require_at(where, [&] { f.split(x, yo, yi, 2); },
                   {"f.split(x, yo, yi)", "'x' no longer exists", "split into 'xo' and 'xi'",
                    "Name one of these", "xi, xo (innermost first)"});
    }
    SECTION("of a Var of another Func") {
        require_at(where, [&] { f.split(y, yo, yi, 2); },
                   {"f.split(y, yo, yi)", "no loop 'y'", "Name one of the loops: x"});
    }
    SECTION("into loops of one name") {
        require_at(where, [&] { f.split(x, t, t, 2); },
                   {"f.split(x, t, t)", "need different names", "different Var"});
    }
    SECTION("into a name that is taken") {
        require_at(at_a, [&] { a.split(x, y, xi, 2); },
                   {"a.split(x, y, xi)", "'y' is taken by another loop", "Name another Var"});
    }
}

TEST_CASE_METHOD(Blur, "reorder, fuse, tile", "[error][directives]") {
    SECTION("reorder with a loop twice") {
        require_at(at_a, [&] { a.reorder(x, y, x); },
                   {"a.reorder(x, y, x)", "'x' is named twice", "Name each once"});
    }
    SECTION("reorder with a loop that is missing") {
        require_at(at_a, [&] { a.reorder(y, t); }, {"a.reorder(y, t)", "no loop 't'", "x, y"});
    }
    SECTION("fuse of a loop with itself") {
        require_at(at_a, [&] { a.fuse(x, x, t); },
                   {"a.fuse(x, x, t)", "with itself", "Name two loops"});
    }
    SECTION("tile whose names clash") {
        require_at(at_a, [&] { a.tile(x, y, xo, yo, xo, yi, 8, 8); },
                   {"a.split(x, xo, xo)", "different names"});
        CHECK_NOTHROW(a.tile(x, y, xo, yo, xi, yi, 8, 8));  // nothing was changed
    }
    SECTION("tile with a factor missing") {
        require_at(at_a,
                   [&] {
                       a.tile({x, y}, {xo, yo}, {xi, yi}, {8});
                   },
                   {"a.tile", "2 loops", "the same number of outer and inner names, factors"});
    }
    SECTION("rename to a name that is taken") {
        require_at(at_a, [&] { a.rename(x, y); },
                   {"a.rename(x, y)", "'y' is taken", "another Var"});
    }
    SECTION("of an update that is not there") {
        require_at(at_a, [&] { a.update().parallel(y); },
                   {"Func 'a'", "0 update definitions", "no update(0)"});
    }
}

TEST_CASE_METHOD(Blur, "vectorize, unroll, parallel", "[error][directives]") {
    SECTION("vectorize of a loop whose extent is not constant") {
        c.vectorize(x);
        require_compiling(at_c, {"vectorize loop x of c (", "extent", "not constant", "Split it"});
    }
    SECTION("unroll of a loop whose extent is not constant") {
        c.unroll(x);
        require_compiling(at_c, {"unroll loop x of c (", "extent", "not constant", "Split it"});
    }
    SECTION("unroll of a loop of an update") {
        c(x, y) += 1;
        const std::string at_update = ":" + std::to_string(__LINE__ - 1);
        c.update().unroll(x);
        require_compiling(at_update, {"unroll loop x of c.update(0) (", "not constant"});
    }
    SECTION("unroll of too many") {
        c.bound(x, 0, 100000).unroll(x);
        require_compiling(
            at_c, {"unroll loop x of c (", "100000 copies", "limit is 4096", "small constant"});
    }
    SECTION("lanes that are too many") {
        c.bound(x, 0, 4096).vectorize(x);
        require_compiling(at_c,
                          {"vectorize loop x of c (", "4096 lanes are too many", "smaller factor"});
    }
    SECTION("negative lanes") {
        require_at(at_a, [&] { a.vectorize(x, -8); },
                   {"a.vectorize(x, -8)", "factor is -8", "at least 1"});
    }
    SECTION("an RVar of the Func's update on the pure definition") {
        RDom r(0, 4, "r");
        a(r, 0) = 1;
        require_at(at_a, [&] { a.parallel(r); }, {"a.parallel(r$x)", "no loop 'r$x'", "x, y"});
    }
    SECTION("a Var of the pure definition on an update that has it not") {
        RDom r(0, 4, "r");
        a(r, 0) = 1;
        require_at(at_a, [&] { a.update().vectorize(x, 4); },
                   {"a.update(0).vectorize(x, 4)", "no loop 'x'", "r$x (innermost first)"});
    }
    SECTION("a DSP") {
        require_at(at_a, [&] { a.hexagon(x); }, {"a.hexagon(x)", "Hexagon", "Leave it out"});
    }
}

TEST_CASE_METHOD(Blur, "races", "[error][directives]") {
    RDom r(1, 9, "r");
    std::string where;
    SECTION("a scan that is parallel") {
        where = line(1);
        a(r, y) = a(r - 1, y) + 1;
        a.update().parallel(r);
        a.compute_root();
        require_compiling(where, {"a.update(0).parallel(r$x)", "access the same elements",
                                  "a(r$x - 1, y)", "rfactor()", "allow_race_conditions()"});
    }
    SECTION("a scatter that is parallel") {
        Func h("h");
        ImageParam in(UInt(8), 1, "in");
        h(x) = 0;
        where = line(1);
        h(cast<int>(in(r))) = r;
        h.update().parallel(r);
        require_message<CompileError>([&] { h.compile_jit(); },
                                      {"h.update(0).parallel(r$x)", where,
                                       "access the same elements", "allow_race_conditions()"});
    }
    SECTION("atomic() of what is not associative") {
        a(r, y) = a(r - 1, y) * 3 + 1;
        a.update().atomic().parallel(r);
        a.compute_root();
        require_compiling("directives.cpp:",
                          {"a.update(0).parallel(r$x)", "no associative operator", "atomic(true)"});
    }
    SECTION("rfactor of what is not associative") {
        a(x, y) = a(x, y) / 2 + r;
        require_message<CompileError>(
            [&] { here(), a.update().rfactor(r, t); },
            {"a.update(0).rfactor(r$x)", "@", "cannot be factored", "no associative operator"});
    }
    SECTION("rfactor of the pure definition") {
        require_message<CompileError>(
            [&] { here(), Stage(a).rfactor(r, t); },
            {"a.rfactor(r$x)", "@", "the pure definition has no RVars", "f.update().rfactor"});
    }
    SECTION("rfactor to a Var that is a dimension") {
        a(x, y) += r;
        require_message<CompileError>(
            [&] { here(), a.update().rfactor(r, x); },
            {"a.update(0).rfactor(r$x)", "@", "'x' is already a dimension", "Use another name"});
    }
    SECTION("a tail that goes beyond an RVar's range") {
        a(r, y) = 0;
        require_at(at_a, [&] { a.update().split(r, xo, xi, 4, TailStrategy::RoundUp); },
                   {"a.update(0).split", "RoundUp goes beyond", "RVar 'r$x'", "Use GuardWithIf"});
    }
    SECTION("a parallel loop that blends") {
        c.split(x, xo, xi, 8, TailStrategy::ShiftInwardsAndBlend).parallel(xo);
        require_compiling(at_c, {"c.parallel(xo)", "ShiftInwardsAndBlend", "Use GuardWithIf"});
    }
}

TEST_CASE_METHOD(Blur, "compute_at and store_at", "[error][directives]") {
    SECTION("a loop that the consumer has not") {
        b.compute_at(c, t);
        require_compiling(at_b, {"b.compute_at(c, t)", "no loop 't'", "Its loops are", "x, y"});
    }
    SECTION("a Func that is not in the pipeline") {
        Func other("other");
        other(x, y) = 0;
        b.compute_at(other, y);
        require_compiling(at_b, {"b.compute_at(other, y)", "not part of the pipeline", "a, b, c"});
    }
    SECTION("a Func that does not use it") {
        a.compute_root();
        b.compute_at(a, y);
        require_compiling(at_b, {"b.compute_at(a, y)", "'a' does not use 'b'", "that does"});
    }
    SECTION("a Func that is inlined") {
        a.compute_at(b, y);
        require_compiling(at_a, {"a.compute_at(b, y)", "'b' is inlined", "compute_root()"});
    }
    SECTION("a loop that does not enclose all uses") {
        b.compute_root();
        a.compute_at(b, y);
        require_compiling(at_a,
                          {"a.compute_at(b, y)", "also used by c at " + at_c, "compute_root()"});
    }
    SECTION("itself") {
        require_at(at_a, [&] { a.compute_at(a, x); },
                   {"a.compute_at(a, x)", "inside itself", "a Func that uses it"});
    }
    SECTION("an output") {
        Func d("d");
        d(x, y) = c(x, y);
        c.compute_at(d, y);
        require_message<CompileError>(
            [&] {
                Pipeline({c, d}).compile_jit();
            },
            {"c.compute_at", at_c, "output of the pipeline", "Leave the directive out"});
    }
    SECTION("store_at further in than compute_at") {
        b.compute_root();
        a.compute_root().store_at(c, y);
        require_compiling(at_a, {"a.store_at(c, y)", "computed at root", "further out"});
    }
    SECTION("store_root of what is inlined") {
        a.store_root();
        require_compiling(at_a, {"a.store_at or store_root", "inlined", "Give it compute_at()"});
    }
    SECTION("store_at outside a parallel loop that writes what others need") {
        a(x, y) += 1;
        a.store_root().compute_at(c, y);
        b.compute_at(c, y);
        c.parallel(y);
        require_compiling(at_a, {"a.store_root", "parallel loop 'y' of c", "inside the parallel"});
    }
    SECTION("a LoopLevel that was never set") {
        LoopLevel level;
        a.compute_at(level);
        require_compiling(at_a, {"a.compute_at(LoopLevel)", "undefined", "with set()"});
    }
    SECTION("a LoopLevel that is set too late") {
        LoopLevel level = LoopLevel::root();
        a.compute_at(level);
        c.compile_jit();
        require_message<CompileError>([&] { level.set(LoopLevel::inlined()); },
                                      {"LoopLevel::set(inlined)", "locked", "Set it before"});
    }
}

TEST_CASE_METHOD(Blur, "storage", "[error][directives]") {
    SECTION("fold_storage of an inlined Func") {
        a.fold_storage(y, 4);
        require_compiling(at_a, {"a.fold_storage(y)", "inlined", "Give it compute_root()"});
    }
    SECTION("fold_storage that is too small") {
        a.store_root().compute_at(c, y).fold_storage(y, 1);
        b.compute_at(c, y);
        require_compiling(at_a, {"fold_storage(y) of a", "1"});
    }
    SECTION("fold_storage by 0") {
        require_at(at_a, [&] { a.fold_storage(y, 0); },
                   {"a.fold_storage(y)", "extent 0", "at least 1"});
    }
    SECTION("fold_storage of a loop instead of a dimension") {
        a.split(y, yo, yi, 4);
        require_at(at_a, [&] { a.fold_storage(yi, 4); },
                   {"a.fold_storage(yi)", "no dimension 'yi'", "its dimensions: x, y"});
    }
    SECTION("ring_buffer without hoist_storage") {
        a.compute_at(c, y).ring_buffer(2);
        b.compute_at(c, y);
        require_compiling(at_a, {"a.ring_buffer", "must outlive", "hoist_storage()"});
    }
    SECTION("ring_buffer of a size that is not known") {
        Param<int> n("n");
        require_at(at_a, [&] { a.ring_buffer(n); }, {"a.ring_buffer(n)", "must be a constant"});
    }
    SECTION("vectorize of an inlined Func, which splits a loop") {
        a.vectorize(x, 4);
        require_compiling(at_a, {"a.vectorize(x)", "it is inlined", "Give it compute_root()"});
    }
    SECTION("async of an inlined Func") {
        a.async();
        require_compiling(at_a, {"a.async", "inlined", "Give it compute_root()"});
    }
    SECTION("store_in memory of another machine") {
        require_at(at_a, [&] { a.store_in(MemoryType::VTCM); },
                   {"a.store_in(MemoryType::VTCM)", "memory is not supported", "Use Auto, Heap"});
    }
    SECTION("reorder_storage with a dimension twice") {
        require_at(at_a, [&] { a.reorder_storage(x, x); },
                   {"a.reorder_storage", "'x' is named twice", "each dimension once"});
    }
    SECTION("align_storage by 0") {
        require_at(at_a, [&] { a.align_storage(x, 0); },
                   {"a.align_storage", "alignment is 0", "at least 1"});
    }
    SECTION("bound_storage that is too small") {
        a.compute_at(c, y).bound_storage(y, 1);
        b.compute_at(c, y);
        require_compiling(
            at_a, {"a.bound_storage(y)", "2 elements are needed", "only 1", "Increase the bound"});
    }
    SECTION("a storage directive of an output") {
        c.bound_storage(x, 100);
        require_compiling(at_c,
                          {"c.bound_storage(x)", "output of the pipeline", "Leave the directive"});
    }
}

TEST_CASE_METHOD(Blur, "promises and estimates", "[error][directives]") {
    SECTION("bound of a Var that is no dimension") {
        require_at(at_a, [&] { a.bound(t, 0, 4); },
                   {"a.bound(t)", "no dimension 't'", "its dimensions: x, y"});
    }
    SECTION("bound by two ends") {
        require_at(at_a, [&] { a.bound(x, 8, -4); },
                   {"a.bound(x)", "extent -4 is negative", "a min and an extent"});
    }
    SECTION("bound by a float") {
        require_at(at_a, [&] { a.bound(x, 0, 4.5f); },
                   {"a.bound", "(float32)", "must be an integer", "Give a number"});
    }
    SECTION("bound twice, to other ranges") {
        a.bound(x, 0, 5).bound(x, 0, 5).bound_extent(y, 3);
        require_at(at_a, [&] { a.bound(x, 0, 7); },
                   {"a.bound(x)", "already bounded", "min 0, extent 5", "now min 0, extent 7",
                    "Leave one"});
        require_at(at_a, [&] { a.bound_extent(x, 5); }, {"a.bound_extent(x)", "already bounded"});
        require_at(at_a, [&] { a.bound(y, 0, 3); },
                   {"a.bound(y)", "to a different range: extent 3; now min 0, extent 3"});
    }
    SECTION("memoize with two eviction keys") {
        a.compute_root().memoize(EvictionKey(1)).memoize(EvictionKey(1));
        require_message<CompileError>([&] { a.memoize(EvictionKey(2)); },
                                      {"a.memoize", "another eviction key", "Leave one"});
        require_message<CompileError>([&] { a.memoize(); }, {"a.memoize", "another"});
    }
    SECTION("estimates of fewer dimensions") {
        require_at(at_a,
                   [&] {
                       a.set_estimates({{0, 4}});
                   },
                   {"a.set_estimates", "2 dimensions (x, y)", "1 range is given", "per dimension"});
    }
    SECTION("align_bounds by a negative number") {
        require_at(at_a, [&] { a.align_bounds(x, -2); },
                   {"a.align_bounds", "modulus is -2", "at least 1"});
    }
    SECTION("specialize for a number") {
        Param<int> n("n");
        require_at(at_a, [&] { a.specialize(n); },
                   {"a.specialize", "must be a bool", "'n' (int32)"});
    }
    SECTION("specialize after specialize_fail") {
        Param<bool> fast("fast");
        a.specialize_fail("only fast");
        require_at(at_a, [&] { a.specialize(fast); },
                   {"a.specialize", "specialize_fail() must come last", "Specialize before it"});
    }
    SECTION("a prefetch of what is not read") {
        Func other("other");
        other(x, y) = 0;
        c.prefetch(other, y, y);
        require_compiling(at_c, {"c.prefetch(other, y, y)", "not part of the pipeline"});
    }
    SECTION("unscheduled() of what is scheduled") {
        a.vectorize(x, 4);
        require_at(at_a, [&] { Stage(a).unscheduled(); },
                   {"a.unscheduled", "already has directives", "Remove them, or unscheduled()"});
    }
    SECTION("eager_inline of a Func with updates") {
        a(x, y) += 1;
        require_at(at_b, [&] { b.eager_inline(a); },
                   {"b.eager_inline", "'a' has updates", "Only a Func with one pure"});
    }
}

TEST_CASE_METHOD(Blur, "compute_with", "[error][directives]") {
    SECTION("of a Func that needs the other") {
        a.compute_root();
        b.compute_root().compute_with(a, x);
        require_compiling(at_b, {"b.compute_with(a, x)", "reads 'a'", "compute_at instead"});
    }
    SECTION("of itself") {
        require_at(at_a, [&] { a.compute_with(a, x); },
                   {"a.compute_with(a, x)", "with itself", "Name another Func"});
    }
    SECTION("at different levels") {
        Func d("d"), e("e");
        d(x, y) = x;
        e(x, y) = c(x, y) + d(x, y);
        c.compute_root();
        d.compute_at(e, y).compute_with(c, x);
        require_message<CompileError>(
            [&] { e.compile_jit(); },
            {"d.compute_with(c, x)", "directives.cpp:", "different levels", "at one level"});
    }
    SECTION("with a Func without a compute level") {
        Func d("d"), e("e");
        c(x, y) += 1;
        d(x, y) = x;
        e(x, y) = c(x, y) + d(x, y);
        d.compute_root().compute_with(c, x);
        require_message<CompileError>([&] { e.compile_jit(); },
                                      {"d.compute_with(c, x)", "directives.cpp:",
                                       "root and the place where it is used", "at one level"});
    }
    SECTION("with a Func that is inlined") {
        Func d("d"), e("e");
        d(x, y) = x;
        e(x, y) = c(x, y) + d(x, y);
        d.compute_root().compute_with(c, x);
        require_message<CompileError>([&] { e.compile_jit(); },
                                      {"d.compute_with(c, x)", "directives.cpp:", "'c' is inlined",
                                       "Give it compute_root()"});
    }
}

TEST_CASE_METHOD(Blur, "directives that a second look found ignored", "[error]") {
    SECTION("memory that threads would share, of a Func without level") {
        a(x, y) += y;  // cannot be inlined
        Func d("d");
        d(x, y) = a(x, y) * 2;
        a.hoist_storage_root();
        d.parallel(y);
        require_message<CompileError>([&] { d.compile_jit(); },
                                      {"a.hoist_storage", "directives.cpp:", "parallel"});
    }
    SECTION("memory that threads of a kernel would share") {
        Func d("d");
        d(x, y) = a(x, y) * a(x, y);
        a.compute_at(d, x).hoist_storage(d, y).ring_buffer(4);
        d.gpu(y, x);
        require_message<CompileError>(
            [&] { d.compile_jit(Target("host-cuda_emulator")); },
            {"a.hoist_storage(d, y)", "directives.cpp:", "GPU loop 'x' of d", "threads"});
    }
    SECTION("memory that lanes would share") {
        a(x, y) += y;
        Func d("d");
        d(x, y) = a(x, y) * 2;
        d.split(x, xo, xi, 8).vectorize(xi);
        SECTION("of a Func without level") {
            a.hoist_storage_root();
        }
        SECTION("stored outside") {
            a.compute_at(d, xi).store_root();
        }
        require_message<CompileError>([&] { d.compile_jit(); },
                                      {"directives.cpp:", "vectorized", "lanes"});
    }
    SECTION("memory for a Func that nobody reads any more is no mistake") {
        Func t("t"), d("d");
        t(x, y) = Tuple(a(x, y), x);
        d(x, y) = t(x, y)[1];
        a.compute_root().store_in(MemoryType::Heap);
        CHECK(Buffer<int>(d.realize({3, 2}))(2, 1) == 2);
    }
    SECTION("two alignments of one dimension") {
        a.compute_root().align_bounds(x, 4, 1);
        require_message<CompileError>(
            [&] { a.align_extent(x, 32); },
            {"a.align_extent(x)", at_a, "align_bounds was already given"});
        b.compute_root().align_extent(x, 32);
        require_message<CompileError>([&] { b.align_bounds(x, 4); },
                                      {"b.align_bounds(x)", at_b, "align_extent was already given"});
    }
    SECTION("a LoopLevel that is set after compute_with took it") {
        LoopLevel level(a, y);
        b.compute_with(level);
        require_message<CompileError>([&] { level.set(LoopLevel(a, x)); },
                                      {"LoopLevel::set", "locked"});
    }
    SECTION("a ring through in()") {
        Func w = a.in();
        w.compute_root();
        require_message<CompileError>([&] { a(x, y) += w(x, y); }, {"'a'", "a cycle of Funcs"});
    }
}

TEST_CASE_METHOD(Blur, "numbers that are not the same for all coordinates", "[error][directives]") {
    const std::string uniform = "depends on coordinates";
    SECTION("split") {
        require_at(at_a, [&] { a.split(x, xo, xi, x); }, {"a.split(x, xo, xi)", uniform, "Param"});
        require_at(at_a, [&] { a.vectorize(x, b(0, 0)); }, {"a.vectorize(x", uniform});
    }
    SECTION("bound and set_estimate") {
        require_at(at_a, [&] { a.bound(x, 0, x + 1); }, {"a.bound", "'x + 1'", uniform});
        require_at(at_a, [&] { a.set_estimate(x, y, 4); }, {"a.set_estimate", "'y'", uniform});
    }
    SECTION("alignments of bounds and of storage") {
        require_at(at_a, [&] { a.align_bounds(x, y); }, {"a.align_bounds", uniform});
        require_at(at_a, [&] { a.align_storage(x, y); }, {"a.align_storage", uniform});
        require_at(at_a, [&] { a.bound_storage(x, y); }, {"a.bound_storage", uniform});
    }
    SECTION("prefetch") {
        require_at(at_c, [&] { c.prefetch(a, y, y, x); }, {"c.prefetch", "'x'", uniform});
    }
    SECTION("specialize") {
        require_at(at_a, [&] { a.specialize(x > 3); }, {"a.specialize", "'x > 3'", "Params"});
    }
    SECTION("what is promised of buffers") {
        ImageParam in(Int(32), 1, "in");
        for (int what : {0, 1, 2, 3})
            require_message<CompileError>(
                [&] {
                    auto dim = in.dim(0);
                    Expr e = a(0, 0);
                    what == 0   ? dim.set_min(e)
                    : what == 1 ? dim.set_extent(x)
                    : what == 2 ? dim.set_stride(x)
                                : dim.set_estimate(0, x);
                },
                {"ImageParam 'in' at", "dimension 0", "must not depend on coordinates"});
    }
}
