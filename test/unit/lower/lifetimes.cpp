#include "lower/lifetimes.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"
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

/// In a, the lines "free .." are those that the same statements without them get.
void check_ends(const std::string &text) {
    std::string without = text;
    for (size_t at = without.find("free "); at != std::string::npos; at = without.find("free ")) {
        const size_t begin = without.rfind('\n', at) + 1;
        without.erase(begin, without.find('\n', at) + 1 - begin);
    }
    auto in_a = [](const std::string &body) { return around("allocate a[int32 * 8]", body); };
    CHECK(ended(parse_stmt(in_a(without))) == in_a(text));
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

TEST_CASE("lifetimes: loads, stores, and prefetches use memory") {
    check_ends("out[0] = a[0]\nfree a\nout[1] = in[1]\n");
    check_ends("a[0] = in[0]\nfree a\nout[1] = in[1]\n");
    check_ends("a[0] = in[0]\nprefetch a(1)\nfree a\nout[1] = in[1]\n");
    check_ends("out[a[0]] = in[0]\nfree a\nout[1] = in[1]\n");
    check_ends("out[0] = in[0] if a[0] < 3\nfree a\nout[1] = in[1]\n");
    check_ends("evaluate a[0] + 1\nfree a\nout[1] = in[1]\n");
}

TEST_CASE("lifetimes: the body of a let, of storage or of a consumer goes on in the sequence") {
    check_ends("let v = a[1]\nfree a\nout[0] = v\n");
    check_ends("let v = in[1]\nout[0] = a[v]\nfree a\nout[1] = v\n");
    check_ends("consume b {\n  out[0] = a[0]\n  free a\n  out[1] = in[1]\n}\n");
    check_ends("allocate b[int32 * a[0]] {\n  free a\n  b[0] = in[0]\n  out[0] = b[0]\n}\n");
    check_ends("{\n  let v = in[1]\n  out[0] = a[v]\n  free a\n  out[1] = v\n}\nout[2] = in[2]\n");
}

TEST_CASE(
    "lifetimes: what repeats, may be left out, or is done by another thread uses it as a whole") {
    for (const char *head :
         {"for i in [0, 2)", "for i in [0, 2) parallel", "if p < 3", "produce b", "exclusive b",
          "fork b {\n  in[0] = 1\n} and", "if p < 3 {\n  in[0] = 1\n} else",
          "launch b blocks (1, 1, 1) threads (8, 1, 1) shared int64(0)",
          "memoize b[int32] of (8) by (p) {\n  in[0] = 1\n} then"})
        check_ends(around(head, "out[0] = a[0]\nout[1] = in[1]\n") + "free a\nout[2] = in[2]\n");
    check_ends("if a[0] < 3 {\n  out[0] = in[0]\n}\nfree a\nout[1] = in[1]\n");
    check_ends("for i in [0, a[0]) {\n  out[i] = in[i]\n}\nfree a\nout[1] = in[1]\n");
}

TEST_CASE("lifetimes: several end where the last statement uses them all") {
    check_ends("allocate b[int32 * 8] {\n"
               "  a[0] = in[0]\n"
               "  b[0] = in[1]\n"
               "  out[0] = a[0] + b[0]\n"
               "  free b\n"
               "  free a\n"
               "  out[1] = in[1]\n"
               "}\n");
    // A name that is used again is that of other memory.
    check_ends("allocate b[int32 * 8] {\n"
               "  b[0] = a[1]\n"
               "  free a\n"
               "  out[0] = b[0]\n"
               "}\n"
               "allocate b[int32 * 8] {\n"
               "  b[0] = in[1]\n"
               "  free b\n"
               "  out[0] = in[0]\n"
               "}\n");
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
