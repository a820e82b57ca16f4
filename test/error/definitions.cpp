// What is done wrong in definitions: each message says what, where (file and line), why, and what
// to do instead. One misuse per section.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {
Var x("x"), y("y"), z("z");
}

TEST_CASE("Funcs before their definition", "[error][definitions]") {
    Func g("g");
    std::string declared = line(1);
    Func f("f");
    SECTION("called") {
        require_message<CompileError>(
            [&] { here(), g(x) = f(x); },
            {"Func 'f' is used", "@", "before it is defined", "Define it first"});
    }
    SECTION("realized") {
        require_message<CompileError>([&] { f.realize({4}); },
                                      {"Func 'f'", declared, "no definition", "Give it one"});
    }
    SECTION("scheduled") {
        require_message<CompileError>([&] { f.vectorize(x, 8); },
                                      {"Func 'f'", declared, "scheduled before it is defined",
                                       "Write its definition before"});
    }
    SECTION("bounded") {
        require_message<CompileError>([&] { f.bound(x, 0, 4); },
                                      {"f.bound(x)", declared, "define the Func first"});
    }
    SECTION("asked for its type") {
        require_message<CompileError>(
            [&] { f.type(); }, {"Func 'f'", declared, "no definition yet", "Define it first"});
    }
    SECTION("asked for its value") {
        require_message<CompileError>(
            [&] { f.value(); }, {"Func 'f'", declared, "no definition yet", "Define it first"});
    }
    SECTION("asked for its output buffer") {
        require_message<CompileError>(
            [&] { f.output_buffer(); },
            {"Func 'f'", declared, "no definition yet", "Define it first"});
    }
    SECTION("wrapped") {
        g(x) = x;
        require_message<CompileError>([&] { here(), f.in(g); },
                                      {"f.in(g)", "@", "define the Func first"});
    }
    SECTION("it calls itself") {
        require_message<CompileError>([&] { here(), f(x) = f(x - 1) + 1; },
                                      {"Func 'f'", "@", "before it is defined"});
    }
    SECTION("one without a name") {
        Func unnamed;
        require_message<CompileError>([&] { here(), g(x) = unnamed(x); },
                                      {"Func '" + unnamed.name() + "'", "@"});
    }
}

TEST_CASE("numbers of coordinates", "[error][definitions]") {
    std::string defined = line(2);
    Func f("f"), g("g");
    f(x, y) = x + y;
    SECTION("too few in a call") {
        require_message<CompileError>([&] { here(), g(x) = f(x); },
                                      {"Func 'f'", "2 dimensions (x, y)", "1 argument at", "@",
                                       "Give one coordinate per dimension"});
    }
    SECTION("too many in a call, five and more") {
        require_message<CompileError>([&] { here(), g(x) = f(x, x, x, x, x); },
                                      {"Func 'f'", "5 arguments", "@", "one coordinate per"});
    }
    SECTION("too few on the left of an update") {
        require_message<CompileError>([&] { here(), f(x) = 1; },
                                      {"update 0 of Func 'f'", "@", "1 argument",
                                       "2 dimensions (x, y)", "Give one coordinate per dimension"});
    }
    SECTION("an image") {
        ImageParam in(UInt(8), 2, "in");
        require_message<CompileError>(
            [&] { here(), g(x) = in(x); },
            {"Image 'in'", "2 dimensions", "1 argument at", "@", "Give one coordinate per"});
    }
    SECTION("a Buffer") {
        Buffer<int> table(4, 4, "table");
        require_message<CompileError>(
            [&] { here(), g(x) = table(x); },
            {"Image 'table'", "2 dimensions", "1 argument at", "@", "Give one coordinate per"});
    }
    SECTION("a declared number is not kept") {
        Func declared(Int(32), 2, "declared");
        require_message<CompileError>(
            [&] { here(), declared(x) = 1; },
            {"Func 'declared'", "@", "1 dimension,", "declared with 2", "Use as many Vars"});
    }
    SECTION("two placeholders") {
        require_message<CompileError>([&] { here(), g(_, _) = 1; },
                                      {"'g'", "@", "'_' twice", "once"});
    }
}

TEST_CASE("coordinates", "[error][definitions]") {
    Func f("f"), g("g");
    f(x) = x;
    SECTION("a float in a call of a Func") {
        require_message<CompileError>(
            [&] { here(), g(x) = f(x / 2.0f); },
            {"Coordinate 0 of the call of 'f'", "@", "float32", "integers", "cast<int>"});
    }
    SECTION("a float in a call of an image") {
        ImageParam in(UInt(8), 1, "in");
        require_message<CompileError>(
            [&] { here(), g(x) = in(x * 0.5f); },
            {"Coordinate 0 of the call of image 'in'", "@", "float32", "integers", "cast<int>"});
    }
    SECTION("a float in a call of a Buffer") {
        Buffer<int> table(4, 4, "table");
        require_message<CompileError>(
            [&] { here(), g(x) = table(x, x * 0.5f); },
            {"Coordinate 1 of the call of image 'table'", "@", "float32", "integers", "cast<int>"});
    }
    SECTION("an undefined one") {
        Expr none;
        require_message<CompileError>([&] { here(), g(x) = f(none); },
                                      {"Coordinate 0 of the call of 'f'", "@", "undefined"});
    }
    SECTION("an expression on the left of a pure definition") {
        require_message<CompileError>([&] { here(), g(x + 1) = 1; },
                                      {"Func 'g'", "@", "'x + 1' is not a Var", "for updates"});
    }
    SECTION("a number on the left of a pure definition") {
        require_message<CompileError>([&] { here(), g(0) = 1; },
                                      {"Func 'g'", "@", "'0' is not a Var", "for updates"});
    }
    SECTION("one Var twice") {
        require_message<CompileError>(
            [&] { here(), g(x, x) = 1; },
            {"Func 'g'", "@", "'x' is used for two arguments", "another"});
    }
}

TEST_CASE("Vars that are nowhere", "[error][definitions]") {
    Func f("f");
    SECTION("in a pure definition") {
        require_message<CompileError>([&] { here(), f(x) = x + y; },
                                      {"Func 'f'", "@", "Var 'y'", "not one of the arguments (x)"});
    }
    SECTION("in an update") {
        f(x, y) = 0;
        require_message<CompileError>(
            [&] { here(), f(x, 0) = y; },
            {"update 0 of Func 'f'", "@", "Var 'y'", "not an argument on the left", "(x, y)"});
    }
    SECTION("in another place of the left side than in the pure definition") {
        f(x, y) = 0;
        require_message<CompileError>([&] { here(), f(y, x) = 1; },
                                      {"update 0 of Func 'f'", "@",
                                       "at its "
                                       "position in the pure definition"});
    }
    SECTION("an implicit one without _ on the left") {
        ImageParam in(UInt(8), 2, "in");
        require_message<CompileError>([&] { here(), f(x) = in(_); },
                                      {"Func 'f'", "@", "'_0'", "'_' on the left stands for"});
    }
}

TEST_CASE("types of definitions", "[error][definitions]") {
    Func f("f");
    f(x) = cast<uint8_t>(x);
    SECTION("an update of another type") {
        require_message<CompileError>(
            [&] { here(), f(x) = cast<float>(x); },
            {"update 0 of Func 'f'", "@", "'float32(x)' (float32)", "type uint8", "cast<...>()"});
    }
    SECTION("+= that makes it wider") {
        require_message<CompileError>([&] { here(), f(x) += 1.5f; },
                                      {"update 0 of Func 'f'", "@", "float32", "uint8", "cast"});
    }
    SECTION("a declared type is not kept") {
        Func g(UInt(8), 1, "g");
        require_message<CompileError>([&] { here(), g(x) = x; },
                                      {"Func 'g'", "@", "int32", "declared with uint8", "Cast"});
    }
    SECTION("an undefined value") {
        Func g("g");
        Expr none;
        require_message<CompileError>([&] { here(), g(x) = none; },
                                      {"Func 'g'", "@", "undefined Expr", "Give it a value"});
    }
}

TEST_CASE("Tuples", "[error][definitions]") {
    Func f("f"), g("g");
    f(x) = Tuple(x, x + 1);
    SECTION("taken for one value") {
        require_message<CompileError>([&] { here(), g(x) = f(x) + 1; },
                                      {"Func 'f'", "2 values", "@", "Pick one with [i]"});
    }
    SECTION("an element that is not there") {
        require_message<CompileError>([&] { here(), g(x) = f(x)[2]; },
                                      {"Func 'f'", "2 values, numbered from 0", "no value 2", "@"});
    }
    SECTION("an update of another size") {
        require_message<CompileError>(
            [&] { here(), f(x) = Tuple(x, x, x); },
            {"update 0 of Func 'f'", "@", "3 values", "the Func has 2", "Use a Tuple of as many"});
    }
    SECTION("one value added to several") {
        require_message<CompileError>([&] { here(), f(x) += 1; },
                                      {"Func 'f'", "2 values", "+= is given 1", "@", "Tuple"});
    }
    SECTION("select of sizes that differ") {
        require_message<CompileError>(
            [&] { here(), g(x) = select(x > 0, Tuple(f(x)), Tuple(x, x, x)); },
            {"select", "@", "Tuples of 2 and 3 values", "must be equal", "all its values"});
    }
    SECTION("mux of nothing") {
        require_message<CompileError>([&] { g(x) = mux(x, std::vector<Expr>()); },
                                      {"mux", "at or after", "empty list", "Pass values"});
    }
    SECTION("type() of several") {
        std::string defined = line();
        require_message<CompileError>(
            [&] { f.type(); }, {"Func 'f'", "definitions.cpp:", "a Tuple of values", "types()"});
    }
    SECTION("output_buffer() of several") {
        require_message<CompileError>(
            [&] { f.output_buffer(); },
            {"Func 'f'", "definitions.cpp:", "a Tuple of values", "use output_buffers()"});
    }
}

TEST_CASE("updates", "[error][definitions]") {
    Func f("f"), g("g");
    f(x) = x;
    SECTION("a Func that reads it further along the same Var") {
        require_message<CompileError>(
            [&] { here(), f(x) = f(x - 1) + 1; },
            {"update 0 of Func 'f'", "@", "'x - 1'", "the Var 'x'", "Only an RVar"});
    }
    SECTION("a ring of two") {
        g(x) = f(x) + 1;
        require_message<CompileError>(
            [&] { here(), f(x) += g(x); },
            {"update 0 of Func 'f'", "@", "reads Func 'g'", "a cycle", "Write the update before"});
    }
    SECTION("that is not there") {
        require_message<CompileError>(
            [&] { f.update(0); },
            {"Func 'f'", "definitions.cpp:", "0 update definitions", "no update(0)"});
    }
    SECTION("of a wrapper") {
        g(x) = f(x);
        Func w = f.in(g);
        require_message<CompileError>([&] { here(), w(x) += 1; },
                                      {"@", "a wrapper made by in()", "Update the Func that"});
    }
    SECTION("of what was cloned") {
        g(x) = f(x);
        std::string cloned = line(1);
        Func copy = f.clone_in(g);
        require_message<CompileError>(
            [&] { here(), f(x) += 1; },
            {"Func 'f'", "@", "clone_in() at " + cloned, "Define the Func completely first"});
    }
    SECTION("scatter in a pure definition") {
        require_message<CompileError>([&] { here(), g(x) = scatter(1, 2); },
                                      {"Func 'g'", "@", "scatter()", "for updates"});
    }
    SECTION("a clone for a Func that does not call it") {
        g(x) = x;
        require_message<CompileError>(
            [&] {
                f.in(g);
                g.realize({4});
            },
            {"f.in(g)", line(-3u), "does not call 'f'", "Name a Func whose definition calls it"});
    }
}

TEST_CASE("RDoms", "[error][definitions]") {
    Func f("f");
    std::string declared = line(1);
    RDom r(0, 8, "r"), s(0, 5, 0, 6, "s");
    SECTION("an RVar in a pure definition") {
        require_message<CompileError>([&] { here(), f(x) = x + r; },
                                      {"Func 'f'", "@", "RDom 'r'", "pure definition", "sum()"});
    }
    SECTION("an RVar as argument of a pure definition") {
        require_message<CompileError>(
            [&] { here(), f(r) = 0; },
            {"Func 'f'", "@", "'r$x' is an RVar", "takes Vars", "for updates"});
    }
    SECTION("two of them in one update") {
        f(x) = 0;
        require_message<CompileError>([&] { here(), f(x) += r + s.x; },
                                      {"update 0 of Func 'f'", "@", "two RDoms, 'r' and 's'",
                                       "give it the dimensions of both"});
    }
    SECTION("several in one sum") {
        require_message<CompileError>([&] { here(), f(x) = sum(r + s.x); },
                                      {"sum(", "@", "several RDoms", "as the first argument"});
    }
    SECTION("of a Buffer that is too far out") {
        Buffer<uint8_t> far(UInt(8), nullptr, {BufferDim{int64_t(1) << 32, 3, 1}});
        require_message<CompileError>(
            [&] { here(), RDom(far); },
            {"dimension 0 of RDom", "@", "4294967296", "32-bit integers", "set_min()"});
        require_message<CompileError>(
            [&] { here(), BoundaryConditions::repeat_edge(far); },
            {"dimension 0 of BoundaryConditions::repeat_edge", "@", "4294967296", "set_min()"});
    }
    SECTION("of a Buffer that is too large") {
        Buffer<uint8_t> large(UInt(8), nullptr, {BufferDim{0, (int64_t(1) << 32) + 3, 1}});
        require_message<CompileError>([&] { here(), RDom(large); },
                                      {"dimension 0 of RDom", "@", "4294967299", "take a part"});
    }
    SECTION("none in a sum") {
        require_message<CompileError>([&] { here(), f(x) = sum(x + 1); },
                                      {"sum(x + 1)", "@", "no RVar", "nothing to reduce over"});
    }
    SECTION("a range of a Var") {
        require_message<CompileError>([&] { here(), RDom(0, x, "bad"); },
                                      {"extent of dimension 0 of RDom 'bad'", "@", "'x'",
                                       "constants, Params", "Use where()"});
    }
    SECTION("a range of floats") {
        require_message<CompileError>([&] { here(), RDom(0, 10.5f, "bad"); },
                                      {"RDom 'bad'", "@", "float32", "integers", "cast<int>"});
    }
    SECTION("no ranges") {
        require_message<CompileError>([&] { here(), RDom(Region(), "bad"); },
                                      {"RDom 'bad'", "@", "empty list", "Give it a min"});
    }
    SECTION("a dimension that is not there") {
        require_message<CompileError>(
            [&] { r[1]; },
            {"RDom 'r'", declared, "1 dimension, numbered from 0", "no dimension 1"});
    }
    SECTION("two dimensions taken for one RVar") {
        require_message<CompileError>(
            [&] { Expr e = s; }, {"RDom 's'", declared, "2 dimensions", "used as one RVar", "s.x"});
    }
    SECTION("where() after its use") {
        f(x) = 0;
        f(x) += r;
        require_message<CompileError>([&] { here(), r.where(r > 2); },
                                      {"RDom 'r' at " + declared, "where()", "@",
                                       "after the RDom was used", "Call it before"});
    }
    SECTION("where() of a number") {
        require_message<CompileError>(
            [&] { here(), r.where(r + 1); },
            {"RDom 'r'", "@", "takes a bool", "'r$x + 1' (int32)", "x != 0"});
    }
    SECTION("one that was never given ranges") {
        RDom none;
        require_message<CompileError>([&] { none.where(x > 0); },
                                      {"undefined RDom", "at or after", "Give it ranges"});
    }
    SECTION("an RVar without RDom") {
        require_message<CompileError>([&] { f(x) = RVar("loop") + x; },
                                      {"RVar 'loop'", "at or after", "does not belong to an RDom",
                                       "use the RVar of an RDom"});
    }
    SECTION("a sum into a Func that is defined") {
        std::string defined = line(1);
        f(x) = x;
        require_message<CompileError>(
            [&] { sum(cast<int>(r), f); },
            {"sum(..., f)", "Func 'f'", defined, "already has a definition", "Pass a new Func"});
    }
}
