// Targets: their names, and what code for each looks like.

#include <algorithm>
#include <cmath>
#include <regex>

#include "codegen/codegen.h"
#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;
using ir::Op;

namespace {

/// out = max(a * b + c, a), 16 lanes.
ir::Program multiply_add() {
    Elementwise kernel(16);
    Expr a = kernel.input(Float(32)), b = kernel.input(Float(32)), c = kernel.input(Float(32));
    Expr sum = ir::make_binary(Op::Add, ir::make_binary(Op::Mul, a, b), c);
    kernel.output(ir::make_binary(Op::Max, sum, a));
    return kernel.program(1600);
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/// The instructions between the label of the loop and the jump back to it.
std::vector<std::string> innermost_loop(const std::string &assembly) {
    std::vector<std::string> lines, loop;
    for (size_t at = 0; at < assembly.size();) {
        size_t end = assembly.find('\n', at);
        lines.push_back(assembly.substr(at, end - at));
        at = end + 1;
    }
    std::string label;
    for (const std::string &line : lines) {
        if (line.rfind(".LBB", 0) == 0) {
            label = line.substr(0, line.find(':'));
            loop.clear();
        } else if (!line.empty() && line[0] == '\t' && line[1] != '.' && line[1] != '#') {
            loop.push_back(line);
            bool jumps_back = line.rfind("\tj", 0) == 0 && !label.empty() &&
                              line.size() >= label.size() &&
                              line.compare(line.size() - label.size(), label.size(), label) == 0;
            if (jumps_back)
                return loop;
        }
    }
    return {};
}

}  // namespace

namespace {

/// `outputs` sums of `window` squares each, of which neighbors have all but one in common.
ir::Program sums_of_windows(int window, int outputs) {
    Elementwise kernel(8);
    std::vector<Expr> squares;
    for (int i = 0; i < window + outputs - 1; i++) {
        Expr value = kernel.input(Float(32));
        squares.push_back(ir::make_binary(Op::Mul, value, value));
    }
    for (int first = 0; first < outputs; first++) {
        Expr sum = squares[static_cast<size_t>(first)];
        for (int i = 1; i < window; i++)
            sum = ir::make_binary(Op::Add, sum, squares[static_cast<size_t>(first + i)]);
        kernel.output(sum);
    }
    return kernel.program(800);
}

Target host_with(std::initializer_list<Target::Feature> features) {
    Target target = get_host_target();
    target.set_features(features);
    return target;
}

/// How many additions of vectors of floats its code has.
int additions(const ir::Program &program, std::initializer_list<Target::Feature> features) {
    std::string text = jit::compile(program, host_with(features)).llvm_ir();
    int count = 0;
    for (const char *what : {" = fadd ", " = call contract <8 x float> @llvm.fmuladd"})
        for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            count++;
    return count;
}

}  // namespace

TEST_CASE("FastMath lets sums share what they add in another order") {
    ir::Program program = sums_of_windows(3, 2);
    CHECK(additions(program, {}) == 4);
    CHECK(additions(program, {Target::FastMath}) == 3);
    CHECK(additions(program, {Target::FastMath, Target::StrictFloat}) == 4);
    // all that two sums have in common is one sum: 5 additions of squares, and one more for each
    CHECK(additions(sums_of_windows(7, 2), {Target::FastMath}) == 7);
    // of four, the middle ones
    CHECK(additions(sums_of_windows(4, 4), {Target::FastMath}) <= 9);
}

TEST_CASE("sums that share parts have their values") {
    for (int outputs : {2, 3, 4, 9}) {
        constexpr int window = 5, elements = 800;
        ir::Program program = sums_of_windows(window, outputs);
        std::vector<std::vector<float>> values, results;
        std::vector<Data> data;
        for (int i = 0; i < window + outputs - 1; i++) {
            values.emplace_back(elements);
            for (int k = 0; k < elements; k++)
                values.back()[static_cast<size_t>(k)] = static_cast<float>((k * 7 + i * 5) % 31);
            data.emplace_back(values.back());
        }
        results.assign(static_cast<size_t>(outputs), std::vector<float>(elements));
        for (std::vector<float> &result : results)
            data.emplace_back(result);
        std::vector<void *> args;
        for (Data &d : data)
            args.push_back(&d.argument);
        REQUIRE(run(program, args, nullptr, host_with({Target::FastMath})) == 0);
        for (size_t first = 0; first < results.size(); first++) {
            for (size_t k = 0; k < elements; k++) {
                float sum = 0;  // of small integers, exact in any order
                for (size_t i = first; i < first + window; i++)
                    sum += values[i][k] * values[i][k];
                REQUIRE(results[first][k] == sum);
            }
        }
    }
}

TEST_CASE(
    "FastMath multiplies by the reciprocal of constants and of what all lanes are divided by") {
    constexpr int lanes = 16;
    auto quotients = [&](const Expr &divisor) {
        ir::Program p;
        p.name = "quotients";
        p.args = {{Kind::InputBuffer, "in", Float(32), 1},
                  {Kind::OutputBuffer, "out", Float(32), 1}};
        const Expr all = load(Float(32), "in", int32(0), lanes);
        p.body =
            ir::make_store("out", ramp(int32(0), 1, lanes), ir::make_binary(Op::Div, all, divisor));
        return p;
    };
    const Expr one = ir::make_load(Float(32), "in", int32(lanes));
    const ir::Program by_one = quotients(ir::make_broadcast(one, lanes)),
                      by_all = quotients(load(Float(32), "in", int32(1), lanes)),
                      by_three = quotients(ir::make_broadcast(ir::make_const(Float(32), 3), lanes));
    auto divides_vectors = [&](const ir::Program &p,
                               std::initializer_list<Target::Feature> features) {
        const std::string text = jit::compile(p, host_with(features)).llvm_ir();
        return std::regex_search(text, std::regex("fdiv [a-z ]*<"));
    };
    CHECK_FALSE(divides_vectors(by_one, {Target::FastMath}));
    CHECK(divides_vectors(by_one, {}));
    CHECK(divides_vectors(by_one, {Target::FastMath, Target::StrictFloat}));
    CHECK(divides_vectors(by_all, {Target::FastMath}));
    CHECK_FALSE(divides_vectors(by_three, {Target::FastMath}));
    CHECK(divides_vectors(by_three, {}));

    std::vector<float> in(lanes + 1), out(lanes);
    for (size_t i = 0; i <= lanes; i++)
        in[i] = static_cast<float>(i * i) - 37.5f;
    Data from(in), to(out);
    REQUIRE(run(by_one, {&from.argument, &to.argument}, nullptr, host_with({Target::FastMath})) ==
            0);
    for (size_t i = 0; i < lanes; i++) {
        const double exact = double(in[i]) / double(in[lanes]);
        CHECK(std::abs(double(out[i]) - exact) <= 2e-7 * std::abs(exact));  // two roundings
    }
}

TEST_CASE("names of targets") {
    using T = Target;
    REQUIRE(T("x86-64-linux-avx2-fma") == T(T::Linux, T::X86, 64, {T::AVX2, T::FMA}));
    REQUIRE(T("x86-64-linux-avx2-fma").to_string() == "x86-64-linux-sse41-avx-avx2-fma");
    REQUIRE(T("arm-64-osx").to_string() == "arm-64-osx");
    REQUIRE(T(get_host_target().to_string()) == get_host_target());
    REQUIRE(T("x86-64-linux-avx512_skylake").has_feature(T::F16C));
    REQUIRE(T("arm-64-linux-fast_math-profile").machine() == T("arm-64-linux"));
    REQUIRE(T("x86-64-linux-avx512_skylake").without_feature(T::AVX) == T("x86-64-linux-sse41"));
    for (const char *wrong : {"", "linux", "x86-64", "x86-64-linux-avx3", "host-plan9"}) {
        INFO(wrong);
        REQUIRE_THROWS_AS(T(wrong), CompileError);
    }
    for (const char *other : {"arm-64-linux-avx2", "x86-32-linux", "x86-64-windows",
                              "wasm-32-wasmrt", "x86-64-linux-arm_dot_prod", "arm-64-linux-sve2"}) {
        INFO(other);
        REQUIRE(T(T(other).to_string()) == T(other));
        REQUIRE_FALSE(T(other).supported());
    }
}

// Two rows of an unrolled loop share products; each row adds them as if it were alone.
TEST_CASE("a product that is added twice is still a multiply-add") {
    Elementwise kernel(16);
    Expr a = kernel.input(Float(32)), b = kernel.input(Float(32)), c = kernel.input(Float(32));
    Expr product = ir::make_binary(Op::Mul, a, b);
    Expr first = ir::make_binary(Op::Add, product, c),
         second = ir::make_binary(Op::Sub, c, product);
    kernel.output(ir::make_binary(Op::Div, first, second));
    std::string text = codegen::assembly(kernel.program(1600), Target("x86-64-linux-avx2-fma"));
    REQUIRE(contains(text, "vfmadd"));
    REQUIRE(contains(text, "vfnmadd"));
    REQUIRE(!contains(text, "vmulps"));
}

TEST_CASE("how to compile does not change the processor to compile for") {
    Target host("host"), fast = host.with_feature(Target::FastMath);
    REQUIRE(fast.machine() == host);
    auto program = multiply_add();
    REQUIRE(codegen::assembly(program, fast) == codegen::assembly(program, host));
}

TEST_CASE("quick code has the same instructions where rounding would tell") {
    auto program = multiply_add();
    std::string quick = codegen::assembly(program, Target("x86-64-linux-avx2-fma-quick_compile"));
    REQUIRE(contains(quick, "vfmadd"));
}

TEST_CASE("lanes that fill a register") {
    Target avx512("x86-64-linux-avx512_skylake"), avx2("x86-64-linux-avx2"),
        avx("x86-64-linux-avx");
    Target neon("arm-64-linux");
    REQUIRE(avx512.natural_vector_size<float>() == 16);
    REQUIRE(avx512.natural_vector_size<uint8_t>() == 64);
    REQUIRE(avx2.natural_vector_size<float>() == 8);
    REQUIRE(avx2.natural_vector_size(UInt(16)) == 16);
    REQUIRE(avx.natural_vector_size<float>() == 8);
    REQUIRE(avx.natural_vector_size<int32_t>() == 4);
    REQUIRE(neon.natural_vector_size<double>() == 2);
    REQUIRE(neon.natural_vector_size<bool>() == 16);
}

TEST_CASE("a multiply-add and a maximum are one instruction each") {
    auto program = multiply_add();
    std::string avx512 = codegen::assembly(program, Target("x86-64-linux-avx512_skylake"));
    REQUIRE(contains(avx512, "vfmadd"));
    REQUIRE(contains(avx512, "vmaxps"));
    REQUIRE(contains(avx512, "zmm"));
    REQUIRE(!contains(avx512, "vcmp"));
    std::string avx2 = codegen::assembly(program, Target("x86-64-linux-avx2-fma"));
    REQUIRE(contains(avx2, "vfmadd"));
    REQUIRE(contains(avx2, "ymm"));
    REQUIRE(!contains(avx2, "zmm"));
    std::string sse = codegen::assembly(program, Target("x86-64-linux-sse41"));
    REQUIRE(contains(sse, "mulps"));
    REQUIRE(!contains(sse, "ymm"));
}

TEST_CASE("AArch64: an object file for NEON, from any host") {
    for (bool with_exp : {false, true}) {
        ir::Program program = multiply_add();
        if (with_exp) {
            Elementwise kernel(4);
            Expr x = kernel.input(Float(32));
            kernel.output(ir::make_call(x.type(), "exp_f32", {x}, ir::CallKind::PureExtern));
            program = kernel.program(4);
        }
        const auto object = codegen::compile(program, Target("arm-64-linux")).files[0];
        REQUIRE(object.size() > 64);
        REQUIRE(std::string(object.data(), 4) == "\x7f"
                                                 "ELF");
        constexpr int machine_aarch64 = 183;
        REQUIRE((object[18] & 0xff) + 256 * (object[19] & 0xff) == machine_aarch64);
    }
    std::string neon = codegen::assembly(multiply_add(), Target("arm-64-linux"));
    REQUIRE(contains(neon, "fmla\tv"));
}

TEST_CASE("x86-64 objects say so") {
    const auto object = codegen::compile(multiply_add(), Target("x86-64-linux")).files[0];
    constexpr int machine_x86_64 = 62;
    REQUIRE((object[18] & 0xff) == machine_x86_64);
}

TEST_CASE("the inner loop of a blur is loads, adds, a high multiply and a store") {
    // out[x] = (in[x] + in[x + 1] + in[x + 2]) / 3 in uint16, 32 lanes, n vectors
    constexpr int lanes = 32;
    Type type = UInt(16, lanes);
    Expr x = ir::mul(var32("x"), int32(lanes));
    auto in = [&](int dx) { return load(UInt(16), "in", ir::add(x, int32(dx)), lanes); };
    Expr sum = ir::make_binary(Op::Add, ir::make_binary(Op::Add, in(0), in(1)), in(2));
    ir::Program p;
    p.name = "blur";
    p.args = {{Kind::InputBuffer, "in", UInt(16), 1},
              {Kind::OutputBuffer, "out", UInt(16), 1},
              {Kind::Scalar, "n", Int(32), 0}};
    p.body = ir::make_for("x", int32(0), var32("n"), LoopKind::Serial,
                          ir::make_store("out", ramp(x, 1, lanes),
                                         ir::make_binary(Op::Div, sum, ir::make_const(type, 3))));
    auto loop = innermost_loop(codegen::assembly(p, Target("x86-64-linux-avx512_skylake")));
    std::string text;
    for (const std::string &line : loop)
        text += line + "\n";
    INFO(text);
    REQUIRE(contains(text, "vpmulhuw"));
    // load, two adds with their loads folded in, multiply, shift, store; and the loop itself
    REQUIRE(loop.size() <= 6 + 4);
    REQUIRE(!contains(text, "rsp"));
    REQUIRE(!contains(text, "movsl"));
}

TEST_CASE("what does not change in a loop is summed before it, also around a clamped position") {
    // out[x] = sum over rows of in[x - min.0 + (y + row - min.1) * stride.1], x = min(16 i, n - 16)
    constexpr int lanes = 16, rows = 4;
    Expr x = ir::make_variable(Int(32), "x");
    auto in = [&](int row) {
        Expr y = ir::sub(ir::add(var32("y"), int32(row)), var32("in.min.1"));
        Expr start = ir::add(ir::make_cast(Int(64), ir::sub(x, var32("in.min.0"))),
                             ir::mul(ir::make_cast(Int(64), y), var64("in.stride.1")));
        return load(Float(32), "in", start, lanes);
    };
    Expr sum = in(0);
    for (int row = 1; row < rows; row++)
        sum = ir::make_binary(Op::Add, sum, in(row));
    Expr clamped = ir::min(ir::mul(var32("i"), int32(lanes)), ir::sub(var32("n"), int32(lanes)));
    ir::Program p;
    p.name = "rows";
    p.args = {{Kind::InputBuffer, "in", Float(32), 2},
              {Kind::OutputBuffer, "out", Float(32), 1},
              {Kind::Scalar, "n", Int(32), 0},
              {Kind::Scalar, "y", Int(32), 0}};
    p.body =
        ir::make_for("i", int32(0), ir::div(var32("n"), int32(lanes)), LoopKind::Serial,
                     ir::make_let("x", clamped, ir::make_store("out", ramp(x, 1, lanes), sum)));
    auto loop = innermost_loop(codegen::assembly(p, Target("x86-64-linux-avx512_skylake")));
    std::string text;
    for (const std::string &line : loop)
        text += line + "\n";
    INFO(text);
    // a load, three adds with loads and a store; the minimum and the loop's counters
    REQUIRE(contains(text, "vaddps"));
    REQUIRE(loop.size() <= rows + 1 + 9);
}

TEST_CASE("division in an index that cannot be negative needs no correction of the sign") {
    ir::Program p;
    p.name = "index";
    p.args = {{Kind::InputBuffer, "in", Float(32), 1}, {Kind::OutputBuffer, "out", Float(32), 1}};
    Expr half = ir::make_binary(Op::Div, var32("x"), int32(3));
    p.body = ir::make_for("x", int32(0), int32(1000), LoopKind::Serial,
                          ir::make_store("out", var32("x"), ir::make_load(Float(32), "in", half)));
    std::string code = codegen::llvm_ir(p, Target("x86-64-linux"));
    REQUIRE(contains(code, "udiv"));
    REQUIRE(!contains(code, "ashr"));
    REQUIRE(!contains(code, "xor"));
}
