// Loops in, LLVM IR out.

#include <map>
#include <regex>
#include <sstream>
#include <string>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "codegen/codegen.h"
#include "support/golden.h"
#include "support/parse_ir.h"

using namespace Pipe;
using Kind = ir::Argument::Kind;

namespace {

/// The lines of a basic block, without what LLVM's versions write differently: metadata, comments, and flags that
/// its analyses add.
std::string block_of(const std::string &module, const std::string &label) {
    static const std::regex omitted(
        R"(, ![a-z.]+ ![0-9]+|\s*;.*| (nuw|nsw|inbounds|disjoint|nneg|samesign)(?= ))");
    std::istringstream in(module);
    std::string block;
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
        line = std::regex_replace(line, omitted, "");
        inside = inside ? line.starts_with("  ") : line == label + ":";
        if (inside)
            block += line + "\n";
    }
    return block;
}

/// Values without a name of their own are numbered in order of appearance: %0, %1, ...
std::string renumbered(const std::string &block) {
    static const std::regex value("%[0-9]+\\b");
    std::map<std::string, size_t> numbers;
    std::string text;
    auto end = block.begin();
    for (std::sregex_iterator it(block.begin(), block.end(), value), none; it != none; ++it) {
        const size_t number = numbers.try_emplace(it->str(), numbers.size()).first->second;
        text += it->prefix().str() + "%" + std::to_string(number);
        end = (*it)[0].second;
    }
    return text + std::string(end, block.end());
}

/// The block of the loop over x in code for a machine with AVX2.
std::string inner_loop(const ir::Program &program) {
    return renumbered(block_of(codegen::llvm_ir(program, Target("x86-64-linux-avx2-fma")), "x"));
}

}  // namespace

TEST_CASE("LLVM IR of a multiply-add of bytes and floats", "[golden]") {
    ir::Program program;
    program.name = "multiply_add";
    program.args = {{Kind::InputBuffer, "a", UInt(8), 1},
                    {Kind::InputBuffer, "b", Float(32), 1},
                    {Kind::Scalar, "n", Int(32), 0},
                    {Kind::OutputBuffer, "out", Float(32), 1}};
    program.body = testing::parse_stmt(R"(for x in [0, n) {
  out[ramp(x * 8, 1, 8)] = float32x8(a[ramp(x * 8, 1, 8)]) * b[ramp(x * 8, 1, 8)] + out[ramp(x * 8, 1, 8)]
}
)",
                                       {{"a", UInt(8)}, {"b", Float(32)}, {"out", Float(32)}});
    CHECK_GOLDEN("codegen/multiply_add.txt", inner_loop(program));
}
