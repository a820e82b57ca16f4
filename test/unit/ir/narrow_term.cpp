// Terms of sums that are narrower than the sum.
#include <catch2/catch_test_macros.hpp>

#include "ir/narrow_term.h"
#include <pipe/pipe.h>

using namespace Pipe;

namespace {

Expr value(Type type, const char *name) {
    return ir::make_variable(type, name);
}

/// "a b", with the types of the operands; "" if there is none.
std::string form(const Expr &term) {
    const auto narrow = ir::narrow_term(term);
    if (!narrow)
        return "";
    return std::string(narrow->is_product ? "* " : "- ") + to_string(narrow->a.type()) + " " +
           to_string(narrow->b.type());
}

const Expr a8 = value(UInt(8), "a8"), b8 = value(UInt(8), "b8"), s8 = value(Int(8), "s8"),
           a16 = value(Int(16), "a16"), u16 = value(UInt(16), "u16"), a32 = value(Int(32), "a32");

}  // namespace

TEST_CASE("differences of bytes, and bytes", "[narrow_term]") {
    const std::string bytes = "- uint8 uint8";
    CHECK(form(cast<uint16_t>(absd(a8, b8))) == bytes);
    CHECK(form(cast<int>(cast<int16_t>(absd(a8, b8)))) == bytes);
    CHECK(form(cast<uint32_t>(abs(cast<int16_t>(a8) - cast<int16_t>(b8)))) == bytes);
    CHECK(form(abs(cast<int>(a8) - cast<int>(b8))) == bytes);
    CHECK(form(cast<uint64_t>(a8)) == bytes);
    CHECK(form(abs(cast<int>(a8) - 128)) == bytes);
    CHECK(form(cast<int>(a32 > 3)) == bytes);
    CHECK(form(abs(cast<int>(a8) - 256)) != bytes);  // no byte
    CHECK(form(abs(cast<int>(a8) - cast<int>(a16))) != bytes);
    CHECK(form(absd(a8, b8)).empty());  // not wider than the sum
    CHECK(form(cast<float>(a8)).empty());
}

TEST_CASE("products of int16", "[narrow_term]") {
    const std::string products = "* int16 int16";
    CHECK(form(cast<int>(a16) * cast<int>(a16)) == products);
    CHECK(form(cast<int>(a8) * cast<int>(s8)) == products);
    CHECK(form((cast<int>(a8) - 255) * 3) == products);
    CHECK(form(cast<int>(a16)) == products);  // times 1
    CHECK(form(cast<int>(u16) * cast<int>(a16)).empty());
    CHECK(form(a32 * cast<int>(a16)).empty());
    CHECK(form(cast<int64_t>(a16) * cast<int64_t>(a16)).empty());  // not a sum of 32 bits
    CHECK(form(cast<int>(u16)).empty());
}
