#pragma once
// LetTable: names for the ends of regions, and their values.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "region/names.h"

namespace Pipe::region {

/// What the value of an expression depends on, with all lets expanded.
struct LetDependencies {
    std::set<std::string> variables;
    bool slides = false;      ///< one of the lets has another value in the steady state
    bool from_query = false;  ///< one of them is the result of a C function's bounds query
};

/// Expressions of several loops, such as the ends of all regions in a chain of stages, share parts. Each
/// part is bound to a name once per level, so that the differences between ends that contain it remain
/// visibly constant, and expressions stay small. Names are only added, and keep their values.
class LetTable {
  public:
    /// The value as a sum of few variables: other parts (min, max, quotients) and longer sums are bound to
    /// `name` just inside the level, unless they are bound there already.
    Expr bind(const Level &level, const std::string &name, const Expr &value);
    /// Adds a let of a bounds query.
    void bind_query(const Level &level, const std::string &name, const Expr &value);
    /// The value of a variable that the loops define themselves, so that no level binds it.
    void define(const std::string &name, const Expr &value);
    /// The value of a let, which need not exist yet, in the steady state: after the first iteration of a
    /// sliding window.
    void define_steady(const std::string &name, const Expr &value);

    /// A value of a let, which need not exist yet, that is never on the inner side of the actual one: an end of an
    /// interval that holds the one needed in any iteration of a sliding window, the first one included.
    void define_widest(const std::string &name, const Expr &value);

    LetDependencies dependencies(const Expr &e) const;
    bool moves_with(const Expr &e, const Level &loop) const;
    /// Expands lets to their values; in the steady state.
    Expr expand(const Expr &e) const;
    Expr expand_steady(const Expr &e) const;
    /// Expands only the lets that have a widest value, to that.
    Expr expand_widest(const Expr &e) const;
    /// Expands the lets whose values depend on the loop.
    Expr expand_along(const Expr &e, const Level &loop) const;
    /// Whether the expression itself uses a let that is bound at the level.
    bool uses_lets_of(const Expr &e, const Level &level) const;
    /// The value of a let, and the number of earlier ones; undefined if there is none.
    std::pair<Expr, int> value_of(const std::string &name) const;

    const std::map<Level, Lets> &lets() const { return lets_; }

  private:
    /// The variable bound to this value at the level.
    Expr let_of(const Level &level, const std::string &name, const Expr &value);

    std::map<Level, Lets> lets_;
    std::map<Level, std::map<Expr, std::string, ir::ExprLess>> names_;
    std::map<std::string, std::pair<Expr, int>> values_;  ///< and the number of earlier lets
    /// Cached, because expansion for every query would take time quadratic in the length of a chain of
    /// stages.
    std::map<std::string, LetDependencies> dependencies_;
    std::map<std::string, Expr> steady_values_, widest_values_;
};

}  // namespace Pipe::region
