// Loops, lets, branches, reductions, and the meaning of expressions with structure.

#include <cmath>
#include <numeric>

#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;
using ir::Op;

namespace {

Expr add(Expr a, Expr b) {
    return ir::make_binary(Op::Add, a, b);
}
Expr mul(Expr a, Expr b) {
    return ir::make_binary(Op::Mul, a, b);
}

/// Runs `body` on an output buffer of ints "out" and a scalar "n".
std::vector<int32_t> run_body(ir::Stmt body, int n, size_t size) {
    ir::Program p;
    p.name = "statement";
    p.args = {{Kind::OutputBuffer, "out", Int(32), 1}, {Kind::Scalar, "n", Int(32), 0}};
    p.body = std::move(body);
    std::vector<int32_t> out(size, -1);
    Data data(out);
    REQUIRE(run(p, {&data.argument, &n}) == 0);
    return out;
}

ir::Stmt store(Expr index, Expr value) {
    return ir::make_store("out", index, value);
}

template <typename T, typename F>
void check_reduce(Op op, int lanes, int results, T (*value)(int), F &&combine) {
    Type type = type_of<T>();
    ir::Program p;
    p.name = "reduce";
    p.args = {{Kind::InputBuffer, "in", type, 1}, {Kind::OutputBuffer, "out", type, 1}};
    p.body = ir::make_store("out", ramp(int32(0), 1, results),
                            ir::make_vector_reduce(op, load(type, "in", int32(0), lanes), results));
    std::vector<T> in, out(static_cast<size_t>(results));
    for (int i = 0; i < lanes; i++)
        in.push_back(value(i));
    Data a(in), b(out);
    REQUIRE(run(p, {&a.argument, &b.argument}) == 0);
    int each = lanes / results;
    for (int r = 0; r < results; r++) {
        auto begin = in.begin() + r * each;
        T expected = std::accumulate(begin + 1, begin + each, *begin, combine);
        INFO(to_string(type) << " lanes " << lanes << " to " << results);
        REQUIRE(+out[static_cast<size_t>(r)] == +expected);
    }
}

}  // namespace

TEST_CASE("vectors are interleaved") {
    for (int values : {1, 2, 3, 4, 6, 8, 16})
        for (int lanes : {1, 2, 5, 8, 16, 64}) {
            std::vector<Expr> parts;
            for (int k = 0; k < values; k++) {
                Expr first = add(var32("n"), int32(100 * k));
                parts.push_back(lanes == 1 ? first : ramp(first, 1, lanes));
            }
            const int all = values * lanes;
            Expr place = all == 1 ? int32(0) : ramp(int32(0), 1, all);
            auto out =
                run_body(store(place, ir::make_interleave(parts)), 7, static_cast<size_t>(all));
            for (int i = 0; i < all; i++) {
                INFO(values << " of " << lanes << " lanes, lane " << i);
                CHECK(out[static_cast<size_t>(i)] == 7 + 100 * (i % values) + i / values);
            }
        }
}

TEST_CASE("loops run over [min, min + extent), and not at all for no extent") {
    auto loop = [](int n) {
        return run_body(ir::make_for("i", var32("n"), add(var32("n"), int32(2)), LoopKind::Serial,
                                     store(var32("i"), mul(var32("i"), int32(10)))),
                        n, 8);
    };
    REQUIRE(loop(1) == std::vector<int32_t>{-1, 10, 20, 30, -1, -1, -1, -1});
    REQUIRE(loop(-2) == std::vector<int32_t>(8, -1));
    REQUIRE(loop(-5) == std::vector<int32_t>(8, -1));
}

TEST_CASE("an inner name hides an outer one, and only inside") {
    Expr x = var32("x");
    ir::Stmt inner = ir::make_let("x", add(x, int32(1)), store(int32(0), x));
    ir::Stmt body = ir::make_let("x", int32(5), ir::make_block({inner, store(int32(1), x)}));
    REQUIRE(run_body(body, 0, 2) == std::vector<int32_t>{6, 5});

    // The same node means two things: (let x = 2 in x * x) + (let x = 3 in x * x) + x * x with x =
    // n.
    x = var32("n");
    Expr square = mul(x, x);
    Expr sum =
        add(add(ir::make_let("n", int32(2), square), ir::make_let("n", int32(3), square)), square);
    REQUIRE(run_body(store(int32(0), sum), 10, 1) == std::vector<int32_t>{113});
}

TEST_CASE("if takes one branch") {
    Expr positive = ir::make_binary(Op::GT, var32("n"), int32(0));
    ir::Stmt with_else =
        ir::make_if(positive, store(int32(0), int32(1)), store(int32(0), int32(2)));
    REQUIRE(run_body(with_else, 3, 1)[0] == 1);
    REQUIRE(run_body(with_else, -3, 1)[0] == 2);
    ir::Stmt without = ir::make_if(positive, store(int32(0), int32(1)));
    REQUIRE(run_body(without, -3, 1)[0] == -1);
}

TEST_CASE("if_then_else evaluates one arm only") {
    // out[n < 0 ? 0 : n] with the load guarded: the other arm would read far outside.
    Expr outside = ir::make_load(Int(32), "out", mul(var32("n"), int32(1 << 28)));
    Expr guarded = ir::make_call(Int(32), "if_then_else",
                                 {ir::make_binary(Op::LT, var32("n"), int32(1)), int32(7), outside},
                                 ir::CallKind::Intrinsic);
    REQUIRE(run_body(store(int32(0), guarded), -1, 1)[0] == 7);
    REQUIRE(run_body(store(int32(0), guarded), 0, 1)[0] == 7);
}

TEST_CASE("select with one condition for all lanes") {
    Expr lanes = ramp(int32(0), 1, 4);
    Expr chosen = ir::make_select(ir::make_binary(Op::GT, var32("n"), int32(0)), lanes,
                                  mul(lanes, ir::make_broadcast(int32(-1), 4)));
    ir::Stmt body = store(ramp(int32(0), 1, 4), chosen);
    REQUIRE(run_body(body, 1, 4) == std::vector<int32_t>{0, 1, 2, 3});
    REQUIRE(run_body(body, 0, 4) == std::vector<int32_t>{0, -1, -2, -3});
}

TEST_CASE("vector reductions") {
    for (auto [lanes, results] :
         {std::pair{16, 1}, {12, 1}, {16, 4}, {12, 4}, {9, 3}, {2, 1}, {64, 1}}) {
        check_reduce<int32_t>(
            Op::Add, lanes, results, [](int i) { return i * i - 20; }, std::plus<>());
        check_reduce<uint8_t>(
            Op::Mul, lanes, results, [](int i) { return uint8_t(i + 1); },
            [](uint8_t a, uint8_t b) { return uint8_t(a * b); });
        check_reduce<float>(
            Op::Add, lanes, results, [](int i) { return float(i) / 4; }, std::plus<>());
        check_reduce<double>(
            Op::Max, lanes, results, [](int i) { return double((i * 7) % 11); },
            [](double a, double b) { return std::max(a, b); });
        check_reduce<int16_t>(
            Op::Min, lanes, results, [](int i) { return int16_t(50 - (i * 7) % 31); },
            [](int16_t a, int16_t b) { return std::min(a, b); });
    }
}

TEST_CASE("a sum over a loop with its value in memory") {
    // out[0] = 0; for i in 0..n: for j in 0..3: out[0] += i * j
    Expr sum = add(ir::make_load(Int(32), "out", int32(0)), mul(var32("i"), var32("j")));
    ir::Stmt loops =
        ir::make_for("i", int32(0), var32("n"), LoopKind::Serial,
                     ir::make_for("j", int32(0), int32(3), LoopKind::Serial, store(int32(0), sum)));
    REQUIRE(run_body(ir::make_block({store(int32(0), int32(0)), loops}), 5, 1)[0] == 30);
}

TEST_CASE("strict_float keeps the product's rounding, otherwise it may be fused") {
    float x = 1.0f + 1.0f / 4096 + 1.0f / (1 << 20);
    auto square_less_one = [&](bool strict) {
        Elementwise kernel(8);
        Expr a = kernel.input(Float(32));
        Expr e = ir::make_binary(Op::Sub, mul(a, a), ir::make_const(a.type(), 1));
        if (strict)
            e = ir::make_call(a.type(), "strict_float", {e}, ir::CallKind::Intrinsic);
        kernel.output(e);
        std::vector<float> in(8, x), out(8);
        Data d0(in), d1(out);
        REQUIRE(run(kernel.program(8), {&d0.argument, &d1.argument}) == 0);
        return out[0];
    };
    volatile float product = x * x;
    REQUIRE(square_less_one(true) == product - 1.0f);
    if (get_host_target().has_feature(Target::FMA)) {
        REQUIRE(square_less_one(false) == std::fmaf(x, x, -1.0f));
    }
}

TEST_CASE("what lowering should have replaced is refused, by name") {
    auto refuses = [](ir::Stmt body, const std::string &part) {
        std::string message;
        try {
            ir::Program p;
            p.name = "wrong";
            p.args = {{Kind::OutputBuffer, "out", Int(32), 1}};
            p.body = std::move(body);
            jit::compile(p, get_host_target());
        } catch (const InternalError &e) {
            message = e.what();
        }
        REQUIRE(message.find(part) != std::string::npos);
    };
    refuses(ir::make_provide("f", {int32(0)}, {int32(1)}), "multi-dimensional f");
    refuses(ir::make_for("v", int32(0), int32(4), LoopKind::Vectorized, store(int32(0), int32(0))),
            "loop v");
    refuses(store(int32(0), var32("nobody")), "nobody");
    refuses(store(int32(0), ir::make_call(Int(32), "g", {}, ir::CallKind::Func)), "call of g");
}
