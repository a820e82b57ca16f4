// C functions that fail or are not found, and what an extern stage cannot have.
#include "support/everywhere.h"
#include "support/require_message.h"
#include "unit/language/extern_functions.h"

using namespace Pipe;
using namespace extern_functions;

namespace {

Var x("x"), y("y");

}  // namespace

TEST_CASE("a C function that fails", "[language][extern]") {
    for (int in_query : {0, 1}) {
        Func in = ramp("in"), bad("bad"), out("out");
        bad.define_extern("pipe_extern_fails", {in, in_query, -42}, Int(32), {x, y});
        out(x, y) = bad(x, y);
        for (int how = 0; how < 2; how++) {
            if (how == 1)
                bad.compute_at(out, y), out.parallel(y);
            require_message<RuntimeError>(
                [&] {
                    out.realize({30, 30});
                },
                {"bad", "extern_errors.cpp:", "'pipe_extern_fails'", "returned -42"});
        }
        require_message<RuntimeError>(
            [&] {
                out.realize_reference({3, 3});
            },
            {"bad", "'pipe_extern_fails'", "returned -42"});
    }
}

TEST_CASE("C functions by address", "[language][extern]") {
    Func in = ramp("in"), doubled("doubled"), out("out");
    doubled.define_extern("pipe_extern_a_lambda", {in}, Int(32), {x, y});
    out(x, y) = doubled(x, y);
    require_message<CompileError>(
        [&] {
            out.realize({3, 3});
        },
        {"doubled", "extern_errors.cpp:", "'pipe_extern_a_lambda'", "-rdynamic",
         "set_jit_externs"});
    require_message<CompileError>(
        [&] {
            out.realize_reference({3, 3});
        },
        {"'pipe_extern_a_lambda'"});
    Pipeline p(out);
    int (*function)(RawBuffer *, RawBuffer *) = [](RawBuffer *a, RawBuffer *b) {
        if (!b->is_bounds_query())
            for_each(b, [&](int64_t i, int64_t j) { at(b, i, j) = 2 * at(a, i, j); });
        return 0;
    };
    p.set_jit_externs({{"pipe_extern_a_lambda", JITExtern(function)}});
    CHECK(p.get_jit_externs().size() == 1);
    CHECK(Buffer<int>(p.realize({5, 4})[0])(4, 3) == 2 * source(4, 3));
    // What it takes is now known.
    Func wrong("wrong");
    wrong.define_extern("pipe_extern_a_lambda", {in, 3.f}, Int(32), {x, y});
    require_message<CompileError>(
        [&] {
            wrong.realize({3, 3});
        },
        {"wrong", "takes (a pointer, a pointer)", "(a pointer, float32, a pointer)"});
    int (*other)(RawBuffer *) = [](RawBuffer *) { return 0; };
    require_message<CompileError>(
        [&] {
            p.set_jit_externs({{"pipe_extern_a_lambda", JITExtern(other)}});
        },
        {"pipe_extern_a_lambda", "declared twice"});
    p.set_jit_externs({{"pipe_extern_float", JITExtern(pipe_extern_float)}});
    Func no_int("no_int");
    no_int.define_extern("pipe_extern_float", {}, Int(32), {x, y});
    require_message<CompileError>([&] { no_int.realize({3, 3}); }, {"no_int", "returns float32"});
}

TEST_CASE("what an extern stage cannot have", "[language][extern]") {
    Func in = ramp("in"), e("e"), out("out");
    Param<int> p("p");
    auto define = [&](Func f, const std::vector<ExternFuncArgument> &args) {
        f.define_extern("pipe_extern_flip", args, Int(32), {x, y});
    };
    require_message<CompileError>(
        [&] { define(Func("f"), {in(x, y)}); },
        {"f.define_extern", "extern_errors.cpp:", "argument 1", "without coordinates"});
    require_message<CompileError>(
        [&] {
            define(Func("f"), {in, x + 1});
        },
        {"argument 2", "depends on coordinates"});
    require_message<CompileError>([&] { define(Func("f"), {Func("g")}); },
                                  {"argument 1", "'g'", "not defined"});
    require_message<CompileError>([&] { define(Func("f"), {Expr()}); },
                                  {"argument 1", "undefined"});
    require_message<CompileError>([&] { define(in, {in}); },
                                  {"in.define_extern", "defined already"});
    require_message<CompileError>(
        [&] { Func("f").define_extern("g", {in}, Int(32), 2, NameMangling::CPlusPlus); },
        {"extern \"C\""});
    require_message<CompileError>(
        [&] { Func("f").define_extern("g", {in}, Int(32), 2, NameMangling::C, DeviceAPI::CUDA); },
        {"host"});
    require_message<CompileError>([&] { Func("f").define_extern("g", {in}, Int(32), -1); }, {"-1"});
    require_message<CompileError>(
        [&] { Func(Float(32), 2, "f").define_extern("g", {in}, Int(32), 2); },
        {"int32", "float32"});
    define(e, {in});
    out(x, y) = e(x, y);
    CHECK(e.is_extern());
    CHECK_FALSE(in.is_extern());
    CHECK(e.extern_function_name() == "pipe_extern_flip");
    CHECK_THROWS_AS(in.extern_function_name(), CompileError);
    std::string name = "'pipe_extern_flip'";
    require_message<CompileError>([&] { e(x, y) += 1; }, {"update 0 of Func 'e'", name, "cannot have updates"});
    require_message<CompileError>([&] { e.split(x, x, Var("xi"), 4); },
                                  {"e.split", name, "no loops"});
    require_message<CompileError>([&] { e.vectorize(x, 4); }, {"e.vectorize", name, "no loops"});
    require_message<CompileError>([&] { e.parallel(y); }, {"e.parallel", name, "no loops"});
    require_message<CompileError>([&] { e.reorder(y, x); }, {"e.reorder", name});
    require_message<CompileError>([&] { e.specialize(p > 3); }, {"e.specialize", name});
    require_message<CompileError>([&] { e.atomic(); }, {"e.atomic", name});
    require_message<CompileError>([&] { e.allow_race_conditions(); },
                                  {"e.allow_race_conditions", name});
    require_message<CompileError>([&] { e.compute_with(out, y); }, {"e.compute_with", name});
    require_message<CompileError>([&] { e.compute_inline(); },
                                  {"e.compute_inline", name, "compute_at"});
    require_message<CompileError>([&] { e.value(); }, {"'e'", "value()"});
    require_message<CompileError>([&] { out.eager_inline(e); }, {"'e'", "extern stage"});
    require_message<CompileError>([&] { e.eager_inline(in); }, {"e.eager_inline", "stored"});
    auto rejects = [&](auto &&schedule, const std::vector<std::string> &parts) {
        Func i = ramp("i"), f("f"), g("g");
        define(f, {i});
        g(x, y) = f(x, y);
        schedule(i, f, g);
        require_message<CompileError>([&] { g.realize({8, 8}); }, parts);
    };
    rejects([](Func &, Func &f, Func &g) { f.compute_at(g, y), f.fold_storage(y, 4).store_root(); },
            {"f.fold_storage(y)", "C function"});
    rejects([](Func &i, Func &, Func &) { i.compute_root().fold_storage(y, 4); },
            {"i.fold_storage(y)", "C function"});
    rejects([](Func &, Func &f, Func &) { f.trace_stores(); }, {"f.trace_stores", "C function"});
    rejects([](Func &, Func &f, Func &g) { f.compute_at(g, x), g.vectorize(x); },
            {"f.compute_at", "'x' of g", "vectorized"});
    rejects([](Func &i, Func &f, Func &) { i.compute_at(f, x); },
            {"i.compute_at(f, x)", "no loop"});
}
