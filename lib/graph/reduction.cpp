#include "graph/reduction.h"

#include <algorithm>

#include "graph/extern_stage.h"
#include "graph/walk.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/lets.h"
#include "ir/linear.h"
#include "ir/print.h"
#include "ir/simplify.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using ir::Op;
using Values = std::vector<Expr>;
using Combine = std::function<Values(const Values &, const Values &)>;

/// An operator of one value: a binary one, or a bitwise intrinsic.
struct Operator {
    Op op = Op::Add;
    std::string intrinsic;  ///< "" = `op`
    bool operator==(const Operator &) const = default;

    Expr operator()(const Expr &a, const Expr &b) const {
        return intrinsic.empty()
                   ? ir::make_binary(op, a, b)
                   : ir::make_call(a.type(), intrinsic, {a, b}, ir::CallKind::Intrinsic);
    }
    Expr identity(Type type) const {
        if (intrinsic.empty())
            return ir::identity(op, type);
        return ir::make_int(type, intrinsic == ir::intrinsic::bitwise_and ? -1 : 0);
    }
};

std::optional<Operator> operator_of(const Expr &e) {
    switch (e->op) {
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::And:
    case Op::Or:
        return Operator{e->op, ""};
    case Op::Sub:
        return Operator{Op::Add, ""};  // f - a - b subtracts a + b
    default:
        break;
    }
    if (e->op == Op::Call && e->call_kind == ir::CallKind::Intrinsic)
        for (const char *name :
             {ir::intrinsic::bitwise_and, ir::intrinsic::bitwise_or, ir::intrinsic::bitwise_xor})
            if (e->name == name)
                return Operator{Op::Add, name};
    return std::nullopt;
}

class Prover {
  public:
    /// \param before  the values before the stage; null: unknown
    Prover(const Stage &stage, const IsSelf &is_self, const Values *before)
        : stage_(stage), is_self_(is_self), before_(before) {}

    std::optional<Reduction> prove(std::string *why) {
        std::optional<Reduction> result;
        if (reads_only_what_it_writes()) {
            result = one_by_one();
            if (!result)
                result = complex_product();
            if (!result)
                result = extreme();
        }
        if (!result)
            *why = why_;
        return result;
    }

  private:
    const Stage &stage_;
    const IsSelf &is_self_;
    const Values *before_;
    std::string why_;

    bool reads_self(const Expr &e) const {
        bool found = false;
        Walk()(e, [&](const ir::ExprNode &node) { found |= is_self_(node); });
        return found;
    }

    bool is_old(const Expr &e, size_t element) const {
        return is_self_(*e) && static_cast<size_t>(e->index) == element;
    }

    bool reads_only_what_it_writes() {
        for (const Expr &arg : stage_.args)
            if (reads_self(arg)) {
                why_ = "which element is written depends on the Func's own values";
                return false;
            }
        if (reads_self(stage_.predicate)) {
            why_ = "the RDom's condition reads the Func itself";
            return false;
        }
        Walk walk;
        for (const Expr &value : stage_.values)
            walk(value, [&](const ir::ExprNode &node) {
                if (is_self_(node) &&
                    !std::equal(node.args.begin(), node.args.end(), stage_.args.begin(),
                                stage_.args.end(), ir::ExprEqual()))
                    why_ = "it reads '" + ir::shortened(Expr(&node)) +
                           "', which is not the element that it writes";
            });
        return why_.empty();
    }

    /// e = old (op) ..., in any nesting, with a single operator.
    std::optional<Operator> chain(const Expr &e, size_t element) {
        std::optional<Operator> op = operator_of(e);
        if (!op) {
            why_ = "'" + ir::shortened(e) + "' is not an associative operator on the old value";
            return std::nullopt;
        }
        for (size_t side : {size_t(0), size_t(1)}) {
            if (reads_self(e->args[1 - side]) || (e->op == Op::Sub && side == 1))
                continue;
            const Expr &inner = e->args[side];
            if (is_old(inner, element))
                return op;
            if (!reads_self(inner))
                continue;
            std::optional<Operator> below = chain(inner, element);
            if (below && *below == *op)
                return op;
            why_ = "it mixes operators: '" + ir::shortened(e) + "'";
            return std::nullopt;
        }
        if (why_.empty())
            why_ = "'" + ir::shortened(e) + "' does not combine the old value with another value";
        return std::nullopt;
    }

    std::optional<Reduction> one_by_one() {
        std::vector<Operator> ops;
        Reduction result;
        for (size_t i = 0; i < stage_.values.size(); i++) {
            std::optional<Operator> op = chain(stage_.values[i], i);
            if (!op)
                return std::nullopt;
            Type type = stage_.values[i].type();
            result.identity.push_back(op->identity(type));
            result.exact &= !(type.is_float() && (op->op == Op::Add || op->op == Op::Mul));
            ops.push_back(*op);
        }
        result.combine = [ops](const Values &a, const Values &b) {
            Values all;
            for (size_t i = 0; i < ops.size(); i++)
                all.push_back(ops[i](a[i], b[i]));
            return all;
        };
        return result;
    }

    /// If one factor of a product is old value `element`: the other factor.
    std::optional<Expr> times_old(const Expr &e, size_t element) const {
        if (e->op != Op::Mul)
            return std::nullopt;
        for (size_t side : {size_t(0), size_t(1)})
            if (is_old(e->args[side], element) && !reads_self(e->args[1 - side]))
                return e->args[1 - side];
        return std::nullopt;
    }

    /// re = re * a - im * b, im = re * b + im * a
    std::optional<Reduction> complex_product() {
        if (stage_.values.size() != 2 || stage_.values[0]->op != Op::Sub ||
            stage_.values[1]->op != Op::Add || stage_.values[0].type() != stage_.values[1].type())
            return std::nullopt;
        const auto &re = stage_.values[0]->args, &im = stage_.values[1]->args;
        auto a = times_old(re[0], 0), b = times_old(re[1], 1);
        for (size_t first : {size_t(0), size_t(1)}) {
            auto b2 = times_old(im[first], 0), a2 = times_old(im[1 - first], 1);
            if (!a || !b || !a2 || !b2 || !ir::equal(*a, *a2) || !ir::equal(*b, *b2))
                continue;
            Type type = stage_.values[0].type();
            Reduction result;
            result.identity = {ir::make_const(type, 1), ir::make_const(type, 0)};
            result.exact = !type.is_float();
            result.combine = [](const Values &x, const Values &y) -> Values {
                auto product = [&](size_t i, size_t j) {
                    return ir::make_binary(Op::Mul, x[i], y[j]);
                };
                return {ir::make_binary(Op::Sub, product(0, 0), product(1, 1)),
                        ir::make_binary(Op::Add, product(0, 1), product(1, 0))};
            };
            return result;
        }
        return std::nullopt;
    }

    /// How a value decides whether the new one replaces the old one: if the new key is smaller, or
    /// larger.
    struct Test {
        size_t key = 0;  ///< the index of the value that is compared
        bool largest = false;
        bool last = false;  ///< a new key that equals the old one replaces it, too
        Expr fresh;         ///< the value with which the old key is compared
    };

    /// The values besides the key that are the RVars, the outermost one's first: comparing them one after the other tells which of two
    /// points is the earlier one. Empty if an RVar is missing.
    std::vector<size_t> place_of(const Values &fresh, size_t key) const {
        std::vector<size_t> place;
        for (auto r = stage_.rvars.rbegin(); r != stage_.rvars.rend(); ++r) {
            size_t i = 0;
            while (i < fresh.size() &&
                   (i == key || fresh[i]->op != Op::Variable || fresh[i]->name != r->name))
                i++;
            if (i == fresh.size())
                return {};
            place.push_back(i);
        }
        return place;
    }

    /// Whether what was there before cannot lose to an equal value: no value equals it, or it lies no later than the first point.
    bool is_first(const std::vector<size_t> &place, size_t key, const Expr &identity) const {
        if (!before_)
            return false;
        if (ir::equal((*before_)[key], identity))
            return true;
        auto lies_after = [&](const ReductionVar &r, size_t i) {
            return ir::constant_difference((*before_)[i], r.min).value_or(1) > 0;
        };
        for (size_t n = 0; n < place.size(); n++)
            if (lies_after(stage_.rvars[place.size() - 1 - n], place[n]))
                return false;
        return true;
    }

    /// Whether x lies before y.
    static Expr is_before(const std::vector<size_t> &place, const Values &x, const Values &y) {
        Expr result = ir::make_const(Bool(), 0);
        for (auto i = place.rbegin(); i != place.rend(); ++i)
            result = ir::make_binary(
                Op::Or, ir::make_binary(Op::LT, x[*i], y[*i]),
                ir::make_binary(Op::And, ir::make_binary(Op::EQ, x[*i], y[*i]), result));
        return ir::simplify(result);
    }

    /// Both operands of a comparison, without casts that preserve their order.
    static std::pair<Expr, Expr> compared(const Expr &comparison) {
        Expr a = comparison->a(), b = comparison->b();
        while (a->op == Op::Cast && b->op == Op::Cast && a->value().type() == b->value().type() &&
               a.type().can_represent(a->value().type())) {
            Expr inner = a->value();
            b = b->value(), a = inner;
        }
        return {a, b};
    }

    /// The meaning of a comparison of an old value with a new one, in either order. `kept`: the old
    /// value is kept if it is true.
    std::optional<Test> test_of(const Expr &c, bool kept) const {
        const bool strict = c->op == Op::LT || c->op == Op::GT;
        const bool less = c->op == Op::LT || c->op == Op::LE;
        if (!strict && c->op != Op::LE && c->op != Op::GE)
            return std::nullopt;
        auto [left, right] = compared(c);
        for (size_t k = 0; k < stage_.values.size(); k++)
            for (bool old_is_left : {true, false}) {
                const Expr &old = old_is_left ? left : right, &fresh = old_is_left ? right : left;
                if (is_old(old, k) && !reads_self(fresh))
                    return Test{k, (less == old_is_left) != kept, kept == strict, fresh};
            }
        return std::nullopt;
    }

    /// select(!c, a, b) as select(c, b, a)
    static Expr without_not(Expr e) {
        while (e->op == Op::Select && e->condition()->op == Op::Not)
            e = ir::make_select(e->condition()->args[0], e->if_false(), e->if_true());
        return e;
    }

    /// select(better, new, old), select(as_good, old, new); for the key also min(old, new) or
    /// max().
    std::optional<Test> picks(size_t i, Expr *fresh) const {
        const Expr v = without_not(stage_.values[i]);
        const bool select = v->op == Op::Select;
        if (!select && v->op != Op::Min && v->op != Op::Max)
            return std::nullopt;
        for (size_t side : {size_t(0), size_t(1)}) {
            const Expr &old = v->args[select ? 1 + side : side];
            *fresh = v->args[select ? 2 - side : 1 - side];
            if (is_old(old, i) && !reads_self(*fresh))
                return select ? test_of(v->condition(), side == 0)
                              : Test{i, v->op == Op::Max, false, *fresh};
        }
        return std::nullopt;
    }

    /// The best value and the values that go with it: those of the first, or of the last, of equal
    /// ones.
    std::optional<Reduction> extreme() {
        std::vector<Test> tests;
        Values all_fresh;
        for (size_t i = 0; i < stage_.values.size(); i++) {
            Expr fresh;
            std::optional<Test> test = picks(i, &fresh);
            if (!test)
                return std::nullopt;
            tests.push_back(*test);
            all_fresh.push_back(fresh);
            const Test &first = tests[0];
            if (test->key != first.key || test->largest != first.largest ||
                !ir::equal(test->fresh, first.fresh) ||
                (i == test->key && !ir::equal(fresh, test->fresh)))
                return std::nullopt;
        }
        const size_t key = tests[0].key;
        const bool largest = tests[0].largest;
        Reduction result;
        for (size_t i = 0; i < tests.size(); i++) {
            Type type = stage_.values[i].type();
            tests[i].last &= i != key;  // for the key itself it makes no difference
            result.needs_points |= tests[i].last;
            result.identity.push_back(i != key ? ir::make_const(type, 0)
                                               : ir::identity(largest ? Op::Max : Op::Min, type));
        }
        result.commutative = tests.size() == 1;
        std::vector<size_t> place;
        if (!result.needs_points && !result.commutative)
            place = place_of(all_fresh, key);
        if (!is_first(place, key, result.identity[key]))
            place.clear();
        result.any_parts = result.commutative || !place.empty();
        for (size_t i : place)  // beyond all points
            result.identity[i] = Int(32).max();
        result.combine = [tests, key, largest, place](const Values &a, const Values &b) {
            auto better = [&](const Values &x, const Values &y) {
                const Expr differs = ir::make_binary(largest ? Op::GT : Op::LT, x[key], y[key]);
                if (place.empty())
                    return differs;
                const Expr equal = ir::make_binary(Op::EQ, x[key], y[key]);
                return ir::make_binary(Op::Or, differs,
                                       ir::make_binary(Op::And, equal, is_before(place, x, y)));
            };
            Values all;
            for (size_t i = 0; i < a.size(); i++)
                all.push_back(tests[i].last ? ir::make_select(better(a, b), a[i], b[i])
                                            : ir::make_select(better(b, a), b[i], a[i]));
            return all;
        };
        return result;
    }
};

}  // namespace

IsSelf calls_of(FuncId id) {
    return [id](const ir::ExprNode &node) {
        return node.op == Op::Call && node.call_kind == ir::CallKind::Func &&
               node.int_value == static_cast<int64_t>(id);
    };
}

std::optional<Reduction> as_reduction(const Stage &stage, const IsSelf &is_self, std::string *why) {
    return Prover(stage, is_self, nullptr).prove(why);
}

std::optional<Reduction> as_reduction(const FuncNode &func, size_t stage, std::string *why) {
    const bool is_first = stage == 1 && !is_extern(func);
    return Prover(func.stages[stage], calls_of(func.id),
                  is_first ? &func.stages[0].values : nullptr)
        .prove(why);
}

bool starts_from_formula(const FuncNode &func) {
    if (func.stages.size() < 2 || is_extern(func))
        return false;
    const std::vector<Expr> &updated = func.stages[1].args;
    for (size_t d = 0; d < func.args.size(); d++)
        if (updated[d]->op != ir::Op::Variable || updated[d]->name != func.args[d])
            return false;
    auto is_formula = [](const Expr &value) {
        return !ir::has_side_effect(value) && !ir::contains(value, [](const ir::ExprNode &e) {
            return e.op == ir::Op::Call && e.call_kind == ir::CallKind::Func;
        });
    };
    return std::all_of(func.stages[0].values.begin(), func.stages[0].values.end(), is_formula);
}

}  // namespace Pipe::graph
