#include "region/plan_verify.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"
#include <pipe/error.h>

namespace Pipe::region {

using namespace ir;

namespace {

class Verifier {
  public:
    explicit Verifier(const RegionPlan &plan) : plan_(plan), tree_(plan.tree) {}

    void run() {
        names();
        for (const auto &[level, range] : plan_.demand.loops)
            is_level(level, "the ranges of loops");
        for (const graph::FuncNode &func : tree_.graph().funcs) {
            for (const StageNest &nest : tree_.place(func.id).stages)
                stage(func, nest);
            if (tree_.place(func.id).computed && !func.is_output)
                storage(func);
        }
    }

  private:
    [[noreturn]] static void fail(const std::string &what) {
        throw InternalError("the regions of the pipeline contradict each other: " + what);
    }

    void is_level(const Level &level, const char *where) const {
        if (!level.empty() && !tree_.is_loop(level))
            fail(fmt::format("{} name the loop '{}', which does not exist", where, level));
    }

    /// Each let uses only those that are bound before it.
    void names() const {
        std::set<std::string> lets;
        for (const auto &[level, list] : plan_.names.lets) {
            is_level(level, "lets");
            for (const auto &[name, value] : list)
                if (!lets.insert(name).second)
                    fail("'" + name + "' is bound twice");
        }
        for (const auto &[level, list] : plan_.names.lets) {
            std::set<std::string> bound;
            auto bind_all = [&](const Level &at) {
                for (const auto &[name, value] : plan_.names.lets_at(at))
                    bound.insert(name);
            };
            if (!level.empty()) {
                bind_all("");
                for (const Level &outer : tree_.path_to(level))
                    if (outer != level)
                        bind_all(outer);
            }
            for (const auto &[name, value] : list) {
                each_node(value, [&](const ExprNode &e) {
                    if (e.op == Op::Variable && lets.count(e.name) && !bound.count(e.name))
                        fail(fmt::format("'{}' uses '{}', which is not bound before it", name,
                                         e.name));
                    return true;
                });
                bound.insert(name);
            }
        }
    }

    void stage(const graph::FuncNode &func, const StageNest &nest) const {
        const std::string name = stage_name(func, nest.stage);
        const StageDemand &demand = plan_.demand.of(nest);
        for (const StageLoop &loop : nest.loops) {
            if (!plan_.demand.loops.count(loop.name))
                fail("the loop '" + loop.name + "' has no range");
            if (!demand.ranges.count(loop.dim.name))
                fail(fmt::format("'{}' of {} has no range", loop.dim.name, name));
        }
        if (plan_.tails.of(nest).tails.size() != nest.transforms.size())
            fail("splits of " + name + " have no tail");
        if (plan_.tails.of(nest).kinds.size() != nest.loops.size())
            fail("loops of " + name + " have no kind");
        for (const schedules::Transform &t : nest.transforms)
            if (!demand.ranges.count(t.old_name))
                fail(fmt::format("'{}' of {} has no range", t.old_name, name));
        if (demand.domain.size() != func.args.size())
            fail(fmt::format("{} has {} dimensions, its domain {}", name, func.args.size(),
                             demand.domain.size()));
    }

    void storage(const graph::FuncNode &func) const {
        const FuncStorage &storage = plan_.storage.of(func.id);
        const FuncPlace &place = tree_.place(func.id);
        const size_t dims = func.args.size();
        if (storage.region.size() != dims)
            fail("the storage of " + func.name + " has no region");
        const bool ring = tree_.schedule()[func.id].ring_buffer.defined();
        if (storage.allocation.size() != dims + (ring ? 1 : 0))
            fail("the allocation of " + func.name + " has another number of dimensions");
        if (storage.window.dim >= 0)
            is_level(storage.window.loop, "sliding windows");
        for (const Fold &fold : storage.folds) {
            int64_t factor = 0;
            if (as_const_int(fold.factor, &factor) && factor < fold.live)
                fail(fmt::format("{} is folded to {} planes of '{}', but {} are live", func.name,
                                 factor, func.args[static_cast<size_t>(fold.dim)], fold.live));
        }
        if (place.store != place.compute)
            return;
        // A broken promise of the user (bound) is reported when the pipeline runs.
        auto is_promised = [&](size_t d) {
            const auto &bounds = tree_.schedule()[func.id].bounds;
            return std::any_of(bounds.begin(), bounds.end(), [&](const schedules::Bound &b) {
                return b.var == func.args[d];
            });
        };
        for (const StageNest &nest : place.stages)
            for (size_t d = 0; d < dims; d++) {
                if (is_promised(d))
                    continue;
                const Interval &inside = plan_.demand.of(nest).domain[d],
                               &region = storage.region[d];
                for (const Expr &missing : {make_binary(Op::LT, inside.min, region.min),
                                            make_binary(Op::GT, inside.max, region.max)})
                    if (is_const(simplify(missing), 1))
                        fail(fmt::format("{} computes '{}' from {} to {}, but stores {} to {}",
                                         stage_name(func, nest.stage), func.args[d],
                                         ir::to_string(inside.min), ir::to_string(inside.max),
                                         ir::to_string(region.min), ir::to_string(region.max)));
            }
    }

    const RegionPlan &plan_;
    const LoopTree &tree_;
};

}  // namespace

void verify(const RegionPlan &plan) {
    Verifier(plan).run();
}

}  // namespace Pipe::region
