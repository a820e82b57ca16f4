#pragma once
// Vectorization of the expressions in a vectorized loop.

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/scope.h"
#include "ir/stmt_node.h"
#include "lower/phases.h"

namespace Pipe::lower {

/// The state of the lanes at the current statement or expression.
struct Lanes {
    /// The vector meaning of a name in the scalar code.
    struct Meaning {
        Expr value;
        Expr ramp;  ///< the same value, if it is evenly spaced
    };

    /// An enclosing Let or If, in scalar form.
    struct Enclosing {
        ir::StmtOp op;     ///< Let or If
        std::string name;  ///< Let
        Expr value;
    };

    const std::string loop;
    const Expr min;  ///< of the loop: its value in the first lane
    const int count;
    ir::Scope<Meaning> vectors = {};
    std::set<std::string> copies = {};      ///< buffers with one copy per lane
    std::vector<Enclosing> enclosing = {};  ///< outermost first
    Expr mask = {};                         ///< active lanes; undefined = all
    bool reads_uniform = false;             ///< a load under the mask has a uniform address

    void set_ramp(const std::string &name, const Expr &ramp) { vectors.push(name, {ramp, ramp}); }
};

class ExprVectorizer {
  public:
    /// `one_phase`: the lanes are those of one phase (see phases.h).
    explicit ExprVectorizer(Lanes &lanes, bool one_phase = false);

    /// The vector form of e; a scalar if it is uniform. Undefined if e is.
    Expr vec(const Expr &e);
    /// The same, with names expanded if they are evenly spaced: a Ramp wherever possible. For
    /// analysis only.
    Expr seen_through(const Expr &e);
    /// The elements of all lanes in a buffer with one copy per lane.
    Expr spread(const Expr &index) const;

  private:
    Expr rewrite(const Expr &e);
    Expr rewrite_node(const Expr &e);
    /// The difference between adjacent lanes; nothing if it varies, and for buffers with a copy per
    /// lane.
    std::optional<int64_t> step_of(const std::string &name) const;
    /// The mask in scalar form; undefined if all lanes are active. Nothing if it depends on memory,
    /// which may have changed, on a value that must not be split, or on a name that has been
    /// rebound.
    std::optional<Expr> condition_here();
    /// e, computed by phases and interleaved; undefined if that is not useful or not possible.
    Expr interleaved(const Expr &e);
    /// Sets the evenly spaced names of `from` for phase k.
    void set_ramps(Lanes &phase, const Expr &from, int k, int phases) const;
    Expr let(const Expr &e);
    Expr arm(const Expr &condition, const Expr &e);
    /// Only one arm is evaluated: loads of the other one are masked off. What both arms compute
    /// unconditionally is computed before, once for both.
    Expr if_then_else(const Expr &e);
    Expr load(const Expr &e, Expr index, Expr predicate);

    Lanes &lanes_;
    const bool one_phase_;
    bool see_through_ = false;
    int arms_ = 0;  ///< nesting depth of if_then_else
    std::unordered_map<const ir::ExprNode *, Expr> done_;
    Phases phases_;
};

}  // namespace Pipe::lower
