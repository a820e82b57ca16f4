#pragma once
// Interleaving the lanes of k channels into k dense vectors.

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::lower {

/// The j-th vector holds the lanes j*n, ..., j*n + n - 1 of interleave(channels), where n are the lanes of
/// a channel.
class InterleavedValue {
  public:
    using Channels = std::vector<Expr>;

    /// The lets that it creates are named `name` and a number.
    explicit InterleavedValue(std::string name) : name_(std::move(name)) {}

    /// One vector per channel. They use the names in lets().
    std::vector<Expr> parts_of(const Channels &channels);

    /// The lets that the parts use, in order of definition.
    const std::vector<std::pair<std::string, Expr>> &lets() const { return lets_; }
    /// The number of lets so far, for a name that is still free.
    std::string fresh_name() { return name_ + std::to_string(next_name_++); }

  private:
    using Key = std::vector<const ir::ExprNode *>;

    /// How the channels are interleaved, and the cost: bytes of the elements that are shuffled.
    struct Plan {
        enum Form { Same, DenseLoad, Operands, Shuffle } form = Shuffle;
        int64_t cost = 0;
    };

    const Plan &plan(const Channels &channels);
    Plan make_plan(const Channels &channels);
    int64_t cost_of_operands(const Channels &channels);
    int64_t strided_bytes(const Expr &e);
    std::vector<Expr> build(const Channels &channels);
    std::vector<Expr> dense_loads(const Channels &channels);
    std::vector<Expr> operation(const Channels &channels);
    std::vector<Expr> shuffled(const Channels &channels);

    std::string name_;
    int next_name_ = 0;
    std::map<Key, Plan> plans_;
    std::map<Key, std::vector<Expr>> built_;
    std::unordered_map<const ir::ExprNode *, int64_t> strided_bytes_;
    std::vector<Channels> kept_;  ///< so that the nodes' addresses stay their own
    std::vector<std::pair<std::string, Expr>> lets_;
};

}  // namespace Pipe::lower
