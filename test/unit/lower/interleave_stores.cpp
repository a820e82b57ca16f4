#include "lower/interleave_stores.h"

#include <algorithm>
#include <random>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "lower/share_strided_loads.h"
#include "support/parse_ir.h"
#include "unit/lower/nest_text.h"
#include "unit/lower/random_loops.h"

using namespace Pipe;
using namespace Pipe::ir;
using namespace Pipe::testing;

namespace {

Expr lanes(const Expr &base, int stride, int count) {
    return make_ramp(base, number(stride), count);
}

Expr load(const std::string &buffer, const Expr &base, int stride, int count,
          const Expr &predicate = Expr()) {
    return make_load(Int(32, count), buffer, lanes(base, stride, count), predicate);
}

Stmt store(const Expr &base, int stride, const Expr &value, const Expr &predicate = Expr()) {
    return make_store("out", lanes(base, stride, value.type().lanes()), value, predicate);
}

std::string stored(std::vector<Stmt> stmts) {
    return to_string(lower::interleave_stores(make_block(std::move(stmts))));
}

Expr times(const Expr &e, int factor) {
    return make_binary(Op::Mul, e, make_broadcast(number(factor), e.type().lanes()));
}

bool is_unchanged(std::vector<Stmt> stmts) {
    Stmt before = make_block(std::move(stmts));
    return lower::interleave_stores(before).same_as(before);
}

}  // namespace

TEST_CASE("interleave: planes become whole vectors, in any order of the channels") {
    Expr u = load("u", number(0), 1, 4), v = load("v", number(0), 1, 4);
    const std::string expected =
        "let out.lanes0.0 = interleave(u[ramp(0, 1, 4)], v[ramp(0, 1, 4)], 8)\n"
        "out[ramp(x, 1, 4)] = slice(out.lanes0.0, 0, 1, 4)\n"
        "out[ramp(x + 4, 1, 4)] = slice(out.lanes0.0, 4, 1, 4)\n";
    CHECK(stored({store(var("x"), 2, u), store(add(var("x"), number(1)), 2, v)}) == expected);
    CHECK(stored({store(add(var("x"), number(1)), 2, v), store(var("x"), 2, u)}) == expected);
}

TEST_CASE("interleave: what all channels compute is computed in the interleaved vectors") {
    std::vector<Stmt> stmts;
    for (int c = 0; c < 3; c++)
        stmts.push_back(store(number(c), 3, times(load("in", add(var("x"), number(c)), 3, 4), 5)));
    CHECK(stored(stmts) == "out[ramp(0, 1, 4)] = in[ramp(x, 1, 4)] * broadcast(5, 4)\n"
                           "out[ramp(4, 1, 4)] = in[ramp(x + 4, 1, 4)] * broadcast(5, 4)\n"
                           "out[ramp(8, 1, 4)] = in[ramp(x + 8, 1, 4)] * broadcast(5, 4)\n");
}

TEST_CASE("interleave: an update reads everything before it stores") {
    std::vector<Stmt> stmts;
    for (int c = 0; c < 2; c++)
        stmts.push_back(store(number(c), 2, times(load("out", number(c), 2, 4), 5)));
    CHECK(stored(stmts) == "let out.lanes0.0 = out[ramp(0, 1, 4)] * broadcast(5, 4)\n"
                           "let out.lanes0.1 = out[ramp(4, 1, 4)] * broadcast(5, 4)\n"
                           "out[ramp(0, 1, 4)] = out.lanes0.0\n"
                           "out[ramp(4, 1, 4)] = out.lanes0.1\n");
}

TEST_CASE("interleave: predicates are interleaved as well") {
    Expr on = make_binary(Op::LT, lanes(number(0), 1, 4), make_broadcast(var("n"), 4));
    Expr one = make_broadcast(number(1), 4);
    CHECK(stored({store(number(0), 2, one, on), store(number(1), 2, one, on)}) ==
          "let out.lanes0.0 = interleave(ramp(0, 1, 4) < broadcast(n, 4), ramp(0, 1, 4) < "
          "broadcast(n, 4), 8)\n"
          "out[ramp(0, 1, 4)] = broadcast(1, 4) if slice(out.lanes0.0, 0, 1, 4)\n"
          "out[ramp(4, 1, 4)] = broadcast(1, 4) if slice(out.lanes0.0, 4, 1, 4)\n");
}

TEST_CASE("interleave: what must stay apart") {
    Expr u = load("u", number(0), 1, 4), one = make_broadcast(number(1), 4);
    Expr on = make_binary(Op::LT, lanes(number(0), 1, 4), make_broadcast(var("n"), 4));
    // A channel is missing, is another one, or has another stride.
    CHECK(is_unchanged({store(number(0), 3, u), store(number(1), 3, u)}));
    CHECK(is_unchanged({store(number(0), 2, u), store(number(2), 2, u)}));
    CHECK(is_unchanged({store(number(0), 2, u), store(number(1), 3, u)}));
    CHECK(is_unchanged({store(number(0), 2, u), store(var("x"), 2, u)}));
    // Other predicates, and those that are branches around what is loaded.
    CHECK(is_unchanged({store(number(0), 2, u, on), store(number(1), 2, u)}));
    Expr all = make_broadcast(less(var("x"), var("n")), 4);
    CHECK(is_unchanged({store(number(0), 2, u, all), store(number(1), 2, u, all)}));
    // The second reads what the first stores, or an element of which that is not known.
    CHECK(
        is_unchanged({store(number(0), 2, u), store(number(1), 2, load("out", number(0), 2, 4))}));
    CHECK(is_unchanged({store(number(0), 2, u), store(number(1), 2, load("out", var("x"), 1, 4))}));
    // Something between that reads or writes what is stored.
    Stmt reads = make_store("t", lanes(number(0), 1, 4), load("out", number(0), 2, 4));
    CHECK(is_unchanged({store(number(0), 2, u), reads, store(number(1), 2, u)}));
    CHECK(is_unchanged({store(number(0), 2, u), store(number(0), 1, one), store(number(1), 2, u)}));
}

namespace {

const Types types = {{"flag", Bool()}, {"m", Bool(4)}, {"small", Int(16)}, {"fl", Float(32)}};

std::string interleaved(const std::string &text) {
    return ir::to_string(lower::interleave_stores(parse_stmt(text, types)));
}

void check_unchanged(const std::string &text) {
    INFO(text);
    CHECK(interleaved(text) == text);
}

/// The stores of two values to the channels of out.
std::string channels(const std::string &first, const std::string &second) {
    return "out[ramp(x, 2, 4)] = " + first + "\nout[ramp(x + 1, 2, 4)] = " + second + "\n";
}
std::string vectors(const std::string &first, const std::string &second) {
    return "out[ramp(x, 1, 4)] = " + first + "\nout[ramp(x + 4, 1, 4)] = " + second + "\n";
}
std::string slice(const std::string &name, int from) {
    return "slice(" + name + ", " + std::to_string(from) + ", 1, 4)";
}

/// The values of the channels are interleaved as a whole.
void check_shuffled(const std::string &first, const std::string &second) {
    CHECK(interleaved(channels(first, second)) ==
          "let out.lanes0.0 = interleave(" + first + ", " + second + ", 8)\n" +
              vectors(slice("out.lanes0.0", 0), slice("out.lanes0.0", 4)));
}

/// `value`, in which # stands for the channels of in, is computed of its dense vectors; @ for u, which is replaced by
/// the others.
void check_dense(const std::string &value, const std::string &lets = "",
                 const std::string &other_first = "", const std::string &other_second = "") {
    auto with = [&](const std::string &load, const std::string &other) {
        std::string result = value;
        for (size_t at = result.find('#'); at != std::string::npos; at = result.find('#'))
            result.replace(at, 1, load);
        for (size_t at = result.find('@'); at != std::string::npos; at = result.find('@'))
            result.replace(at, 1, other);
        return result;
    };
    const std::string u = "u[ramp(0, 1, 4)]";
    CHECK(interleaved(channels(with("in[ramp(x, 2, 4)]", u), with("in[ramp(x + 1, 2, 4)]", u))) ==
          lets + vectors(with("in[ramp(x, 1, 4)]", other_first),
                         with("in[ramp(x + 4, 1, 4)]", other_second)));
}

}  // namespace

TEST_CASE(
    "interleave: the channels of another buffer are dense loads, whatever is computed of them") {
    check_dense("#");
    check_dense("abs(#)");
    check_dense("pure(#, broadcast(3, 4))");
    check_dense("reinterpret<uint32x4>(#)");
    check_dense("float32x4(#) * broadcast(2.0f, 4)");
    check_dense("select(# < broadcast(3, 4), # + #, broadcast(k, 4))");
    // Not where they are other channels, or of other buffers or types, or are loaded under other conditions.
    check_shuffled("in[ramp(x + 1, 2, 4)]", "in[ramp(x, 2, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[ramp(x + 2, 2, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[ramp(y + 1, 2, 4)]");
    check_shuffled("in[ramp(x, 3, 4)]", "in[ramp(x + 1, 3, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[ramp(x + 1, 3, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[ramp(x + 1, 1, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[i[ramp(0, 1, 4)]]");
    check_shuffled("in[ramp(x, 2, 4)]", "other[ramp(x + 1, 2, 4)]");
    check_shuffled("in[ramp(x, 2, 4)]", "in[ramp(x + 1, 2, 4) if m]");
    check_shuffled("in[ramp(x, 2, 4)]", "u[ramp(x, 1, 4)]");
    check_shuffled("u[ramp(x, 1, 4)]", "u[ramp(x + 1, 1, 4)]");
}

TEST_CASE("interleave: a predicate of loads is interleaved with them") {
    CHECK(interleaved(channels("in[ramp(x, 2, 4) if m]", "in[ramp(x + 1, 2, 4) if m]")) ==
          "let out.lanes0.0 = interleave(m, m, 8)\n" +
              vectors("in[ramp(x, 1, 4) if " + slice("out.lanes0.0", 0) + "]",
                      "in[ramp(x + 4, 1, 4) if " + slice("out.lanes0.0", 4) + "]"));
}

TEST_CASE("interleave: an operand that is no channel is interleaved itself, once") {
    const std::string name = "out.lanes0.0",
                      let =
                          "let " + name + " = interleave(u[ramp(0, 1, 4)], u[ramp(0, 1, 4)], 8)\n";
    check_dense("# + @", let, slice(name, 0), slice(name, 4));
    CHECK(interleaved(channels("in[ramp(x, 2, 4)] + broadcast(1, 4)",
                               "in[ramp(x + 1, 2, 4)] + broadcast(2, 4)")) ==
          "let out.lanes0.0 = interleave(broadcast(1, 4), broadcast(2, 4), 8)\n" +
              vectors("in[ramp(x, 1, 4)] + " + slice(name, 0),
                      "in[ramp(x + 4, 1, 4)] + " + slice(name, 4)));
}

TEST_CASE("interleave: what two operations share is interleaved once") {
    const Expr u = load("u", number(0), 1, 4);
    std::vector<Stmt> stmts;
    for (int c = 0; c < 2; c++) {
        auto sum = [&](const char *buffer) {
            return make_binary(Op::Add, load(buffer, number(c), 2, 4), u);
        };
        stmts.push_back(store(number(c), 2, make_binary(Op::Mul, sum("in"), sum("other"))));
    }
    const std::string text = stored(stmts), first = "interleave(u[ramp(0, 1, 4)]";
    INFO(text);
    CHECK(text.find(first) != std::string::npos);
    CHECK(text.find(first) == text.rfind(first));
}

TEST_CASE("interleave: the operands are interleaved only where that takes fewer shuffles") {
    // Constants are there already; other operands are put together, as the result would be.
    auto sum = [](const std::string &channel, const std::string &more) {
        return "in[ramp(x" + channel + ", 2, 4)]" + more;
    };
    auto is_dense = [&](const std::string &first, const std::string &second) {
        const std::string text = interleaved(channels(sum("", first), sum(" + 1", second)));
        INFO(text);
        return text.find("in[ramp(x, 1, 4)]") != std::string::npos;
    };
    CHECK(is_dense(" + u[ramp(0, 1, 4)]", " + u[ramp(0, 1, 4)]"));
    CHECK_FALSE(is_dense(" + u[ramp(0, 1, 4)] + v[ramp(0, 1, 4)]",
                         " + u[ramp(0, 1, 4)] + v[ramp(0, 1, 4)]"));
    CHECK(
        is_dense(" + u[ramp(0, 1, 4)] + broadcast(1, 4)", " + u[ramp(0, 1, 4)] + broadcast(2, 4)"));
    CHECK_FALSE(
        is_dense(" + u[ramp(0, 1, 4)] + broadcast(k, 4)", " + u[ramp(0, 1, 4)] + broadcast(n, 4)"));
    check_shuffled("u[ramp(0, 1, 4)] * v[ramp(0, 1, 4)]", "u[ramp(4, 1, 4)] * v[ramp(4, 1, 4)]");
    // What is the same in all channels is computed once.
    check_shuffled("int32x4(small[ramp(0, 1, 4)])", "int32x4(small[ramp(0, 1, 4)])");
    const std::string floats =
        interleaved(channels("fl[ramp(x, 2, 4)] + broadcast(1.0f, 4) * fl[ramp(0, 1, 4)]",
                             "fl[ramp(x + 1, 2, 4)] + broadcast(2.0f, 4) * fl[ramp(0, 1, 4)]"));
    INFO(floats);
    CHECK(floats.find("fl[ramp(x, 1, 4)]") != std::string::npos);
}

TEST_CASE("interleave: only the same operation, of as many lanes, is one of interleaved operands") {
    check_shuffled("in[ramp(x, 2, 4)] + broadcast(1, 4)",
                   "in[ramp(x + 1, 2, 4)] - broadcast(1, 4)");
    check_shuffled("other(in[ramp(x, 2, 4)])", "pure(in[ramp(x + 1, 2, 4)])");
    check_shuffled("select(flag, in[ramp(x, 2, 4)], broadcast(1, 4))",
                   "select(flag, in[ramp(x + 1, 2, 4)], broadcast(1, 4))");
    check_shuffled("reduce<+>(in[ramp(x, 2, 8)], 4)", "reduce<+>(in[ramp(x + 1, 2, 8)], 4)");
    check_shuffled("if_then_else(m, in[ramp(x, 2, 4)], broadcast(1, 4))",
                   "if_then_else(m, in[ramp(x + 1, 2, 4)], broadcast(1, 4))");
    check_shuffled("print(\"c\", in[ramp(x, 2, 4)])", "print(\"c\", in[ramp(x + 1, 2, 4)])");
    check_shuffled("reinterpret<int32x4>(small[ramp(x, 2, 8)])",
                   "reinterpret<int32x4>(small[ramp(x + 1, 2, 8)])");
}

TEST_CASE("interleave: stores of two groups, and in blocks inside, stay apart") {
    const std::string group = channels("u[ramp(0, 1, 4)]", "v[ramp(0, 1, 4)]");
    auto joined = [](const std::string &name) {
        return "let " + name + ".0 = interleave(u[ramp(0, 1, 4)], v[ramp(0, 1, 4)], 8)\n" +
               vectors(slice(name + ".0", 0), slice(name + ".0", 4));
    };
    CHECK(interleaved("{\n  let z = 1\n  g[z] = 1\n}\n" + group + "g[0] = 1\n" + group) ==
          "{\n  let z = 1\n  g[z] = 1\n}\n{\n" + indented(joined("out.lanes0")) + "}\ng[0] = 1\n" +
              joined("out.lanes1"));
}

TEST_CASE("interleave: what is no channel of the same store stays") {
    const std::string u = " = u[ramp(0, 1, 4)]", v = " = v[ramp(0, 1, 4)]";
    check_unchanged("atomic out[ramp(x, 2, 4)]" + u + "\natomic out[ramp(x + 1, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\natomic out[ramp(x + 1, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nevaluate 1\nout[ramp(x + 1, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + " if flag\nout[ramp(x + 1, 2, 4)]" + v +
                    " if flag\n");
    check_unchanged("out[ramp(x, 9, 4)]" + u + "\nout[ramp(x + 1, 9, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 1, 4)]" + u + "\nout[ramp(x + 1, 1, 4)]" + v + "\n");
    check_unchanged("out[x] = 1\nout[x + 1] = 2\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nother[ramp(x + 1, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nout[ramp(x + 1, 2, 8)] = v[ramp(0, 1, 8)]\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nout[ramp(x, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nout[ramp(x - 2, 2, 4)]" + v + "\n");
    check_unchanged("out[ramp(x, 2, 4)]" + u + "\nout[ramp(i[0] + 1, 2, 4)]" + v + "\n");
}

TEST_CASE("interleave: stores that stand far apart are not looked for") {
    auto apart = [](int statements) {
        std::string text = "out[ramp(x, 2, 4)] = u[ramp(0, 1, 4)]\n";
        for (int i = 0; i < statements; i++)
            text += "g[" + std::to_string(i) + "] = 1\n";
        return text + "out[ramp(x + 1, 2, 4)] = v[ramp(0, 1, 4)]\n";
    };
    CHECK(interleaved(apart(62)) != apart(62));
    check_unchanged(apart(63));
}

namespace {

/// Stores to strided elements, of what is loaded from strided elements of the same and of other buffers.
class RandomStores {
  public:
    explicit RandomStores(uint32_t seed) : random_(seed) {
        channels_ = 2 + below(3);
        count_ = 2 + 2 * below(2);
    }

    LoopProgram make() {
        LoopProgram program;
        program.outputs = {"f", "g"};
        std::vector<Stmt> stmts;
        for (int groups = 1 + below(3); groups > 0; groups--)
            group(stmts);
        if (below(2))
            std::shuffle(stmts.begin(), stmts.end(), random_);
        program.body = make_block(std::move(stmts));
        return program;
    }

  private:
    int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

    void group(std::vector<Stmt> &stmts) {
        const std::string buffer = below(3) ? "f" : "g";
        const int base = below(3) * 16, apart = below(8) ? 0 : 1;
        Expr predicate;
        if (below(4) == 0)
            predicate =
                make_binary(Op::LT, lanes(number(0), 1, count_), make_broadcast(var("w"), count_));
        for (int c = 0; c < channels_; c++) {
            Expr index = lanes(number(base + c + apart * below(2)), channels_, count_);
            stmts.push_back(make_store(buffer, index, value(below(4), base + c), predicate));
        }
    }

    Expr value(int depth, int near) {
        switch (depth > 0 ? below(6) : below(4)) {
        case 0:
            return make_broadcast(number(below(3)), count_);
        case 1:
            return load("in", number(near + 8 * below(2)), channels_, count_);
        case 2:
            return load(below(2) ? "f" : "g", number(near), channels_, count_);
        case 3:
            return load(below(2) ? "in" : "f", number(near + below(9)), 1 + below(4), count_);
        case 4:
            return make_select(make_binary(Op::LT, value(depth - 1, near), value(0, near)),
                               value(depth - 1, near), value(0, near));
        default:
            return make_binary(below(2) ? Op::Add : Op::Sub, value(depth - 1, near),
                               value(depth - 1, near));
        }
    }

    std::mt19937 random_;
    int channels_, count_;
};

}  // namespace

TEST_CASE("interleave: random stores leave the same memory") {
    int joined = 0, loads_shared = 0;
    for (uint32_t seed = 1; seed <= 1000; seed++) {
        LoopProgram program = RandomStores(seed).make();
        Stmt stores = lower::interleave_stores(program.body);
        Stmt both = lower::share_strided_loads(stores);
        joined += !stores.same_as(program.body);
        loads_shared += !both.same_as(stores);
        INFO("seed " << seed << "\n" << program.body << "=>\n" << both);
        for (int w : {1, 7}) {
            RunResult expected = run(program, program.body, w, 1);
            REQUIRE(run(program, stores, w, 1) == expected);
            REQUIRE(run(program, both, w, 1) == expected);
        }
    }
    CHECK(joined > 100);
    CHECK(loads_shared > 100);
}
