#pragma once
// Two iterations of one update, and what they may do to each other. For poly's own files only: it
// includes isl.

#include <optional>
#include <string>
#include <vector>

#include <isl/cpp.h>

#include "graph/graph.h"
#include "poly/affine.h"
#include "poly/loop_values.h"

namespace Pipe::poly {

/// Questions about the pairs of iterations of an update, as its loops are scheduled. What is not
/// affine, or beyond the quota, counts as a conflict.
class Pairs {
  public:
    /// \param quota isl's operations for one question
    Pairs(const graph::FuncNode &func, const graph::Stage &stage, const schedules::StageSchedule &s,
          unsigned long quota);
    ~Pairs();
    Pairs(const Pairs &) = delete;
    Pairs &operator=(const Pairs &) = delete;

    /// The access that meets a write of another iteration of this loop, the loops outside being at
    /// the same place; undefined = none.
    Expr conflict(size_t dim);
    /// The access that would come before the write that it must follow, or the other way round, where
    /// the loops run in this order.
    Expr reordered(const LoopOrder &order);

    const Expr &written() const { return accesses_.front(); }

  private:
    void collect(const graph::FuncNode &func);
    template <typename F> Expr ask(F &&make_pairs);

    isl::pw_aff variable(size_t k) const;
    Affine affine(bool second);
    std::optional<isl::pw_aff> value(const Expr &e, bool second);

    void add_domain();
    void add_condition(const Expr &e, bool second);

    isl::set same_element(const Expr &access);
    isl::set equal_loop(const std::string &loop);
    isl::set any_different();
    isl::set differs(const std::string &loop);
    isl::set original_order();
    isl::set reversed(const LoopOrder &order);

    const graph::Stage &stage_;
    const std::vector<schedules::Dim> &dims_;
    LoopValues values_;
    std::vector<Expr> accesses_;  // calls of the Func; first the write
    std::vector<std::string> shared_;
    Environment nothing_;
    isl_ctx *raw_;
    isl::space space_;  // { Pair[p, q, s] }
    isl::set domain_;   // { Pair[p, q, s] }
};

}  // namespace Pipe::poly
