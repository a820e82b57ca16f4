// The fields of errors: one case per kind.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

struct Expected {
    std::string func, dimension, needed, given;
};

/// What `misuse` throws has these fields, and the file and line of here() where `placed`.
template <typename Error, typename Misuse>
void require_details(const Misuse &misuse, const Expected &expected, bool placed) {
    try {
        misuse();
        FAIL("nothing was thrown");
    } catch (const Error &error) {
        INFO(error.what());
        const ErrorDetails &d = error.details();
        CHECK(d.func == expected.func);
        CHECK(d.dimension == expected.dimension);
        CHECK(d.needed.text == expected.needed);
        CHECK(d.given.text == expected.given);
        if (placed)
            CHECK(d.file + ":" + std::to_string(d.line) == marked_line());
        check_details(error.what(), d);
    }
}

template <typename Misuse>
void at_run_time(const Misuse &misuse, const Expected &expected, bool placed = false) {
    require_details<RuntimeError>(misuse, expected, placed);
}
template <typename Misuse>
void in_compiling(const Misuse &misuse, const Expected &expected, bool placed = true) {
    require_details<CompileError>(misuse, expected, placed);
}

const Var x("x"), y("y");

}  // namespace

TEST_CASE("fields: an input or an output is too small", "[error][details]") {
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    here(), f(x, y) = in(x - 1, y) + in(x + 1, y);
    in.set(Buffer<uint8_t>(10, 8));
    at_run_time([&] { f.realize({10, 8}); }, {"in", "0", "-1 to 10", "0 to 9"}, true);
    try {
        f.realize({10, 9});
    } catch (const RuntimeError &error) {
        CHECK(error.details().needed.min == -1);
        CHECK(error.details().needed.max == 10);
        CHECK(error.details().given.max == 9);
    }
    Func g("g");
    here(), g(x) = x;
    g.vectorize(x, 8, TailStrategy::RoundUp);
    Buffer<int> twelve(12);
    at_run_time([&] { g.realize(twelve); }, {"g", "0", "0 to 15", "0 to 11"}, true);
    Func h("h");
    here(), h(x) = x;
    h.split(x, Var("o"), Var("i"), 8, TailStrategy::ShiftInwards);
    Buffer<int> five(5);
    at_run_time([&] { h.realize(five); }, {"h", "x", "8", "5"}, true);
}

TEST_CASE("fields: types and dimensions of Buffers", "[error][details]") {
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    here(), f(x, y) = in(x, y);
    Buffer<float> floats(4, 4);
    in.set(Buffer<uint8_t>(4, 4));
    at_run_time([&] { f.realize(floats); }, {"f", "", "uint8", "float32"}, true);
    Buffer<uint8_t> line(4);
    at_run_time([&] { f.realize(line); }, {"f", "", "2", "1"}, true);
    at_run_time([&] { f.realize({4}); }, {"f", "", "2 dimensions", "1 size"}, true);
    at_run_time([&] { f.realize({4, -3}); }, {"f", "1", "", "-3"}, true);
    at_run_time([&] { in.set(floats); },
                {"in", "", "2 dimensions of uint8", "2 dimensions of float32"});
    Realization two({Buffer<uint8_t>(4, 4), Buffer<uint8_t>(4, 4)});
    at_run_time([&] { f.realize(two); }, {"", "", "1", "2"}, true);
    in.reset();
    at_run_time([&] { f.realize({4, 4}); }, {"in", "", "", ""});
    in.set(Buffer<uint8_t>(4, 4));
    Buffer<uint8_t> far(4, 4);
    far.set_min(0, INT32_MAX);
    at_run_time([&] { f.realize(far); }, {"f", "1", "", "2147483647 to 2147483650"}, true);
}

TEST_CASE("fields: broken promises", "[error][details]") {
    ImageParam in(UInt(8), 2, "in");
    Func f("f");
    f(x, y) = in(x, y);
    in.dim(1).set_stride(64);
    in.set(Buffer<uint8_t>(10, 8));
    at_run_time([&] { f.realize({10, 8}); }, {"in", "1", "64", "10"});
    Func g("g");
    here(), g(x, y) = x + y;
    g.bound(y, 0, 5);
    at_run_time([&] { g.realize({4, 6}); }, {"g", "1", "5", "6"}, true);
    Func inner("inner"), outer("outer");
    here(), inner(x) = x;
    outer(x) = inner(x + 3);
    inner.compute_root().bound(x, 0, 6);
    at_run_time([&] { outer.realize({4}); }, {"inner", "x", "3 to 6", "0 to 5"});
    Param<int> factor("factor");
    Func split("split");
    here(), split(x) = x;
    split.split(x, Var("o"), Var("i"), factor);
    factor.set(0);
    at_run_time([&] { split.realize({4}); }, {"split", "x", "", "0"}, true);
}

TEST_CASE("fields: Params", "[error][details]") {
    Param<int> p("p", 3, 0, 10);
    Func f("f");
    f(x) = x + p;
    p.set(12);
    at_run_time([&] { f.realize({4}); }, {"p", "", "0 to 10", "12"});
    Param<uint8_t> narrow("narrow");
    at_run_time([&] { narrow.set(300); }, {"narrow", "", "uint8", "'300' (int32)"});
    Param<float> unset("unset");
    Func g("g");
    g(x) = unset;
    at_run_time([&] { g.realize({4}); }, {"unset", "", "", ""});
}

TEST_CASE("fields: memory", "[error][details]") {
    JITUserContext none;
    none.handlers.custom_malloc = [](JITUserContext *, size_t) -> void * { return nullptr; };
    none.handlers.custom_free = [](JITUserContext *, void *) {};
    Func f("f"), g("g");
    f(x) = cast<uint8_t>(x);
    g(x) = f(x) + f(x + 1);
    f.compute_root().store_in(MemoryType::Heap);
    Buffer<uint8_t> out(100000);
    try {
        g.realize(&none, out);
        FAIL("nothing was thrown");
    } catch (const RuntimeError &error) {
        CHECK(error.details().func == "f");
        REQUIRE(error.details().needed.min);
        CHECK(*error.details().needed.min >= 100001);
        CHECK(error.details().file == "details.cpp");
    }
}

TEST_CASE("fields: Callables", "[error][details]") {
    ImageParam in(UInt(8), 1, "in");
    Param<int> p("p");
    Func f("f");
    here(), f(x) = in(x) + p;
    Callable c = f.compile_to_callable({in, p});
    Buffer<uint8_t> image(4);
    Buffer<int> out(4);
    at_run_time([&] { c(image, 2.5f, out); }, {"p", "", "int32", "float32"}, true);
    at_run_time([&] { c(image, out); }, {"", "", "3 arguments", "2"}, true);
    in_compiling([&] { f.compile_to_callable({in}); }, {"p", "", "", ""}, false);
}

TEST_CASE("fields: misuse of Buffers", "[error][details]") {
    Buffer<uint8_t> b(10, 8, "picture");
    at_run_time([&] { b.crop(0, 5, 9); }, {"picture", "0", "5 to 13", "0 to 9"});
    at_run_time([&] { b.sliced(1, 8); }, {"picture", "1", "8", "0 to 7"});
    at_run_time([&] { b.as<float>(); }, {"picture", "", "float32", ""});
    at_run_time([&] { (Buffer<void, 3>(b)); }, {"picture", "", "3", "2"});
    at_run_time([&] { b.extent(2); }, {"picture", "2", "", ""});
    at_run_time([&] { (Buffer<uint8_t>(10, -8)); }, {"", "1", "", "-8"});
}

TEST_CASE("the message that a custom_error handler gets has no marks", "[error][details]") {
    static std::string told;
    JITUserContext context;
    context.handlers.custom_error = [](JITUserContext *, const char *message) { told = message; };
    ImageParam in(UInt(8), 1, "in");
    Func f("f");
    f(x) = in(x + 1);
    in.set(Buffer<uint8_t>(4));
    Buffer<uint8_t> out(4);
    f.realize(&context, out);
    CHECK(told.find("Input in is read from 1 to 4 in dimension 0, but it holds only 0 to 3.") !=
          std::string::npos);
    CHECK(told.find_first_of("\x0e\x0f") == std::string::npos);
}

TEST_CASE("fields: compile errors", "[error][details]") {
    Func f("f"), g("g"), user("user");
    RDom r(0, 10);
    here(), f(x, y) = x + y;
    in_compiling([&] { f.split(Var("z"), Var("o"), Var("i"), 4); }, {"f", "", "", ""});
    in_compiling([&] { f.bound(Var("z"), 0, 4); }, {"f", "", "", ""});
    in_compiling([&] { f.update(0); }, {"f", "", "", ""});
    in_compiling([&] { here(), user(x) = f(x); }, {"f", "", "", ""}, false);
    in_compiling([&] { here(), user(x) = g(x); }, {"g", "", "", ""});
    in_compiling([&] { here(), user(x) = r + x + y; }, {"user", "", "", ""});
    in_compiling([&] { g.realize({4}); }, {"g", "", "", ""}, false);
    in_compiling([&] { here(), f(x, y) += f(x + 1, y); }, {"f", "", "", ""});
    Expr wrong;
    here(), f(x, y) += 1;
    in_compiling([&] { wrong = Expr(1) + wrong; }, {"", "", "", ""});
}

TEST_CASE("fields: compile errors of lowering", "[error][details]") {
    Func f("f"), g("g");
    Param<int> p("p");
    here(), f(x, y) = x + y;
    f.vectorize(x);
    in_compiling([&] { f.realize({4, 4}); }, {"f", "", "", ""});
    here(), g(x) = x;
    g.unroll(x);
    in_compiling([&] { g.realize({4}); }, {"g", "", "", ""});
    Func stored("stored"), reader("reader");
    here(), stored(x) = x;
    reader(x) = stored(x) + stored(x + 1);
    stored.compute_root().store_in(MemoryType::Register);
    in_compiling([&] { reader.realize({100}); }, {"stored", "", "", ""}, false);
    Func folded("folded"), after("after");
    here(), folded(x, y) = x;
    after(x, y) = folded(x, y) + folded(x, y + 5);
    folded.store_root().compute_at(after, y).fold_storage(y, 2);
    in_compiling([&] { after.realize({8, 8}); }, {"folded", "y", "", ""});
}

TEST_CASE("fields: an unbounded access", "[error][details]") {
    Func table("table"), f("f");
    table(x) = x * x;
    here(), f(x) = table(table(x));
    table.compute_root();
    in_compiling([&] { f.realize({4}); }, {"table", "x", "", ""});
}
