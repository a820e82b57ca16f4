#pragma once
// Building vector expressions whose shape stays visible: what is the same in every lane is
// broadcast(scalar), what advances evenly is ramp(base, stride). The code generator reads from it which
// loads are dense, and partition_loops which conditions a loop decides.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// The scalar in every lane; a vector as it is.
Expr widen(Expr e, int lanes);

/// `e` with other children. Where some of them are vectors now, the scalar ones are broadcast and the
/// type is widened. Evenly spaced results become ramps, uniform ones broadcasts, decided conditions
/// constants, and masks that are true everywhere vanish.
Expr rebuild(const Expr &e, std::vector<Expr> args);

/// a op b, either of which may be a vector: as by `rebuild`.
Expr combine(ir::Op op, const Expr &a, const Expr &b);
/// a && b, where an undefined operand means true. Either may be a vector.
Expr both(const Expr &a, const Expr &b);
/// !a
Expr negated(const Expr &a);
/// The scalar `op` of all lanes; of a scalar, itself.
Expr all_lanes(ir::Op op, const Expr &e);

/// True if e is the bool constant `value` in every lane.
bool is_bool_const(const Expr &e, bool value);

/// Whether a call of a function with side effects is in e.
bool has_side_effect(const Expr &e);
/// The buffers that e loads from, and those that the statements below s store to.
std::set<std::string> buffers_read(const Expr &e);
std::set<std::string> buffers_written(const ir::Stmt &s);

}  // namespace Pipe::lower
