#include "lower/lifetimes.h"

#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "support/require_message.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

/// `to`[0] = `from`[0]
Stmt copy(const std::string &to, const std::string &from) {
    return make_store(to, number(0), load(from, number(0)));
}

Stmt allocate(const std::string &name, Stmt body) {
    return make_allocate(name, Int(32), {number(8)}, MemoryType::Auto, std::move(body));
}

std::string ended(const Stmt &s) {
    return ir::to_string(lower::end_lifetimes(s));
}

}  // namespace

TEST_CASE("lifetimes: of a chain of stages, two are in memory at a time") {
    Stmt chain = allocate(
        "a",
        make_block({copy("a", "in"),
                    allocate("b", make_block({copy("b", "a"),
                                              allocate("c", make_block({copy("c", "b"),
                                                                        copy("out", "c")}))}))}));
    CHECK(ended(chain) == R"(allocate a[int32 * 8] {
  a[0] = in[0]
  allocate b[int32 * 8] {
    b[0] = a[0]
    free a
    allocate c[int32 * 8] {
      c[0] = b[0]
      free b
      out[0] = c[0]
    }
  }
}
)");
}

TEST_CASE("lifetimes: what a loop or a branch uses is used until that ends") {
    Stmt loop = make_for("i", number(0), number(2), LoopKind::Serial,
                         make_block({copy("b", "a"), copy("b", "in")}));
    Stmt branch = make_if(less(var("w"), number(3)), copy("b", "in"), copy("b", "a"));
    for (const Stmt &part : {loop, branch}) {
        std::string text = ended(allocate("a", make_block({part, copy("out", "in")})));
        INFO(text);
        size_t free = text.find("free a");
        REQUIRE(free != std::string::npos);
        CHECK(free > text.find("  }\n"));
        CHECK(free < text.find("out[0]"));
        CHECK(text.find("free", free + 1) == std::string::npos);
    }
}

TEST_CASE("lifetimes: a loop's own memory ends in each iteration") {
    std::string text = ended(make_for(
        "i", number(0), number(2), LoopKind::Serial,
        allocate("a", make_block({copy("a", "in"), copy("out", "a"), copy("out", "in")}))));
    CHECK(text.find("out[0] = a[0]\n    free a\n    out[0] = in[0]") != std::string::npos);
}

TEST_CASE("lifetimes: what is read where a name is bound") {
    SECTION("the value of a let is the last that needs it") {
        std::string text = ended(allocate(
            "a", make_block({copy("a", "in"), make_let("v", load("a", number(1)),
                                                       make_store("out", number(0), var("v")))})));
        CHECK(text.find("let v = a[1]\n  free a\n") != std::string::npos);
    }
    SECTION("a pointer may be to it") {
        Expr pointer =
            make_call(Handle(), intrinsic::address_of, {load("a", number(0))}, CallKind::Intrinsic);
        std::string text = ended(allocate(
            "a",
            make_block({make_let("p", pointer, make_block({copy("out", "in"), copy("out", "in")})),
                        copy("out", "in")})));
        INFO(text);
        CHECK(text.find("free a") > text.find("out[0] = in[0]\n    out[0] = in[0]"));
        CHECK(text.find("free a") != std::string::npos);
    }
    SECTION("the size of other memory") {
        Stmt sized =
            make_allocate("b", Int(32), {load("a", number(0))}, MemoryType::Auto, copy("out", "b"));
        std::string text = ended(allocate("a", make_block({copy("a", "in"), sized})));
        CHECK(text.find("allocate b[int32 * a[0]] {\n    free a\n") != std::string::npos);
    }
}

TEST_CASE("lifetimes: the same node twice") {
    Stmt both = copy("b", "a");
    CHECK(ended(allocate("a", make_block({both, copy("out", "b"), both, copy("out", "b")}))) ==
          "allocate a[int32 * 8] {\n  b[0] = a[0]\n  out[0] = b[0]\n  b[0] = a[0]\n  free a\n"
          "  out[0] = b[0]\n}\n");
}

TEST_CASE("lifetimes: nothing to say where it is used to the end, or not at all") {
    for (const Stmt &s : {allocate("a", make_block({copy("a", "in"), copy("out", "a")})),
                          allocate("a", copy("out", "a")), copy("out", "in")})
        CHECK(lower::end_lifetimes(s).same_as(s));
}

TEST_CASE("lifetimes: who uses what is free is found out") {
    Stmt late = make_block({copy("a", "in"), make_free("a"), copy("out", "a")});
    Stmt twice = make_block({make_free("a"), make_free("a")});
    VerifyOptions options;
    options.any_buffer = options.any_free_variable = true;
    require_message<InternalError>([&] { verify(allocate("a", late), options); },
                                   {"buffer a is free already"});
    require_message<InternalError>([&] { verify(allocate("a", twice), options); },
                                   {"nothing to free"});
}

TEST_CASE("lifetimes: random programs compute the same") {
    int ends = 0;
    for (uint32_t seed = 1; seed <= 600; seed++) {
        LoopProgram program = random_loops(seed, {.vectorized = true, .rich_bodies = true});
        Stmt now = lower::end_lifetimes(program.body);
        ends += !now.same_as(program.body);
        INFO("seed " << seed << "\n" << program.body << "=>\n" << now);
        for (auto [w, h] : {std::pair{0, 2}, {1, 1}, {19, 5}})
            REQUIRE(run(program, program.body, w, h) == run(program, now, w, h));
    }
    CHECK(ends > 20);
}
