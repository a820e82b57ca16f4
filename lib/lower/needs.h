#pragma once
// Which Funcs at a level are always needed, and which are needed only if a memoized Func is not in
// the cache.

#include <map>
#include <set>
#include <vector>

#include "region/production.h"

namespace Pipe::lower {

class Needs {
  public:
    explicit Needs(const region::LoopTree &tree);

    /// Groups `groups`, all Funcs computed at the level, producers first, by the memoized Func of
    /// the same level that alone needs them; FuncId::None: always needed, which includes async
    /// tasks and values that outlive the level.
    std::map<FuncId, std::vector<region::Group>> sort(const region::Level &level,
                                                      std::vector<region::Group> groups);

  private:
    bool may_be_left_out(FuncId id, const region::Level &level) const;
    FuncId need_of(const region::Group &group, const region::Level &level) const;
    FuncId need_of_user(const region::StageNest &reader, const region::Level &level) const;

    const region::LoopTree &tree_;
    bool any_memoized_ = false;
    std::set<FuncId> must_run_;       ///< values computed in their loops outlive them
    std::map<FuncId, FuncId> needs_;  ///< for Funcs that may be skipped
};

}  // namespace Pipe::lower
