#pragma once
// The guards in blocks of sums (whole_sums.h), decided for all rows and lanes at once.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/linear.h"
#include "ir/stmt_node.h"
#include "lower/margins.h"
#include <pipe/target.h>

namespace Pipe::lower {

/// Whether `margin` is not positive where `other` is not.
bool fails_with(const ir::Linear &margin, const ir::Linear &other);

/// The statements of an array without the guards that can be decided for all of it at once: all of them, or those of lanes.
class WithoutGuards {
  public:
    explicit WithoutGuards(const Target *target, bool only_lanes = false)
        : target_(target), only_lanes_(only_lanes) {}

    std::vector<ir::Linear> margins;  ///< positive where all these guards hold
    bool takes_long = false;          ///< has serial loops of many iterations in all
    bool has_masks = false;           ///< lanes that are guarded
    bool is_done_by_lanes = false;    ///< a vector that is guarded

    /// What is positive where any lane is stored: of the guards of lanes, what is part of all of them.
    std::vector<ir::Linear> any() const { return any_.value_or(std::vector<ir::Linear>()); }

    /// Undefined where it cannot tell.
    ir::Stmt operator()(const ir::Stmt &s);

  private:
    const Target *target_;
    const bool only_lanes_;
    int masks_ = 0;  ///< guards of lanes around
    std::optional<std::vector<ir::Linear>> any_;
    static constexpr int64_t many = 32;
    int64_t iterations_ = 1;  ///< of the serial loops around
    std::vector<const ir::StmtNode *> loops_;
    std::vector<std::pair<std::string, Expr>> lets_;

    ir::Stmt block(const ir::Stmt &s);
    ir::Stmt loop(const ir::Stmt &s);
    ir::Stmt guard(const ir::Stmt &s);
    /// Of what is positive where any lane is stored.
    void keep_common(const std::vector<ir::Linear> &some);
    /// A margin that is positive where the comparison holds for all rows and lanes, or for any. Nothing where it is another one for each
    /// iteration of a serial loop, as at the end of a sum that is computed by vectors: that is a steady state's.
    std::optional<ir::Linear> of_all(const Expr &comparison, decltype(lower::least) extreme) const;
};

}  // namespace Pipe::lower
