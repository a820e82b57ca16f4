#pragma once
// Register blocks that were found for one machine.
//
// The same stages are computed over the same extents in many groups, and stages that do the same work are found in many
// Funcs: the layers of a network.

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "autoschedule/register_block.h"

namespace Pipe::autoschedule {

class BlockCache {
  public:
    /// reduction_block(). \param machine  the same in all calls but for the number of registers
    const std::optional<RegisterBlock> &block(const Node &node, size_t stage,
                                              const std::vector<int64_t> &extents,
                                              const Machine &machine, int cores);

    /// Of blocks that were found.
    long size() const { return static_cast<long>(blocks_.size()); }

  private:
    /// All that a stage's block depends on, beside what block() is given.
    using Form = std::vector<int64_t>;
    static Form form_of(const Node &node, size_t stage);
    int form(const Node &node, size_t stage);

    std::map<Form, int> forms_;
    std::map<std::tuple<FuncId, uint64_t, size_t>, int> known_;  // by Func, its version, and stage
    /// By form, extents, registers, and cores.
    std::map<std::tuple<int, std::vector<int64_t>, int, int>, std::optional<RegisterBlock>> blocks_;
};

}  // namespace Pipe::autoschedule
