#pragma once
// The expressions of a vectorized loop: what they are in all lanes at once.

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/scope.h"
#include "ir/stmt_node.h"
#include "lower/phases.h"

namespace Pipe::lower {

/// What holds in the lanes at the statement or expression at hand.
struct Lanes {
    /// What a name of the scalar code means in vector code.
    struct Meaning {
        Expr value;
        Expr ramp;  ///< the same value, where it advances evenly from lane to lane
    };

    /// Something of one lane that encloses the statement at hand, in scalar form.
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
    Expr mask = {};                         ///< the lanes that are on; undefined = all
    bool reads_uniform = false;             ///< a load under the mask has one address for all lanes

    void set_ramp(const std::string &name, const Expr &ramp) { vectors.push(name, {ramp, ramp}); }
};

class ExprVectorizer {
  public:
    /// `one_phase`: the lanes are those of one phase (see phases.h) of the loop's.
    explicit ExprVectorizer(Lanes &lanes, bool one_phase = false);

    /// e in all lanes; a scalar where they have the same value. Undefined where e is.
    Expr vec(const Expr &e);
    /// The same, with what names stand for in their place, where that advances evenly: a Ramp wherever it can
    /// be one. To reason about, not to be computed.
    Expr seen_through(const Expr &e);
    /// The lanes' elements of a buffer with one copy per lane.
    Expr spread(const Expr &index) const;

  private:
    Expr rewrite(const Expr &e);
    Expr rewrite_node(const Expr &e);
    /// From one lane to the next; nothing where that differs, and for buffers with a copy per lane.
    std::optional<int64_t> step_of(const std::string &name) const;
    /// Which lanes are on, for one lane; undefined for all. Nothing where it depends on memory, which may have
    /// changed, on what stays whole, or on a name that means something else by now.
    std::optional<Expr> condition_here();
    /// e, one phase after the other; undefined where that is of no use or cannot be.
    Expr interleaved(const Expr &e);
    /// What advances evenly in `from`, as in phase k of so many.
    void set_ramps(Lanes &phase, const Expr &from, int k, int phases) const;
    Expr let(const Expr &e);
    Expr arm(const Expr &condition, const Expr &e);
    /// Only one arm is evaluated: loads of the other one are masked off. What both arms compute in
    /// any case is computed before, once for both.
    Expr if_then_else(const Expr &e);
    Expr load(const Expr &e, Expr index, Expr predicate);

    Lanes &lanes_;
    const bool one_phase_;
    bool see_through_ = false;
    int arms_ = 0;  ///< how many if_then_else are nested here
    std::unordered_map<const ir::ExprNode *, Expr> done_;
    Phases phases_;
};

}  // namespace Pipe::lower
