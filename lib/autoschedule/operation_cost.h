#pragma once
// The arithmetic cost of expressions.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::autoschedule {

constexpr double division_instructions = 12;  ///< of floats

/// Work of one iteration in instructions x bytes of their type; divided by the size of a vector
/// register, this gives vector instructions per element.
struct Arithmetic {
    double sums = 0,
           products = 0;  ///< of floats; a sum and a product can become one fused instruction
    double other = 0;
    /// Of selects of a value tagged likely(), with their conditions: boundary conditions. Partitioning removes
    /// them from the interior of pure loops (lower/partition_loops.h), so total() is without them.
    double tests = 0;
    /// Of `other`: divisions of floats by what does not depend on the first variable.
    double divisions = 0;
    double count = 0;  ///< of instructions
    int widest = 1;    ///< bytes of the widest value

    double total() const { return std::max(sums, products) + other; }
    /// As it is in loops that are not partitioned.
    Arithmetic with_tests() const {
        Arithmetic result = *this;
        result.other += std::exchange(result.tests, 0);
        return result;
    }
    /// In a loop along the first variable, with Target::FastMath: the divisor's reciprocal is computed before it.
    Arithmetic with_reciprocals() const {
        Arithmetic result = *this;
        const double work = std::exchange(result.divisions, 0);
        result.other -= work;
        result.products += work / division_instructions;
        return result;
    }
    void add(const Arithmetic &more, double times) {
        sums += times * more.sums;
        products += times * more.products;
        other += times * more.other;
        tests += times * more.tests;
        divisions += times * more.divisions;
        count += times * more.count;
        widest = std::max(widest, more.widest);
    }
};

/// Vector instructions of one node, without its operands; for slow ones, the time of so many.
double instructions(const Expr &e);

/// What depends on the same variables.
struct Work {
    uint64_t variables = 0;  ///< as bits
    Arithmetic arithmetic;
};

/// The cost of the distinct nodes of `values`, without indices of loads, by which of the variables they depend on.
std::vector<Work> work_of(const std::vector<Expr> &values,
                          const std::vector<std::string> &variables);

}  // namespace Pipe::autoschedule
