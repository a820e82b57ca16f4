#include "lower/interleave_stores.h"

#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "lower/share_strided_loads.h"
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
