#include "lower/prefetch.h"

#include <algorithm>

#include "ir/constant_bounds.h"
#include "ir/int32.h"
#include "ir/simplify.h"

namespace Pipe::lower {

using namespace ir;
using region::Box;
using region::Level;
using region::StageNest;

namespace {

constexpr int line_bytes = 64;

class Prefetcher {
  public:
    Prefetcher(const region::RegionPlan &plan, const schedules::Prefetch &directive)
        : plan_(plan), graph_(plan.tree.graph()), directive_(directive) {
        for (const graph::FuncNode &f : graph_.funcs)
            if (f.name == directive.source)
                func_ = &f;
        for (const graph::Image &i : graph_.images)
            if (i.name == directive.source)
                image_ = &i;
    }

    /// The loops over `box`, just inside the loop `at`.
    Stmt loops(Box box, const Level &at) {
        Box held = storage();
        Expr inside;
        for (size_t d = 0; d < box.size(); d++) {
            if (directive_.strategy == PrefetchBoundStrategy::Clamp)
                box[d] = {max(box[d].min, held[d].min), min(box[d].max, held[d].max)};
            if (directive_.strategy != PrefetchBoundStrategy::GuardWithIf)
                continue;
            for (const Expr &c : {make_binary(Op::GE, box[d].min, held[d].min),
                                  make_binary(Op::LE, box[d].max, held[d].max)})
                inside = inside.defined() ? make_binary(Op::And, inside, c) : c;
        }
        Stmt result = nest(at + ".prefetch." + directive_.source, box);
        return inside.defined() ? make_if(simplify(inside), result) : result;
    }

  private:
    /// What the memory holds.
    Box storage() const {
        if (func_ && !func_->is_output)
            return plan_.storage.of(func_->id).region;
        Box box;
        int dimensions = image_ ? image_->dimensions : static_cast<int>(func_->args.size());
        std::string buffer = image_ ? image_->name : graph::buffer_name(*func_, 0);
        for (int d = 0; d < dimensions; d++) {
            std::string dim = "." + std::to_string(d);
            Expr first = make_variable(Int(32), buffer + ".min" + dim);
            Expr extent = make_variable(Int(32), buffer + ".extent" + dim);
            box.push_back({first, sub(add(first, extent), int32(1))});
        }
        return box;
    }

    size_t innermost() const {
        if (!func_)
            return 0;
        const auto &order = plan_.tree.schedule()[func_->id].storage_order;
        if (order.empty())
            return 0;
        auto at = std::find(func_->args.begin(), func_->args.end(), order[0]);
        return static_cast<size_t>(at - func_->args.begin());
    }

    /// Beside the lines that one block reads, those beyond its end cost less than a loop that stops before them.
    static Expr of_whole_block(const Expr &extent) {
        constexpr int64_t most = 256;
        const ConstantInterval bounds = constant_bounds(extent);
        return bounds.hi <= most ? int32(std::max<int64_t>(bounds.hi, 1)) : extent;
    }

    Stmt nest(const std::string &name, const Box &box) {
        Type type = image_ ? image_->type : func_->types[0];
        int64_t step = std::max(1, line_bytes / type.bytes());
        std::vector<Expr> coordinates;
        for (size_t d = 0; d < box.size(); d++) {
            Expr at = make_variable(Int(32), name + "." + std::to_string(d));
            coordinates.push_back(d == innermost() ? add(box[d].min, mul(at, int32(step))) : at);
        }
        if (func_)
            coordinates = plan_.storage.of(func_->id).place(std::move(coordinates));
        Stmt body = make_prefetch(directive_.source, std::move(coordinates));
        for (size_t d = 0; d < box.size(); d++) {
            Expr extent = simplify(add(sub(box[d].max, box[d].min), int32(1)));
            if (directive_.strategy == PrefetchBoundStrategy::NonFaulting)
                extent = of_whole_block(extent);
            bool lines = d == innermost();
            if (lines)
                extent = div(add(extent, int32(step - 1)), int32(step));
            body = make_for(name + "." + std::to_string(d), lines ? int32(0) : box[d].min, extent,
                            LoopKind::Serial, body, Partitioning::Never);
        }
        return body;
    }

    const region::RegionPlan &plan_;
    const graph::Graph &graph_;
    const schedules::Prefetch &directive_;
    const graph::FuncNode *func_ = nullptr;
    const graph::Image *image_ = nullptr;
};

}  // namespace

Stmt prefetches(const region::RegionPlan &plan, const StageNest &nest,
                const region::StageLoop &at) {
    std::vector<Stmt> parts;
    const schedules::StageSchedule &s =
        plan.tree.schedule()[nest.func].stages[static_cast<size_t>(nest.stage)];
    for (size_t i = 0; i < s.prefetches.size(); i++)
        if (s.prefetches[i].at == at.var)
            parts.push_back(Prefetcher(plan, s.prefetches[i])
                                .loops(*plan.demand.of(nest).prefetched[i], at.name));
    return make_block(std::move(parts));
}

}  // namespace Pipe::lower
