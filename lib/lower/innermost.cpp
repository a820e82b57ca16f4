#include "lower/innermost.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;
using region::Box;
using region::StageNest;
using region::Tail;

namespace {

/// Names of a definition's variables -> the nest's; coordinates -> where the storage has them;
/// selects of which only one arm may be evaluated -> if_then_else.
class Renamer : public GraphMutator {
  public:
    Renamer(const region::RegionPlan &plan, const StageNest &nest) : Renamer(plan, nest, nest) {}
    /// For an expression of `definition`, another one of the nest's Func.
    Renamer(const region::RegionPlan &plan, const StageNest &nest, const StageNest &definition)
        : storage_(plan.storage), choices_(plan.demand.of(definition).choices) {
        const region::LoopTree &tree = plan.tree;
        const graph::FuncNode &func = tree.graph()[nest.func];
        for (const std::string &arg : func.args)
            names_[arg] = tree.variable(nest, arg);
        for (const graph::ReductionVar &r : func.stages[nest.stage].rvars)
            names_[r.name] = tree.variable(nest, r.name);
    }

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == Op::Variable) {
            auto found = names_.find(e->name);
            return found == names_.end() ? e : found->second;
        }
        Expr result = GraphMutator::rewrite(e);
        if (e->op == Op::Select && choices_.count(e.get()))
            return make_call(e.type(), intrinsic::if_then_else, result->args, CallKind::Intrinsic);
        if (e->op != Op::Call || e->call_kind != CallKind::Func || graph::is_whole(*e))
            return result;
        std::vector<Expr> place =
            storage_.of(static_cast<FuncId>(e->int_value)).place(result->args);
        return make_call(e.type(), e->name, std::move(place), CallKind::Func, e->index);
    }

  private:
    const region::StoragePlan &storage_;
    const region::Choices &choices_;
    std::map<std::string, Expr> names_;
};

class Innermost {
  public:
    Innermost(const region::RegionPlan &plan, const Nest &nest)
        : tree_(plan.tree), graph_(tree_.graph()), plan_(plan), nest_(nest) {}

    Stmt run() {
        const graph::FuncNode &func = graph_[nest_.stage->func];
        const graph::Stage &stage = func.stages[nest_.stage->stage];
        if (graph::is_extern(func))
            return call_of_extern(func);
        Renamer rename(plan_, *nest_.stage);
        Masks mask = masks();
        auto only_where = [](const Expr &condition, const Expr &e) {
            if (!condition.defined())
                return e;
            return make_call(e.type(), intrinsic::if_then_else,
                             {condition, e, make_const(e.type(), 0)}, CallKind::Intrinsic);
        };
        auto masked = [&](const Expr &e) { return only_where(mask.load, e); };
        std::vector<Expr> coordinates, values;
        bool placed_by_data = std::any_of(stage.args.begin(), stage.args.end(), reads_elements);
        for (const Expr &e : stage.args)
            coordinates.push_back(reads_elements(e) ? masked(rename.mutate(e)) : rename.mutate(e));
        // Where what says the place is not read, there is none.
        if (placed_by_data && mask.load.defined())
            require(mask.store, mask.load);
        coordinates = plan_.storage.of(func.id).place(std::move(coordinates));
        for (size_t i = 0; i < stage.values.size(); i++) {
            Expr value = masked(rename.mutate(stage.values[i]));
            if (mask.fresh.defined()) {
                Expr old = make_call(value.type(), func.name, coordinates, CallKind::Func,
                                     static_cast<int>(i));
                value = make_select(mask.fresh, value, only_where(mask.store, old));
            }
            values.push_back(value);
        }
        Stmt provide =
            make_provide(func.name, std::move(coordinates), std::move(values), mask.store);
        if (is_atomic())
            provide = as_atomic(provide);
        return stage.predicate.defined() ? make_if(masked(rename.mutate(stage.predicate)), provide)
                                         : provide;
    }

  private:
    /// The masks of the tails at one point; undefined = always.
    struct Masks {
        Expr load;   ///< where loads may be
        Expr store;  ///< where stores may be
        Expr fresh;  ///< where the value is a new one; elsewhere the old one is stored again
    };

    static void require(Expr &mask, const Expr &condition) {
        mask = mask.defined() ? make_binary(Op::And, mask, condition) : condition;
    }

    Masks masks() const {
        Masks result;
        for (size_t i = 0; i < nest_.tails.size(); i++) {
            const schedules::Transform &t = nest_.stage->transforms[i];
            Expr at = tree_.variable(*nest_.stage, t.old_name);
            auto inside = [&] {
                return make_binary(Op::LE, at, nest_.ranges.at(t.old_name).max());
            };
            switch (nest_.tails[i]) {
            case Tail::PredicateLoads:
                require(result.load, inside());
                break;
            case Tail::PredicateStores:
                require(result.store, inside());
                break;
            case Tail::RoundUpAndBlend:
                require(result.fresh, inside());
                break;
            case Tail::ShiftInwardsAndBlend: {
                Expr unshifted = add(mul(tree_.variable(*nest_.stage, t.outer), t.factor),
                                     nest_.ranges.at(t.old_name).min);
                require(result.fresh, make_binary(Op::GE, at, unshifted));
                break;
            }
            default:
                break;
            }
        }
        return result;
    }

    /// The call of the C function that computes the Func, unless there is nothing to compute.
    Stmt call_of_extern(const graph::FuncNode &func) {
        std::vector<Expr> args;
        for (const Expr &arg : graph::extern_args(*graph::extern_definition(func.stages[0])))
            args.push_back(
                !graph::is_whole(*arg) ? arg
                : arg->call_kind == CallKind::Image
                    ? whole_image(*arg)
                    : part_of(static_cast<FuncId>(arg->int_value), arg->index,
                              plan_.storage.of(static_cast<FuncId>(arg->int_value)).region));
        const Box &domain = plan_.demand.of(func.id, 0).domain;
        for (size_t i = 0; i < func.types.size(); i++)
            args.push_back(part_of(func.id, static_cast<int>(i), domain));
        Stmt call = make_evaluate(graph::call_extern_stage(func, std::move(args)));
        for (const region::Interval &i : domain)
            call = make_if(make_binary(Op::LE, i.min, i.max), call);
        return call;
    }

    /// A box of a Func's memory, for lower/flatten.h: a handle of (min, extent of each
    /// dimension..., the place of the first element in the storage...).
    Expr part_of(FuncId id, int element, const Box &box) const {
        std::vector<Expr> args, first;
        for (const region::Interval &i : box) {
            args.insert(args.end(), {i.min, simplify(add(sub(i.max, i.min), int32(1)))});
            first.push_back(i.min);
        }
        first = plan_.storage.of(id).place(std::move(first));
        args.insert(args.end(), first.begin(), first.end());
        return make_call(Handle(), graph_[id].name, std::move(args), CallKind::Func, element);
    }

    Expr whole_image(const ExprNode &whole) const {
        std::vector<Expr> args, first;
        for (const graph::Image &image : graph_.images)
            for (int d = 0; image.name == whole.name && d < image.dimensions; d++) {
                std::string dim = "." + std::to_string(d);
                first.push_back(make_variable(Int(32), image.name + ".min" + dim));
                args.insert(args.end(),
                            {first.back(), make_variable(Int(32), image.name + ".extent" + dim)});
            }
        args.insert(args.end(), first.begin(), first.end());
        return make_call(Handle(), whole.name, std::move(args), CallKind::Image);
    }

    /// Several threads may update one element.
    bool is_atomic() const {
        const StageNest &stage = *nest_.stage;
        return tree_.schedule()[stage.func].stages[static_cast<size_t>(stage.stage)].atomic &&
               std::any_of(stage.loops.begin(), stage.loops.end(), [](const region::StageLoop &l) {
                   return is_threaded(l.dim.kind) && l.dim.is_reduction;
               });
    }

    const region::LoopTree &tree_;
    const graph::Graph &graph_;
    const region::RegionPlan &plan_;
    const Nest &nest_;
};

}  // namespace

Stmt innermost(const region::RegionPlan &plan, const Nest &nest) {
    return Innermost(plan, nest).run();
}

Expr pure_value(const region::RegionPlan &plan, const StageNest &pure, const StageNest &nest,
                size_t value) {
    return Renamer(plan, nest, pure).mutate(plan.tree.graph()[pure.func].stages[0].values[value]);
}

}  // namespace Pipe::lower
