#pragma once
// Builds vector expressions with visible structure: uniform values are broadcast(scalar), evenly
// spaced ones are ramp(base, stride). This tells the code generator which loads are dense, and
// partition_loops which conditions depend on a loop.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Broadcasts a scalar; a vector is unchanged.
Expr widen(Expr e, int lanes);

/// `e` with other children. If some of them are now vectors, the scalar ones are broadcast and the
/// type is widened. Evenly spaced results become ramps, uniform ones broadcasts, decided conditions
/// constants; masks that are true everywhere are removed.
Expr rebuild(const Expr &e, std::vector<Expr> args);

/// a op b, either of which may be a vector: as by `rebuild`.
Expr combine(ir::Op op, const Expr &a, const Expr &b);
/// a && b, where an undefined operand means true. Either may be a vector.
Expr both(const Expr &a, const Expr &b);
/// !a
Expr negated(const Expr &a);
/// The scalar `op` over all lanes; a scalar is unchanged.
Expr all_lanes(ir::Op op, const Expr &e);

/// True if e is the bool constant `value` in every lane.
bool is_bool_const(const Expr &e, bool value);

/// Whether a call of a function with side effects is in e.
bool has_side_effect(const Expr &e);
/// The buffers that e loads from, and those that the statements below s store to.
std::set<std::string> buffers_read(const Expr &e);
std::set<std::string> buffers_written(const ir::Stmt &s);

}  // namespace Pipe::lower
