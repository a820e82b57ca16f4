#pragma once
// Dependences between the lanes of a vectorized loop, within one statement.

#include <string>

#include "lower/lanes.h"
#include "lower/vectorize_exprs.h"

namespace Pipe::lower {

/// Whether what one lane reads for the value may be what an earlier lane stores to `buffer` at the index. Vectors
/// read all values before they store any.
bool depends_on_other_lane(const Expr &value, const std::string &buffer, const Expr &index,
                           const Lanes &lanes, ExprVectorizer &exprs);

/// The values of a Tuple are computed, by lets, before any is stored: whether the value of a later lane depends
/// on what is stored in the let.
bool feeds_later_lanes(const ir::StmtNode &let, const Lanes &lanes, ExprVectorizer &exprs);

}  // namespace Pipe::lower
