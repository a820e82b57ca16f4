#pragma once
// Random flattened loop programs, and running them: passes must not change what they compute.

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "ir/stmt_node.h"

namespace Pipe::testing {

/// A program over int32 buffers of `rows` * `pitch` elements: "in" is read, the others are written. Its
/// free variables are the size "w" x "h" of the picture.
struct LoopProgram {
    static constexpr int pitch = 48, rows = 8;
    ir::Stmt body;
    std::vector<std::string> outputs;
};

/// What the generator may use.
struct LoopFeatures {
    bool vectorized = true;
    bool unrolled = true;
    /// Inside vectorized loops: lets, branches, allocations, ragged loops, reductions, collisions,
    /// calls with side effects.
    bool rich_bodies = false;
};

LoopProgram random_loops(uint32_t seed, const LoopFeatures &features);

/// All that a run leaves behind: the outputs' contents, and the values passed to the extern function
/// "log" (sorted: passes may reorder them between statements).
struct RunResult {
    std::map<std::string, std::vector<int32_t>> outputs;
    std::vector<int64_t> log;
    bool operator==(const RunResult &) const = default;
};

/// Verifies and executes `body`, which is the program's or what a pass made of it.
RunResult run(const LoopProgram &program, const ir::Stmt &body, int w, int h);

/// Terse construction of index expressions and statements in tests.
Expr number(int64_t value);  ///< int32
Expr var(const std::string &name);
Expr less(const Expr &a, const Expr &b);
Expr clamp(const Expr &e, const Expr &lo, const Expr &hi);
Expr load(const std::string &buffer, const Expr &index);

}  // namespace Pipe::testing
