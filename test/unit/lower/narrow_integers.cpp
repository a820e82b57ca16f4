#include "lower/narrow_integers.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

const Types types = {{"a", UInt(8)},  {"b", UInt(8)},    {"c", Int(8)},    {"s", Int(16)},
                     {"u", UInt(16)}, {"wide", Int(32)}, {"out", UInt(8)}, {"sums", Int(32)}};

/// Each name of a buffer stands for a vector of it.
std::string with_vectors(std::string text) {
    for (size_t at = 0; (at = text.find("[]", at)) != std::string::npos; at += 2)
        text.insert(at + 1, "ramp(x, 1, 8)");
    return text;
}

std::string narrowed(const std::string &text) {
    return ir::to_string(lower::narrow_integers(parse_stmt(with_vectors(text) + "\n", types)));
}

void check(const std::string &text, const std::string &result) {
    INFO(text);
    CHECK(narrowed(text) == with_vectors(result) + "\n");
}

void check_unchanged(const std::string &text) {
    check(text, text);
}

}  // namespace

TEST_CASE("narrow-integers: sums and products of bytes are of 16 bits") {
    check("out[] = uint8x8(int32x8(a[]) * broadcast(66, 8) + int32x8(b[]) * broadcast(129, 8))",
          "out[] = uint8x8(uint16x8(a[]) * broadcast(uint16(66), 8) + uint16x8(b[]) * "
          "broadcast(uint16(129), 8))");
}

TEST_CASE("narrow-integers: what the rest of the program needs is widened once") {
    check("sums[] = sums[] + (int32x8(a[]) - int32x8(b[]))",
          "sums[] = sums[] + int32x8(int16x8(uint16x8(a[]) - uint16x8(b[])))");
    check("sums[] = int32x8(a[]) + int32x8(b[])",
          "sums[] = int32x8(uint16x8(a[]) + uint16x8(b[]))");
}

TEST_CASE("narrow-integers: what exceeds 16 bits stays, and its operands become narrow") {
    check("sums[] = (int32x8(a[]) - int32x8(b[])) * (int32x8(a[]) + int32x8(b[]))",
          "sums[] = int32x8(int16x8(uint16x8(a[]) - uint16x8(b[]))) * "
          "int32x8(uint16x8(a[]) + uint16x8(b[]))");
    check_unchanged("sums[] = int32x8(u[]) + int32x8(u[])");
    check_unchanged("sums[] = int32x8(u[]) - int32x8(s[])");
    check_unchanged("sums[] = wide[] + int32x8(a[])");
    check_unchanged("sums[] = int32x8(a[])");
}

TEST_CASE("narrow-integers: a division needs the whole value, in the sign that holds it") {
    check("out[] = uint8x8((int32x8(a[]) - int32x8(b[])) / broadcast(2, 8))",
          "out[] = uint8x8(uint16x8(int16x8(uint16x8(a[]) - uint16x8(b[])) / "
          "broadcast(int16(2), 8)))");
    // 256 * 255 is no int16, -255 no uint16.
    check("out[] = uint8x8((int32x8(a[]) * broadcast(256, 8) - int32x8(b[])) / broadcast(2, 8))",
          "out[] = uint8x8((int32x8(uint16x8(a[]) * broadcast(uint16(256), 8)) - int32x8(b[])) / "
          "broadcast(2, 8))");
}

TEST_CASE("narrow-integers: smaller, larger, absolute values, shifts, choices, comparisons") {
    check("out[] = uint8x8(min(int32x8(a[]) + int32x8(b[]), broadcast(255, 8)))",
          "out[] = uint8x8(min(uint16x8(a[]) + uint16x8(b[]), broadcast(uint16(255), 8)))");
    check("out[] = uint8x8(abs(int32x8(a[]) - int32x8(b[])))",
          "out[] = uint8x8(abs(int16x8(uint16x8(a[]) - uint16x8(b[]))))");
    check("out[] = uint8x8(shift_right(int32x8(a[]) + int32x8(c[]), broadcast(1, 8)))",
          "out[] = uint8x8(uint16x8(int16x8(uint16x8(a[]) + uint16x8(c[])) / broadcast(int16(2), "
          "8)))");
    check("out[] = uint8x8(select(int32x8(a[]) < int32x8(c[]), int32x8(a[]) + int32x8(b[]), "
          "int32x8(b[])))",
          "out[] = uint8x8(select(int16x8(uint16x8(a[])) < int16x8(uint16x8(c[])), "
          "uint16x8(a[]) + uint16x8(b[]), uint16x8(b[])))");
}

TEST_CASE("narrow-integers: indices, sums of lanes, scalars and kernels stay") {
    check_unchanged("sums[] = wide[int32x8(a[]) + int32x8(b[])]");
    check_unchanged("sums[x] = reduce<+>(int32x8(a[]) * int32x8(b[]), 1)");
    check_unchanged("sums[x] = int32(a[x]) + int32(b[x])");
    const std::string kernel =
        "for f.s0.x in [0, 8) gpu_block {\n  sums[] = int32x8(a[]) + int32x8(b[])\n}";
    check_unchanged(kernel);
}
