#pragma once
// Which of the Funcs computed at one level are needed in any case, and which only where a memoized Func
// is not found in the cache.

#include <map>
#include <set>
#include <vector>

#include "region/loop_tree.h"

namespace Pipe::lower {

/// Funcs that share loops (compute_with), or one Func.
using Group = std::vector<FuncId>;

class Needs {
  public:
    explicit Needs(const region::LoopTree &tree);

    /// `groups`, which is all that is computed at the level, producers first, by the memoized Func of the
    /// same level that alone needs what they compute; FuncId::None: needed in any case, as are tasks of
    /// their own and what lives longer than the level.
    std::map<FuncId, std::vector<Group>> sort(const region::Level &level,
                                              std::vector<Group> groups);

  private:
    bool may_be_left_out(FuncId id, const region::Level &level) const;
    FuncId need_of(const Group &group, const region::Level &level) const;
    FuncId need_of_user(const region::StageNest &reader, const region::Level &level) const;

    const region::LoopTree &tree_;
    bool any_memoized_ = false;
    std::set<FuncId>
        must_run_;  ///< something is computed in their loops that lives longer than they
    std::map<FuncId, FuncId> needs_;  ///< of what may be left out
};

}  // namespace Pipe::lower
