#pragma once
// The names of a Func's loops in the graph.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "language/contents.h"

namespace Pipe::language {

/// The Vars, RVars and loops of one Func: maps user's names to names in the graph.
class LoopNames {
  public:
    explicit LoopNames(const FuncContents &func);

    const std::string &operator()(int stage, const std::string &name) const;
    /// For the pure definition: storage dimensions and bounds.
    const std::string &operator()(const std::string &name) const { return (*this)(0, name); }
    /// All names in use.
    const std::set<std::string> &taken() const { return taken_; }

  private:
    void take_loops(const schedules::StageSchedule &loops, const std::vector<ReductionVar> &rvars);
    void add_rvars(const FuncContents &func, size_t stage);

    std::vector<std::map<std::string, std::string>> renamed_;  // per stage
    std::set<std::string> taken_;
};

}  // namespace Pipe::language
