// Index expressions for tests, and their values by definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "ir/expr_node.h"

namespace test {

using Pipe::Expr;
using Pipe::ir::Op;
using Names = std::map<std::string, int64_t>;

inline Expr var(const std::string &name) {
    return Pipe::ir::make_variable(Pipe::Int(32), name);
}
inline Expr num(int64_t value) {
    return Pipe::ir::make_int(Pipe::Int(32), value);
}
inline Expr bin(Op op, Expr a, Expr b) {
    return Pipe::ir::make_binary(op, std::move(a), std::move(b));
}
inline Expr clamped(Expr e, int64_t low, int64_t high) {
    return bin(Op::Max, bin(Op::Min, std::move(e), num(high)), num(low));
}

inline int64_t value_of(const Expr &e, const Names &names) {
    auto arg = [&](size_t i) { return value_of(e->args[i], names); };
    switch (e->op) {
    case Op::IntImm:
        return e->int_value;
    case Op::Variable:
        return names.at(e->name);
    case Op::Add:
        return arg(0) + arg(1);
    case Op::Sub:
        return arg(0) - arg(1);
    case Op::Mul:
        return arg(0) * arg(1);
    case Op::Div:
        return static_cast<int64_t>(std::floor(double(arg(0)) / double(arg(1))));
    case Op::Mod: {
        const int64_t r = arg(0) % arg(1);
        return r < 0 ? r + arg(1) : r;
    }
    case Op::Min:
        return std::min(arg(0), arg(1));
    case Op::Max:
        return std::max(arg(0), arg(1));
    case Op::LT:
        return arg(0) < arg(1);
    case Op::EQ:
        return arg(0) == arg(1);
    case Op::Select:
        return arg(0) != 0 ? arg(1) : arg(2);
    default:
        throw std::logic_error("not an index expression of this test");
    }
}

/// Of i, j and r: affine, with floors, remainders, clamps and selects.
inline Expr random_index(std::mt19937 &rng, int depth) {
    auto pick = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    if (depth == 0 || pick(5) == 0) {
        const char *names[] = {"i", "j", "r"};
        return pick(4) == 0 ? num(pick(9) - 4) : var(names[pick(3)]);
    }
    Expr a = random_index(rng, depth - 1);
    switch (pick(8)) {
    case 0:
        return bin(Op::Add, a, random_index(rng, depth - 1));
    case 1:
        return bin(Op::Sub, a, random_index(rng, depth - 1));
    case 2:
        return bin(Op::Mul, a, num(pick(5) - 2));
    case 3:
        return bin(Op::Div, a, num(1 + pick(4)));
    case 4:
        return bin(Op::Mod, a, num(1 + pick(4)));
    case 5:
        return bin(Op::Min, a, random_index(rng, depth - 1));
    case 6:
        return clamped(a, -pick(3), pick(9));
    default:
        return Pipe::ir::make_select(
            bin(pick(2) ? Op::LT : Op::EQ, random_index(rng, 1), num(pick(5))), a,
            random_index(rng, depth - 1));
    }
}

}  // namespace test
