#include "lower/flatten.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <pipe/pipe.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "language/freeze.h"
#include "support/parse_ir.h"
#include "support/require_message.h"
#include "unit/lower/nest_text.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Var x("x"), y("y");

/// The loops, which name Funcs of the pipeline, over flat memory.
std::string flattened(const Func &output, const ir::Stmt &s,
                      const std::vector<ir::KnownStride> &strides = {},
                      const std::vector<ir::InPlace> &in_place = {}) {
    const language::Frozen frozen = language::freeze({output});
    const ir::Stmt flat = lower::flatten(s, frozen.graph, frozen.schedule,
                                         Target("x86-64-linux-avx2"), strides, in_place);
    return ir::to_string(ir::simplify(flat));
}
std::string flattened(const Func &output, const std::string &text, const Types &types = {},
                      const std::vector<ir::KnownStride> &strides = {}) {
    return flattened(output, parse_stmt(text, types), strides);
}

/// Storage of 8 elements, whose indices are their coordinates.
std::string realize(const std::string &func, const std::string &body,
                    const std::string &types = "int32") {
    return around("realize " + func + "([0, 8)) of " + types, body);
}
std::string allocate(const std::string &buffer, const std::string &body) {
    return around("allocate " + buffer + "[int32 * 8]", body);
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

TEST_CASE("flatten: coordinates, values and predicates are flattened, too") {
    Func f("flat_p"), g("flat_q");
    g(x) = x;
    f(x) = g(x);
    g.compute_root();
    CHECK(flattened(f, realize("flat_q", "flat_q(flat_q(1)) = flat_q(2) if flat_q(3) < 4\n"),
                    {{"flat_q", Int(32)}}) ==
          allocate("flat_q", "flat_q[flat_q[1]] = flat_q[2] if flat_q[3] < 4\n"));
}

TEST_CASE("flatten: images are buffers of the caller") {
    ImageParam in(Int(32), 1, "flat_in");
    Func f("flat_i");
    f(x) = in(x);
    const Expr load = ir::make_call(Int(32), "flat_in", {parse_expr("x + 1")}, ir::CallKind::Image);
    CHECK(flattened(f, ir::make_provide("flat_i", {parse_expr("x")}, {load}),
                    {{"flat_i", 0, 1}, {"flat_in", 0, 2}}) ==
          "flat_i[int64(x) - int64(flat_i.min.0)] = "
          "flat_in[(int64(x) - int64(flat_in.min.0)) * int64(2) + int64(2)]\n");
}

TEST_CASE("flatten: a name has the storage that it has where it stands") {
    Func f("flat_o"), g("flat_r");
    g(x) = x;
    f(x) = g(x);
    g.compute_root();
    // Its loads are one node.
    const ir::Stmt use = parse_stmt("flat_o(x) = flat_r(x)\n", {{"flat_r", Int(32)}});
    auto realized = [&](int from) {
        return ir::make_realize("flat_r", {Int(32)},
                                {ir::make_int(Int(32), from), ir::make_int(Int(32), 8)},
                                MemoryType::Auto, use);
    };
    const std::string stored = "flat_o[int64(x) - int64(flat_o.min.0)] = ",
                      outside = stored + "flat_r[int64(x) - int64(flat_r.min.0)]\n";
    CHECK(flattened(f, ir::make_block({use, realized(0), realized(2), use}),
                    {{"flat_o", 0, 1}, {"flat_r", 0, 1}}) ==
          outside + allocate("flat_r", stored + "flat_r[x]\n") +
              allocate("flat_r", stored + "flat_r[x - 2]\n") + outside);
}

TEST_CASE("flatten: dimensions without an order of their own follow in the Func's; then copies") {
    Func f("flat_s"), g("flat_v");
    const Var z("z");
    g(x, y, z) = x;
    f(x, y, z) = g(x, y, z);
    g.compute_root().reorder_storage(z, y);
    CHECK(flattened(f, "realize flat_v([0, 8), [0, 4), [0, 2), [0, 3)) of int32 {\n"
                       "  flat_v(x, y, 1, 2) = 1\n"
                       "}\n") == "allocate flat_v[int32 * 2 * 4 * 8 * 3] {\n"
                                 "  flat_v[x * 8 + y * 2 + 129] = 1\n"
                                 "}\n");
}

TEST_CASE("flatten: rows whose starts share a set of the cache are padded") {
    Func f("flat_w"), g("flat_x");
    g(x, y) = x;
    f(x, y) = g(x, y);
    g.compute_root();
    auto allocation = [&](const std::string &box, const Func &out, const std::string &around = "") {
        const std::string text = "realize flat_x(" + box + ") of int32 {\n  flat_x(0, 1) = 1\n}\n";
        const std::string now =
            flattened(out, around.empty() ? text : around + " {\n" + indented(text) + "}\n");
        INFO(now);
        const size_t begin = now.find("[int32 * ");
        REQUIRE(begin != std::string::npos);
        return now.substr(begin + 9, now.find(']', begin) - begin - 9);
    };
    CHECK(allocation("[0, 1024), [0, 4)", f) == "1040 * 4");
    CHECK(allocation("[0, 1000), [0, 4)", f) == "1000 * 4");
    CHECK(allocation("[0, 512), [0, 4)", f) == "512 * 4");
    // The outermost dimension needs no padding, and arrays of kernels lie in no cache.
    CHECK(allocation("[0, 8), [0, 1024)", f) == "8 * 1024");
    CHECK(allocation("[0, 1024), [0, 4)", f, "for x in [0, 8) gpu_block") == "1024 * 4");
    CHECK(allocation("[0, 1024), [0, 4)", f, "for x in [0, 8) parallel") == "1040 * 4");
    // Rows of rows have a row more, if they are many.
    CHECK(allocation("[0, 8), [0, 128), [0, 3)", f) == "8 * 129 * 3");
    CHECK(allocation("[0, 128), [0, 8), [0, 3)", f) == "128 * 8 * 3");
    // The user has said how large it is.
    g.bound_storage(x, 1024);
    CHECK(allocation("[0, 1024), [0, 4)", f) == "1024 * 4");
}

TEST_CASE("flatten: in a kernel is what stands in its outermost loop") {
    Func f("flat_w"), g("flat_x");
    g(x, y) = x;
    f(x, y) = g(x, y);
    g.compute_root();
    const std::string text = "realize flat_x([0, 1024), [0, 4)) of int32 {\n"
                             "  flat_x(0, 0) = 1\n"
                             "}\n",
                      thread = "for x in [0, 8) gpu_thread {\n  flat_w(x, 0) = 1\n}\n";
    const std::string now =
        flattened(f, "for y in [0, 8) gpu_block {\n" + indented(thread + text) + "}\n" + text);
    INFO(now);
    CHECK(now.find("flat_x[int32 * 1024 * 4]") != std::string::npos);
    CHECK(now.find("flat_x[int32 * 1040 * 4]") > now.find("flat_x[int32 * 1024 * 4]"));
    CHECK(now.find("flat_x[int32 * 1040 * 4]") != std::string::npos);
}

TEST_CASE("flatten: indices are int32 in allocations that are known to be small") {
    Func f("flat_w"), g("flat_x");
    g(x, y) = x;
    f(x, y) = g(x, y);
    g.compute_root();
    auto is_narrow = [&](const std::string &box) {
        const std::string now =
            flattened(f, "realize flat_x(" + box + ") of int32 {\n  flat_x(x, y) = 1\n}\n");
        INFO(now);
        return now.find("int64(x)") == std::string::npos;
    };
    CHECK(is_narrow("[0, 1000), [0, 1000)"));
    CHECK(is_narrow("[0, 32767), [0, 32768)"));
    CHECK_FALSE(is_narrow("[0, 32768), [0, 32768)"));
    CHECK_FALSE(is_narrow("[0, n), [0, 4)"));
    CHECK_FALSE(is_narrow("[0, 2000000000), [0, 2000000000), [0, 2000000000), [0, 1073741824)"));
}

TEST_CASE("flatten: a prefetch is one of all elements of a Tuple, or of an image") {
    ImageParam in(Float(32), 1, "flat_in");
    Func f("flat_j"), g("flat_k");
    g(x) = Tuple(x, in(x));
    f(x) = g(x)[0];
    g.compute_root();
    CHECK(flattened(f, realize("flat_k", "prefetch flat_k(x)\n", "int32 float32")) ==
          "allocate flat_k.1[float32 * 8] {\n"
          "  allocate flat_k.0[int32 * 8] {\n"
          "    prefetch flat_k.0(x)\n"
          "    prefetch flat_k.1(x)\n"
          "  }\n"
          "}\n");
    CHECK(flattened(f, "prefetch flat_in(x)\n", {}, {{"flat_in", 0, 1}}) ==
          "prefetch flat_in(int64(x) - int64(flat_in.min.0))\n");
}

TEST_CASE("flatten: a memoized Func has storage in both parts; its key may read memory") {
    Func f("flat_l"), g("flat_n"), h("flat_h");
    h(x) = x;
    g(x) = h(x);
    f(x) = g(x);
    g.compute_root().memoize(), h.compute_root();
    CHECK(flattened(f,
                    realize("flat_h", "memoize flat_n[int32] of (2, 8) by (flat_h(3)) {\n"
                                      "  flat_n(x) = 1\n"
                                      "} then {\n"
                                      "  flat_l(0) = flat_n(x)\n"
                                      "}\n"),
                    {{"flat_h", Int(32)}}, {{"flat_l", 0, 1}}) ==
          allocate("flat_h", "memoize flat_n[int32] of (8) by (flat_h[3]) {\n"
                             "  flat_n[x - 2] = 1\n"
                             "} then {\n"
                             "  flat_l[int64(flat_l.min.0) * int64(-1)] = flat_n[x - 2]\n"
                             "}\n"));
}
