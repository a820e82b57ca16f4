#include "poly/model.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "graph/extern_stage.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "ir/trend.h"
#include "ir/visit.h"

namespace Pipe::poly {

using graph::FuncNode;
using graph::Graph;
using graph::Stage;
using ir::CallKind;
using ir::Op;

namespace {

int64_t product(int64_t a, int64_t b) {
    if (a == 0 || b == 0)
        return 0;
    return a >= Range::infinite / b ? Range::infinite : a * b;
}

/// likely(x) is x.
class WithoutMarkers : public ir::GraphMutator {
  protected:
    Expr rewrite(const Expr &e) override {
        return ir::is_marker(*e) ? mutate(e->args[0]) : ir::GraphMutator::rewrite(e);
    }
};

class Builder {
  public:
    Builder(const Graph &graph, const ModelInput &input)
        : graph_(graph), input_(input), solver_(input.max_operations), names_of_all_(input.names) {
        for (size_t i = 0; i < graph.images.size(); i++)
            image_index_[graph.images[i].name] = i;
    }

    /// Consumers before producers: a box is complete after all readers.
    Model run() {
        add_value_ranges();
        for (const FuncNode &f : graph_.funcs) {
            result_.funcs.push_back({std::vector<Range>(f.args.size(), Range::empty()), {}});
            result_.funcs.back().stages.resize(f.stages.size());
        }
        for (const graph::Image &image : graph_.images) {
            result_.images.emplace_back(static_cast<size_t>(image.dimensions), Range::empty());
        }
        for (size_t i = 0; i < graph_.outputs.size(); i++) {
            grow(result_.funcs[static_cast<size_t>(graph_.outputs[i])].box, input_.outputs[i]);
        }
        for (size_t f = graph_.funcs.size(); f-- > 0;) {
            const FuncNode &func = graph_.funcs[f];
            for (size_t s = func.stages.size(); s-- > 0;)
                stage(func, s);
        }
        result_.exhausted = solver_.exhausted();
        return std::move(result_);
    }

  private:
    /// Of Funcs that are used as coordinates; their own coordinates count as unknown.
    void add_value_ranges() {
        for (const FuncNode &f : graph_.funcs) {
            for (size_t i = 0; i < f.types.size() && f.stages.size() == 1; i++) {
                const Expr &value = f.stages[0].values[i];
                const bool is_integer = value.defined() && f.types[i].is_int_or_uint();
                const Range range = is_integer ? range_of(value, names_of_all_) : Range();
                if (range.bounded())
                    names_of_all_[value_name(f.name, static_cast<int>(i))] = range;
            }
        }
    }

    static void grow(std::vector<Range> &box, const std::vector<Range> &more) {
        for (size_t d = 0; d < box.size() && d < more.size(); d++)
            box[d] = hull(box[d], more[d]);
    }

    void stage(const FuncNode &func, size_t s) {
        const Stage &stage = func.stages[s];
        FuncModel &mine = result_.funcs[static_cast<size_t>(func.id)];
        StageModel &model = mine.stages[s];
        names_ = names_of_all_;
        add_iterators(func, stage, mine, model);
        solver_.set_stage(model.iterators);
        at_hand_ = &model;
        known_.clear();
        if (s > 0)
            grow_by_writes(stage, mine);
        std::unordered_set<const ir::ExprNode *> seen;
        graph::for_each_expr(stage, [&](const Expr &e) { add_loads(e, model, seen); });
    }

    void add_iterators(const FuncNode &func, const Stage &stage, const FuncModel &mine,
                       StageModel &model) {
        for (size_t d = 0; d < func.args.size(); d++) {
            const Expr &arg = stage.args[d];
            if (arg->op != Op::Variable || arg->name != func.args[d])
                continue;
            model.iterators.push_back({func.args[d], mine.box[d], false});
        }
        model.pure = static_cast<int>(model.iterators.size());
        for (const graph::ReductionVar &r : stage.rvars) {
            Range min = range_of(r.min, names_), extent = range_of(r.extent, names_);
            model.iterators.push_back(
                {r.name, {min.min, (min + extent + Range::point(-1)).max}, true});
        }
        for (const Iterator &it : model.iterators)
            names_[it.name] = it.range;
    }

    /// An update may write outside the region that is read of its Func; that must be stored, too.
    void grow_by_writes(const Stage &stage, FuncModel &mine) {
        for (size_t d = 0; d < stage.args.size(); d++) {
            mine.box[d] = hull(mine.box[d], coordinate(stage.args[d]).range);
        }
    }

    void add_loads(const Expr &e, StageModel &model,
                   std::unordered_set<const ir::ExprNode *> &seen) {
        if (!e.defined() || !seen.insert(e.get()).second)
            return;
        for (const Expr &arg : e->args)
            add_loads(arg, model, seen);
        const bool func = e->op == Op::Call && e->call_kind == CallKind::Func;
        const bool image = e->op == Op::Call && e->call_kind == CallKind::Image;
        if (!func && !image)
            return;
        Access access;
        access.bytes = e.type().bytes();
        for (const Expr &arg : e->args)
            access.coords.push_back(coordinate(arg));
        if (graph::is_whole(*e))
            access.coords.resize(dimensions(*e));  // nothing is known
        std::vector<Range> touched;
        for (const Coordinate &c : access.coords)
            touched.push_back(c.range);
        if (func) {
            access.func = static_cast<FuncId>(e->int_value);
            grow(result_.funcs[static_cast<size_t>(access.func)].box, touched);
        } else {
            access.image = static_cast<int>(image_index_.at(e->name));
            grow(result_.images[static_cast<size_t>(access.image)], touched);
        }
        const bool known = std::any_of(model.loads.begin(), model.loads.end(),
                                       [&](const Access &a) { return a.same_element(access); });
        if (!known)
            model.loads.push_back(std::move(access));
    }

    size_t dimensions(const ir::ExprNode &call) const {
        return call.call_kind == CallKind::Func
                   ? graph_.funcs[static_cast<size_t>(call.int_value)].args.size()
                   : result_.images[image_index_.at(call.name)].size();
    }

    /// The result of isl, or else of interval arithmetic.
    Coordinate coordinate(const Expr &index) {
        for (const auto &[e, c] : known_) {
            if (ir::equal(e, index))
                return c;
        }
        Coordinate result;
        const Range interval = range_of(index, names_);
        if (auto exact = solver_.coordinate(index, names_)) {
            result = *exact;
            result.range = intersect(result.range, interval);
        } else {
            result.range = interval;
            result_.inexact++;
        }
        if (!result.distance.is_point())
            result.may_use = used_by(index, 0, static_cast<size_t>(at_hand_->pure));
        if (result.iterator >= 0) {
            result.may_use &= ~(uint64_t{1} << result.iterator);
            const ir::Trend trend =
                ir::trend_of(WithoutMarkers().mutate(index),
                             at_hand_->iterators[static_cast<size_t>(result.iterator)].name);
            result.turns = trend == ir::Trend::BothWays || trend == ir::Trend::Unknown;
        }
        result.reductions =
            used_by(index, static_cast<size_t>(at_hand_->pure), at_hand_->iterators.size());
        known_.emplace_back(index, result);
        return result;
    }

    /// The iterators [begin, end) of the stage at hand that the expression names, as bits.
    uint64_t used_by(const Expr &index, size_t begin, size_t end) const {
        uint64_t used = 0;
        for (size_t k = begin; k < std::min(end, begin + 64); k++)
            if (ir::uses_any_var(index, {at_hand_->iterators[k].name}))
                used |= uint64_t{1} << (k - begin);
        return used;
    }

    const Graph &graph_;
    const ModelInput &input_;
    Solver solver_;
    Model result_;
    const StageModel *at_hand_ = nullptr;
    Environment names_of_all_;                        // the same for all stages
    Environment names_;                               // of the stage at hand
    std::vector<std::pair<Expr, Coordinate>> known_;  // of the stage at hand
    std::unordered_map<std::string, size_t> image_index_;
};

}  // namespace

int64_t StageModel::points() const {
    int64_t n = 1;
    for (const Iterator &it : iterators)
        n = product(n, it.range.size());
    return n;
}

int64_t StageModel::points_per_pure_point() const {
    int64_t n = 1;
    for (size_t i = static_cast<size_t>(pure); i < iterators.size(); i++) {
        n = product(n, iterators[i].range.size());
    }
    return n;
}

bool FuncModel::bounded() const {
    return std::all_of(box.begin(), box.end(), [](const Range &r) { return r.bounded(); });
}

int64_t FuncModel::elements() const {
    int64_t n = 1;
    for (const Range &r : box)
        n = product(n, r.size());
    return n;
}

Model model(const Graph &graph, const ModelInput &input) {
    return Builder(graph, input).run();
}

}  // namespace Pipe::poly
