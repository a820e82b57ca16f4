#include "lower/flatten.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "language/freeze.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x"), y("y");

/// The loops, which name Funcs of the pipeline, over flat memory.
std::string flattened(const Func &output, const std::string &text, const Types &types = {},
                      const std::vector<ir::KnownStride> &strides = {}) {
    const language::Frozen frozen = language::freeze({output});
    const ir::Stmt flat = lower::flatten(parse_stmt(text, types), frozen.graph, frozen.schedule,
                                         get_host_target(), strides);
    return ir::to_string(ir::simplify(flat));
}

}  // namespace

TEST_CASE("flatten: a store and a load, whose indices count from the mins") {
    Func f("flat_f"), g("flat_g");
    g(x, y) = cast<float>(x + y);
    f(x, y) = g(x, y + 1);
    g.compute_root();
    CHECK(flattened(f, "flat_f(x, y) = flat_g(x, y + 1)\n", {{"flat_g", Float(32)}}) ==
          "flat_f[flat_f.stride.0 * (int64(x) - int64(flat_f.min.0)) + flat_f.stride.1 * (int64(y) "
          "- int64(flat_f.min.1))] = flat_g[flat_g.stride.0 * (int64(x) - int64(flat_g.min.0)) + "
          "flat_g.stride.1 * (int64(y) - int64(flat_g.min.1) + int64(1))]\n");
    CHECK(flattened(f, "flat_f(x, y) = flat_g(x, y + 1)\n", {{"flat_g", Float(32)}},
                    {{"flat_f", 0, 1}}) ==
          "flat_f[int64(x) + flat_f.stride.1 * (int64(y) - int64(flat_f.min.1)) - "
          "int64(flat_f.min.0)] = flat_g[flat_g.stride.0 * (int64(x) - int64(flat_g.min.0)) + "
          "flat_g.stride.1 * (int64(y) - int64(flat_g.min.1) + int64(1))]\n");
}

TEST_CASE("flatten: storage becomes an allocation, padded unless its strides are harmless") {
    Func f("flat_a"), g("flat_b");
    g(x, y) = cast<float>(x + y);
    f(x, y) = g(x, y);
    g.compute_root();
    const std::string text = "realize flat_b([m, m + n), [0, 4)) of float32 {\n"
                             "  produce flat_b {\n"
                             "    flat_b(m, 2) = 1.0f\n"
                             "  }\n"
                             "}\n";
    CHECK(flattened(f, text) ==
          "let flat_b.extent.0 = n + select(int64(n) % int64(1024) == int64(0), 16, 0)\n"
          "allocate flat_b[float32 * flat_b.extent.0 * 4] {\n"
          "  produce flat_b {\n"
          "    flat_b[int64(flat_b.extent.0) * int64(2)] = 1.0f\n"
          "  }\n"
          "}\n");
    const std::string small = "realize flat_b([m, m + 8), [0, 4)) of float32 in stack {\n"
                              "  produce flat_b {\n"
                              "    flat_b(m + 1, 2) = 1.0f\n"
                              "  }\n"
                              "}\n";
    CHECK(flattened(f, small) == "allocate flat_b[float32 * 8 * 4] in stack {\n"
                                 "  produce flat_b {\n"
                                 "    flat_b[17] = 1.0f\n"
                                 "  }\n"
                                 "}\n");
}

TEST_CASE("flatten: dimensions lie in the order of reorder_storage") {
    Func f("flat_c"), g("flat_d");
    g(x, y) = cast<float>(x + y);
    f(x, y) = g(x, y);
    g.compute_root().reorder_storage(y, x);
    CHECK(flattened(f, "realize flat_d([0, 8), [0, 4)) of float32 {\n"
                       "  produce flat_d {\n"
                       "    flat_d(x, y) = 1.0f\n"
                       "  }\n"
                       "}\n") == "allocate flat_d[float32 * 4 * 8] {\n"
                                 "  produce flat_d {\n"
                                 "    flat_d[x * 4 + y] = 1.0f\n"
                                 "  }\n"
                                 "}\n");
}

TEST_CASE("flatten: a Tuple has one buffer for each element, stored after all that read it") {
    Func f("flat_t");
    f(x) = Tuple(x, cast<float>(x));
    const std::string place = "[flat_t.0.stride.0 * (int64(x) - int64(flat_t.0.min.0))]";
    const std::string second =
        "flat_t.1[flat_t.1.stride.0 * (int64(x) - int64(flat_t.1.min.0))] = 1.0f\n";
    CHECK(flattened(f, "flat_t(x) = (x, 1.0f)\n") == "flat_t.0" + place + " = x\n" + second);
    CHECK(flattened(f, "flat_t(x) = (flat_t(x)[0] + 1, 1.0f)\n", {{"flat_t", Int(32)}}) ==
          "let flat_t.value.0 = flat_t.0" + place + " + 1\nflat_t.0" + place +
              " = flat_t.value.0\n" + second);
}

TEST_CASE("flatten: what depends on undef is not stored") {
    Func f("flat_u");
    f(x) = undef<int>();
    CHECK(flattened(f, "flat_u(x) = undef()\n").empty());
    CHECK(flattened(f, "flat_u(x) = select(x < 3, 1, undef())\n") ==
          "if x < 3 {\n"
          "  flat_u[flat_u.stride.0 * (int64(x) - int64(flat_u.min.0))] = 1\n"
          "}\n");
}
