#pragma once
// InlinedValues: what takes the place of calls of a Func that is inlined.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr_node.h"

namespace Pipe::graph {

/// The values of one pure Func at the points where it is called. Each point has one Expr, however often it is read: so
/// chains of Funcs that each read the one before several times do not grow exponentially.
class InlinedValues {
  public:
    /// \param vars    of the definition
    /// \param values  of its tuple elements
    InlinedValues(const std::vector<std::string> &vars, const std::vector<Expr> &values)
        : vars_(vars), values_(values) {}

    /// The value of a call. The first time, of the point, it is finish() of the definition there.
    template <typename F> Expr at(const ir::ExprNode &call, const F &finish) {
        Point point = point_of(call);
        if (auto found = known_.find(point); found != known_.end())
            return found->second;
        Expr value = finish(definition_at(point));
        known_.emplace(std::move(point), value);
        return value;
    }

  private:
    struct Point {
        int32_t element;
        std::vector<Expr> args;
        bool operator==(const Point &other) const;
    };
    struct PointHash {
        size_t operator()(const Point &p) const;
    };

    static Point point_of(const ir::ExprNode &call);
    Expr definition_at(const Point &point) const;

    const std::vector<std::string> &vars_;
    const std::vector<Expr> &values_;
    std::unordered_map<Point, Expr, PointHash> known_;
};

}  // namespace Pipe::graph
