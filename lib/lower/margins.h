#pragma once
// Guards as margins: sums that are positive where a comparison holds, and how they change over loops.

#include <optional>
#include <string>
#include <vector>

#include "ir/expr_node.h"
#include "ir/linear.h"
#include "ir/stmt_node.h"

namespace Pipe::lower {

/// Adds the conditions of a conjunction.
void take_apart(const Expr &condition, std::vector<Expr> &parts);

/// A number that is positive where the comparison holds, as int64: nothing overflows. Nothing if that is not known.
std::optional<ir::Linear> margin_of(const Expr &comparison);
/// By how much the margin grows per iteration of the loop; nothing if it is not the same for all.
std::optional<int64_t> growth(const ir::Linear &margin, const std::string &loop);
/// The margin for one value of the variable.
std::optional<ir::Linear> margin_at(const ir::Linear &margin, const std::string &name,
                                    const Expr &value);
/// The margin where it is least in these loops of constant extents, outermost first; nothing if that is not known.
std::optional<ir::Linear> least(std::optional<ir::Linear> margin,
                                const std::vector<const ir::StmtNode *> &loops);
/// The margin where it is greatest, likewise.
std::optional<ir::Linear> greatest(std::optional<ir::Linear> margin,
                                   const std::vector<const ir::StmtNode *> &loops);
bool depends_on(const ir::Linear &margin, const std::string &name);
Expr to_expr(const ir::Linear &margin);

/// The last value of the loop's variable.
Expr last_of(const ir::StmtNode &loop);

}  // namespace Pipe::lower
