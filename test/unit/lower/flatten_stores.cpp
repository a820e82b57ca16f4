// flatten: stores of several elements and atomic ones, storage that a Func shares with an input, and C functions.
#include "lower/flatten.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x");

std::string flattened(const Func &output, const ir::Stmt &s,
                      const std::vector<ir::KnownStride> &strides = {},
                      const std::vector<ir::InPlace> &in_place = {}) {
    const language::Frozen frozen = language::freeze({output});
    const ir::Stmt flat = lower::flatten(s, frozen.graph, frozen.schedule,
                                         Target("x86-64-linux-avx2"), strides, in_place);
    return ir::to_string(ir::simplify(flat));
}

/// What is made of `body` in storage of 8 elements of the Func, whose indices are their coordinates. Both name it F.
std::string stored(const Func &f, std::string body, const std::string &types) {
    auto replace = [](std::string &text, const std::string &from, const std::string &to) {
        for (size_t at = text.find(from); at != std::string::npos; at = text.find(from))
            text.replace(at, from.size(), to);
    };
    const std::string name = f.name();
    replace(body, "F(", name + "(");
    const std::string text = around("realize " + name + "([0, 8)) of " + types, body);
    std::string result = flattened(f, parse_stmt(text, {{name, Int(32)}}));
    replace(result, name, "F");
    return result;
}

std::string stored(const std::string &body) {
    Func f("one");
    f(x) = x;
    return stored(f, body, "int32");
}
void check(const std::string &body, const std::string &expected) {
    CHECK(stored(body) == around("allocate F[int32 * 8]", expected));
}
void check_tuple(const std::string &body, const std::string &expected) {
    Func f("two");
    f(x) = Tuple(x, x + 1);
    CHECK(stored(f, body, "int32 int32") ==
          around("allocate F.1[int32 * 8]", around("allocate F.0[int32 * 8]", expected)));
}

}  // namespace

TEST_CASE(
    "flatten: an atomic update of one element, under a condition or not, is an atomic store") {
    check("atomic F(x) = F(x) + 1\n", "atomic F[x] = F[x] + 1\n");
    check("atomic F(x) = other[F(y)] + 1\n", "exclusive F {\n  F[x] = other[F[y]] + 1\n}\n");
    check("atomic F(x) = select(x < 3, F(x) + 1, undef())\n",
          "if x < 3 {\n  atomic F[x] = F[x] + 1\n}\n");
    check("atomic F(x) = F(x) + other[x + 1]\n", "atomic F[x] = F[x] + other[x + 1]\n");
}

TEST_CASE(
    "flatten: an atomic update that reads other elements, or in its condition, is exclusive") {
    check("atomic F(x) = F(x + 1) + 1\n", "exclusive F {\n  F[x] = F[x + 1] + 1\n}\n");
    check("atomic F(F(0)) = 1\n", "exclusive F {\n  F[F[0]] = 1\n}\n");
    check("atomic F(x) = select(F(x) < 3, F(x) + 1, undef())\n",
          "exclusive F {\n  if F[x] < 3 {\n    F[x] = F[x] + 1\n  }\n}\n");
    check("atomic F(x) = select(x < 3, F(x + 1), undef())\n",
          "exclusive F {\n  if x < 3 {\n    F[x] = F[x + 1]\n  }\n}\n");
    require_message<CompileError>([] { stored("atomic F(x) = require(x < 3, F(x + 1), \"x\")\n"); },
                                  {"one", ".atomic", "require() cannot be used"});
    check("atomic F(x) = print(\"x\", F(x + 1))\n",
          "exclusive F {\n  F[x] = print(\"x\", F[x + 1])\n}\n");
    check("atomic F(x) = require(x < 3, F(x), \"x\")\n",
          "atomic F[x] = require(x < 3, F[x], \"x\")\n");
}

TEST_CASE("flatten: an atomic update of a Tuple is one per value if none needs another") {
    check_tuple("atomic F(x) = (F(x) + 1, F(x)[1] + 2)\n",
                "atomic F.0[x] = F.0[x] + 1\natomic F.1[x] = F.1[x] + 2\n");
    check_tuple("atomic F(x) = (F(x)[1], 2)\n", "exclusive F {\n"
                                                "  let F.value.0 = F.1[x]\n"
                                                "  F.0[x] = F.value.0\n"
                                                "  F.1[x] = 2\n"
                                                "}\n");
    check_tuple("atomic F(x) = (1, select(F(x) < 3, 2, undef()))\n", "exclusive F {\n"
                                                                     "  let F.if.2 = F.0[x] < 3\n"
                                                                     "  F.0[x] = 1\n"
                                                                     "  if F.if.2 {\n"
                                                                     "    F.1[x] = 2\n"
                                                                     "  }\n"
                                                                     "}\n");
    check_tuple("atomic F(other[0]) = (other[1], 2)\n",
                "atomic F.0[other[0]] = other[1]\natomic F.1[other[0]] = 2\n");
    check_tuple("atomic F(F(0)) = (1, 2)\n", "exclusive F {\n"
                                             "  let F.at.1 = F.0[0]\n"
                                             "  let F.at.3 = F.0[0]\n"
                                             "  F.0[F.at.1] = 1\n"
                                             "  F.1[F.at.3] = 2\n"
                                             "}\n");
}

TEST_CASE("flatten: of several stores, all is read before anything is written") {
    check_tuple("F(x) = (F(x)[1], F(x))\n", "let F.value.0 = F.1[x]\n"
                                            "let F.value.1 = F.0[x]\n"
                                            "F.0[x] = F.value.0\n"
                                            "F.1[x] = F.value.1\n");
    check_tuple("F(F(0)) = (1, 2)\n", "let F.at.1 = F.0[0]\n"
                                      "let F.at.3 = F.0[0]\n"
                                      "F.0[F.at.1] = 1\n"
                                      "F.1[F.at.3] = 2\n");
    check("F(F(0)) = 1\n", "F[F[0]] = 1\n");
    check("F(x) = select(F(x) < 3, 1, undef())\n", "if F[x] < 3 {\n  F[x] = 1\n}\n");
}

TEST_CASE(
    "flatten: a scatter is several stores, each with its part of the coordinates and values") {
    check("F(scatter_gather(x, y)) = scatter_gather(F(y), F(x)) + 1\n", "let F.value.0 = F[y] + 1\n"
                                                                        "let F.value.1 = F[x] + 1\n"
                                                                        "F[x] = F.value.0\n"
                                                                        "F[y] = F.value.1\n");
    check("atomic F(scatter_gather(x, y)) = 1\n", "exclusive F {\n  F[x] = 1\n  F[y] = 1\n}\n");
}

TEST_CASE("flatten: a Func in the place of an input reads itself") {
    ImageParam in(Int(32), 1, "place_in"), other(Int(32), 1, "place_other");
    Func f("place_f");
    f(x) = in(x) + other(x);
    const Expr at = parse_expr("x");
    auto load = [&](const char *image, Type type = Int(32)) {
        return ir::make_call(type, image, {at}, ir::CallKind::Image);
    };
    auto provide = [&](const Expr &value) { return ir::make_provide("place_f", {at}, {value}); };
    auto now = [&](const ir::Stmt &s, const ir::InPlace &pair) {
        return flattened(f, s, {}, {pair});
    };
    auto element = [](const std::string &buffer) {
        return buffer + "[" + buffer + ".stride.0 * (int64(x) - int64(" + buffer + ".min.0))]";
    };
    const std::string self = element("place_f"), input = element("place_in");
    const ir::InPlace same{"place_f", "place_in", true}, near{"place_f", "place_in", false},
        of_another{"place_g", "place_in", true};
    CHECK(now(provide(load("place_in")), same) == self + " = " + self + "\n");
    CHECK(now(provide(load("place_other")), same) == self + " = " + element("place_other") + "\n");
    CHECK(now(provide(load("place_in")), near) == self + " = " + input + "\n");
    CHECK(now(provide(load("place_in")), of_another) == self + " = " + input + "\n");
    CHECK(now(provide(load("place_in", UInt(32))), same) ==
          self + " = reinterpret<uint32>(" + self + ")\n");
    // What stands in its production reads it, too; what stands outside does not, whoever shares the nodes.
    const Expr shared = load("place_in");
    const ir::Stmt use = ir::make_store("used", at, shared);
    CHECK(now(ir::make_block({use, ir::make_produce("place_f", use), use}), same) ==
          "used[x] = " + input + "\n" + around("produce place_f", "used[x] = " + self + "\n") +
              "used[x] = " + input + "\n");
}

TEST_CASE("flatten: a part of a Func or image for a C function is its address, element type and "
          "strides") {
    ImageParam in(UInt(8), 2, "raw_in");
    Func f("raw_f"), g("raw_g");
    g(x) = Tuple(x, cast<float>(x));
    f(x) = g(x)[0] + in(x, x);
    g.compute_root();
    auto part = [&](const char *name, const std::vector<std::string> &box, ir::CallKind kind,
                    int element) {
        std::vector<Expr> args;
        for (const std::string &e : box)
            args.push_back(parse_expr(e));
        const Expr call = ir::make_call(Handle(), name, args, kind, element);
        return flattened(f, ir::make_let("p", call, parse_stmt("evaluate print(\"p\", 1)\n")),
                         {{"raw_in", 0, 1}});
    };
    auto bound = [](const std::string &value) {
        return "let p = raw_buffer(" + value + ")\nevaluate print(\"p\", 1)\n";
    };
    CHECK(part("raw_g", {"m", "8", "m"}, ir::CallKind::Func, 1) ==
          bound("0.0f, address_of(raw_g.1[raw_g.1.stride.0 * (int64(m) - int64(raw_g.1.min.0))]), "
                "m, 8, raw_g.1.stride.0"));
    CHECK(part("raw_in", {"m", "8", "n", "4", "m", "n"}, ir::CallKind::Image, 0) ==
          bound("uint8(0), address_of(raw_in[int64(m) + raw_in.stride.1 * (int64(n) - "
                "int64(raw_in.min.1)) - int64(raw_in.min.0)]), m, 8, int64(1), n, 4, "
                "raw_in.stride.1"));
}
