#pragma once
// Conflicts between two iterations of an update. Internal to poly/: includes isl.

#include <optional>
#include <string>
#include <vector>

#include <isl/cpp.h>

#include "graph/graph.h"
#include "poly/affine.h"
#include "poly/loop_values.h"

namespace Pipe::poly {

/// Queries about pairs of iterations of an update with its scheduled loops. Anything that is not
/// affine, or exceeds the quota, counts as a conflict.
class Pairs {
  public:
    /// \param quota isl operations per query
    Pairs(const graph::FuncNode &func, const graph::Stage &stage, const schedules::StageSchedule &s,
          unsigned long quota);
    ~Pairs();
    Pairs(const Pairs &) = delete;
    Pairs &operator=(const Pairs &) = delete;

    /// The access that conflicts with a write in another iteration of this loop, in the same
    /// iteration of the outer loops; undefined = none.
    Expr conflict(size_t dim);
    /// The access that would precede a write that it must follow, or vice versa, if the loops run
    /// in this order.
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
    std::vector<Expr> accesses_;  // calls of the Func; the write comes first
    std::vector<std::string> shared_;
    Environment nothing_;
    isl_ctx *raw_;
    isl::space space_;  // { Pair[p, q, s] }
    isl::set domain_;   // { Pair[p, q, s] }
};

}  // namespace Pipe::poly
