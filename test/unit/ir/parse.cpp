// The reader of printed programs, which the tests of passes use: what it reads prints as it was.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/equal.h"
#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

void check_round_trip(const std::string &text, const Types &types = {}) {
    INFO(text);
    CHECK(ir::to_string(parse_stmt(text, types)) == text);
}

}  // namespace

TEST_CASE("parse: precedence and the forms of constants") {
    const Types types = {{"b", Bool()}, {"f", Float(32)}, {"u", UInt(8)}};
    for (const char *text :
         {"a - b.min.0 - (c - d)", "(a + c) * 3 / 4 % 5", "a / (c * d)", "a < c && b || !(c == d)",
          "min(a, max(c, -1)) - 7", "uint8(255) + u", "int64(a) * in.stride.1",
          "f * 1.5f + float32(a)", "select(b, 1.0f, f)", "let t = a + 1 in t * t",
          "reinterpret<uint32>(f)", "2.5", "true || b"}) {
        INFO(text);
        CHECK(ir::to_string(parse_expr(text, types)) == text);
    }
    CHECK(ir::equal(parse_expr("a - c - d"), parse_expr("(a - c) - d")));
    CHECK_FALSE(ir::equal(parse_expr("a - (c - d)"), parse_expr("a - c - d")));
    CHECK(parse_expr("u * u", types).type() == UInt(8));
    CHECK(parse_expr("sqrt_f32(f)", types)->call_kind == ir::CallKind::PureExtern);
    CHECK(parse_expr("abs(a)").type() == UInt(32));
}

TEST_CASE("parse: vectors") {
    const Types types = {{"in", UInt(8)}, {"mask", Bool(8)}};
    for (const char *text :
         {"in[ramp(x, 1, 8) if mask]", "int32x8(in[ramp(x, 2, 8)]) + broadcast(3, 8)",
          "reduce<+>(ramp(x, 1, 8), 1)", "slice(ramp(x, 1, 8), 7, 1, 1)",
          "interleave(ramp(x, 1, 4), broadcast(y, 4), 8)", "prefix_sum(ramp(x, 1, 8))"}) {
        INFO(text);
        CHECK(ir::to_string(parse_expr(text, types)) == text);
    }
    CHECK(parse_expr("in[ramp(x, 1, 8)]", types).type() == UInt(8, 8));
}

TEST_CASE("parse: every statement") {
    check_round_trip("let a = 1\n"
                     "assert a < b, \"b is \", b\n"
                     "for y in [a, a + n) parallel {\n"
                     "  for x in [0, 4) vectorized {\n"
                     "    out[y * 4 + x] = x if x < n\n"
                     "  }\n"
                     "  for x in [-1, 3) unrolled unpartitioned {\n"
                     "    atomic out[x] = out[x] + 1\n"
                     "  }\n"
                     "}\n"
                     "{\n"
                     "  let c = 2\n"
                     "  evaluate c\n"
                     "}\n"
                     "if a == 1 {\n"
                     "  evaluate 0\n"
                     "} else {\n"
                     "  evaluate 1\n"
                     "}\n"
                     "prefetch out(a, b)\n"
                     "exclusive f {\n"
                     "  evaluate 1\n"
                     "}\n");
    check_round_trip("realize f([0, 8), [y, y + h)) of float32 int32 in stack {\n"
                     "  produce f {\n"
                     "    f(x, y) = (1.0f, 2) if x < 8\n"
                     "  }\n"
                     "  consume f {\n"
                     "    g(x) = f(x, 1)[1]\n"
                     "  }\n"
                     "}\n",
                     {{"f", Int(32)}});
    check_round_trip("allocate t[uint8 * n * (h + 1)] in heap {\n"
                     "  t[0] = uint8(1)\n"
                     "  free t\n"
                     "}\n");
    check_round_trip("fork f, 2 {\n"
                     "  acquire f.free\n"
                     "  release f.ready\n"
                     "} and {\n"
                     "  acquire f.ready\n"
                     "}\n");
    check_round_trip("memoize f[float32] of (0, n) by (int64(n)) if used: a < b {\n"
                     "  f(x) = 1.0f\n"
                     "} then {\n"
                     "  evaluate f(x)\n"
                     "}\n");
    check_round_trip("use f on device (overwrite)\n"
                     "launch k blocks (n, 1, 1) threads (32, 1, 1) shared int64(128) {\n"
                     "  t[.thread.x] = 1\n"
                     "  barrier\n"
                     "}\n"
                     "use f on host (read)\n");
}

TEST_CASE("parse: the golden loops of all kinds of schedules") {
    const std::map<std::string, Types> types = {
        {"compute_with", {{"input", Float(32)}}},
        {"guarded_tail", {{"input", UInt(16)}}},
        {"histogram", {{"input", UInt(8)}}},
        {"overlapped_tiles", {{"input", UInt(16)}}},
        {"register_sums", {{"a", Float(32)}, {"b", Float(32)}}},
        {"repeat_edge", {{"input", Float(32)}}},
        {"running_sums", {{"input", UInt(8)}}},
        {"sliding_window", {{"input", UInt(16)}}},
        {"specialize", {{"input", Float(32)}, {"wide", Bool()}}},
        {"whole_blocks", {{"input", UInt(16)}}},
    };
    size_t files = 0;
    for (const auto &file :
         std::filesystem::directory_iterator(std::string(PIPE_SOURCE_DIR) + "/test/golden/lower")) {
        if (file.path().extension() != ".txt")
            continue;
        files++;
        std::ifstream in(file.path());
        check_round_trip({std::istreambuf_iterator<char>(in), {}},
                         types.at(file.path().stem().string()));
    }
    CHECK(files == types.size());
}

TEST_CASE("parse: an error names the line and what was expected") {
    try {
        parse_stmt("let a = 1\nfor x in (0, 4) {\n}\n");
        FAIL("accepted");
    } catch (const ParseError &e) {
        CHECK(std::string(e.what()) == "line 2: expected [, found '('");
    }
}
