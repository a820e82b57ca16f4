#include "lower/prefetch.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/int32.h"
#include "ir/simplify.h"

namespace Pipe::lower {

using namespace ir;
using region::Box;
using region::Interval;
using region::StageNest;

namespace {

constexpr int line_bytes = 64;

class Prefetcher {
  public:
    Prefetcher(const region::LoopTree &tree, region::RegionMap &regions, const StageNest &nest,
               const schedules::Prefetch &directive)
        : tree_(tree), regions_(regions), graph_(tree.graph()), nest_(nest), directive_(directive) {
        for (const graph::FuncNode &f : graph_.funcs)
            if (f.name == directive.source)
                func_ = &f;
        for (const graph::Image &i : graph_.images)
            if (i.name == directive.source)
                image_ = &i;
    }

    Stmt loops(const region::StageLoop &at) {
        const region::StageLoop &from = loop(directive_.from);
        if (func_)
            check_storage(from);
        std::optional<Box> later =
            regions_.read_later(nest_, directive_.source, at.name, from.name, directive_.offset);
        if (!later)
            reject("neither the definition nor any Func computed inside the loop '" +
                   directive_.at + "' reads '" + directive_.source + "'.");
        Box box = std::move(*later);
        if (std::any_of(box.begin(), box.end(), [](const Interval &i) { return !i.bounded(); }))
            reject("the region of '" + directive_.source + "' that is read cannot be bounded.");
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
        Stmt result = nest(at.name + ".prefetch." + directive_.source, box);
        return inside.defined() ? make_if(simplify(inside), result) : result;
    }

  private:
    [[noreturn]] void reject(const std::string &why) const {
        const graph::FuncNode &f = graph_[nest_.func];
        graph::reject_directive(
            f, nest_.stage,
            fmt::format("prefetch({}, {}, {})", directive_.source, directive_.at, directive_.from),
            why);
    }

    const region::StageLoop &loop(const std::string &var) const {
        for (const region::StageLoop &l : nest_.loops)
            if (l.var == var)
                return l;
        reject("there is no loop '" + var + "'.");
    }

    void check_storage(const region::StageLoop &from) const {
        const region::FuncPlace &place = tree_.place(func_->id);
        if (!place.computed || place.stages.empty())
            reject("'" + func_->name +
                   "' is inlined, so it has no memory. Give it compute_root() or compute_at().");
        // Memory that is only hoisted is the same, but not what is where in it.
        bool inside = place.store == from.name || !tree_.encloses(place.store, from.name);
        if (inside && !place.store.empty())
            reject("'" + func_->name + "' is stored inside the loop '" + directive_.from +
                   "', so a later iteration uses different memory. Store it further out.");
    }

    /// What the memory holds.
    Box storage() {
        if (func_ && !func_->is_output)
            return regions_.storage(func_->id);
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
        const auto &order = tree_.schedule()[func_->id].storage_order;
        if (order.empty())
            return 0;
        auto at = std::find(func_->args.begin(), func_->args.end(), order[0]);
        return static_cast<size_t>(at - func_->args.begin());
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
            coordinates = regions_.place_in_storage(func_->id, std::move(coordinates));
        Stmt body = make_prefetch(directive_.source, std::move(coordinates));
        for (size_t d = 0; d < box.size(); d++) {
            Expr extent = simplify(add(sub(box[d].max, box[d].min), int32(1)));
            bool lines = d == innermost();
            if (lines)
                extent = div(add(extent, int32(step - 1)), int32(step));
            body = make_for(name + "." + std::to_string(d), lines ? int32(0) : box[d].min, extent,
                            LoopKind::Serial, body, Partitioning::Never);
        }
        return body;
    }

    const region::LoopTree &tree_;
    region::RegionMap &regions_;
    const graph::Graph &graph_;
    const StageNest &nest_;
    const schedules::Prefetch &directive_;
    const graph::FuncNode *func_ = nullptr;
    const graph::Image *image_ = nullptr;
};

}  // namespace

Stmt prefetches(const region::LoopTree &tree, region::RegionMap &regions, const StageNest &nest,
                const region::StageLoop &at) {
    std::vector<Stmt> parts;
    const schedules::StageSchedule &s =
        tree.schedule()[nest.func].stages[static_cast<size_t>(nest.stage)];
    for (const schedules::Prefetch &p : s.prefetches)
        if (p.at == at.var)
            parts.push_back(Prefetcher(tree, regions, nest, p).loops(at));
    return make_block(std::move(parts));
}

}  // namespace Pipe::lower
