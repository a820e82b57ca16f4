#include "lower/vectorize_exprs.h"

#include <algorithm>

#include "ir/computed.h"
#include "ir/intrinsics.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/lanes.h"

namespace Pipe::lower {

using namespace ir;

ExprVectorizer::ExprVectorizer(Lanes &lanes, bool one_phase)
    : lanes_(lanes), one_phase_(one_phase),
      phases_([this](const std::string &name) { return step_of(name); }) {}

Expr ExprVectorizer::vec(const Expr &e) {
    if (!e.defined())
        return e;
    done_.clear();
    phases_.forget();
    return rewrite(e);
}

Expr ExprVectorizer::seen_through(const Expr &e) {
    see_through_ = true;
    Expr result = vec(e);
    see_through_ = false;
    return result;
}

Expr ExprVectorizer::rewrite(const Expr &e) {
    if (e->args.empty() && e->op != Op::Variable)
        return e;
    auto found = done_.find(e.get());
    if (found != done_.end())
        return found->second;
    Expr result = rewrite_node(e);
    done_.emplace(e.get(), result);
    return result;
}

Expr ExprVectorizer::rewrite_node(const Expr &e) {
    if (e->op == Op::Variable) {
        const Lanes::Meaning *now = lanes_.vectors.find(e->name);
        if (!now)
            return e;
        return see_through_ && now->ramp.defined() ? now->ramp : now->value;
    }
    if (e->op == Op::Let)
        return let(e);
    if (Expr parts = arms_ == 0 ? interleaved(e) : Expr(); parts.defined())
        return parts;
    if (is_intrinsic(*e.get(), intrinsic::if_then_else))
        return if_then_else(e);
    std::vector<Expr> args;
    for (const Expr &arg : e->args)
        args.push_back(arg.defined() ? rewrite(arg) : arg);
    // Who uses promises has done so. Around a ramp, one would hide that its elements are neighbors.
    if (is_intrinsic(*e.get(), intrinsic::promise_clamped) && args[0].type().is_vector())
        return args[0];
    return e->op == Op::Load ? load(e, args[0], args[1]) : rebuild(e, std::move(args));
}

// Phases (see phases.h).

std::optional<int64_t> ExprVectorizer::step_of(const std::string &name) const {
    const Lanes::Meaning *now = lanes_.vectors.find(name);
    bool differs = (now && now->value.type().is_vector()) || lanes_.copies.count(name) > 0;
    int64_t step = 0;
    if (differs && !(now && now->ramp.defined() && as_const_int(now->ramp->stride(), &step)))
        return std::nullopt;
    return step;
}

std::optional<Expr> ExprVectorizer::condition_here() {
    Expr all;
    for (auto around = lanes_.enclosing.begin(); around != lanes_.enclosing.end(); ++around) {
        if (around->op != StmtOp::If)
            continue;
        const Expr &condition = around->value;
        bool hidden =
            std::any_of(around, lanes_.enclosing.end(), [&](const Lanes::Enclosing &inner) {
                return inner.op == StmtOp::Let && uses_var(condition, inner.name);
            });
        if (hidden || !buffers_read(condition).empty() || phases_.keeps_whole(condition))
            return std::nullopt;
        all = all.defined() ? make_binary(Op::And, all, condition) : condition;
    }
    return all;
}

Expr ExprVectorizer::interleaved(const Expr &e) {
    const int phases = phases_.of(e), count = lanes_.count / phases;
    if (one_phase_ || phases == 1 || lanes_.count % phases != 0 || count == 1)
        return Expr();
    std::optional<Expr> condition = condition_here();
    if (!condition)
        return Expr();
    std::vector<Expr> parts;
    for (int k = 0; k < phases; k++) {
        Lanes phase{lanes_.loop, lanes_.min, count};
        ExprVectorizer exprs(phase, true);
        for (const Expr &from : {e, *condition})
            if (from.defined())
                set_ramps(phase, from, k, phases);
        if (condition->defined())
            phase.mask = widen(exprs.vec(*condition), count);
        parts.push_back(widen(exprs.vec(e), count));
        lanes_.reads_uniform |= phase.reads_uniform;
    }
    return make_interleave(std::move(parts));
}

void ExprVectorizer::set_ramps(Lanes &phase, const Expr &from, int k, int phases) const {
    each_node(from, [&](const ExprNode &node) {
        const Lanes::Meaning *now =
            node.op == Op::Variable ? lanes_.vectors.find(node.name) : nullptr;
        if (now && now->ramp.defined() && !phase.vectors.contains(node.name)) {
            const Expr &first = now->ramp->base(), &step = now->ramp->stride();
            phase.set_ramp(node.name,
                           make_ramp(add(first, mul(step, make_const(step.type(), k))),
                                     mul(step, make_const(step.type(), phases)), phase.count));
        }
        return true;
    });
}

Expr ExprVectorizer::let(const Expr &e) {
    Expr value = rewrite(e->value());
    bool varies = value.type().is_vector();
    std::string name = varies ? e->name + ".v" : e->name;
    auto outer = std::move(done_);  // what was rewritten is right only where names mean the same
    done_.clear();
    phases_.forget();
    ScopedBinding<Lanes::Meaning> binding(lanes_.vectors, e->name,
                                          {make_variable(value.type(), name), {}});
    Expr body = rewrite(e->body());
    done_ = std::move(outer);
    phases_.forget();
    return make_let(name, value, body);
}

Expr ExprVectorizer::arm(const Expr &condition, const Expr &e) {
    auto outer_done = done_;
    Expr outer_mask = lanes_.mask;
    lanes_.mask = both(lanes_.mask, widen(condition, lanes_.count));
    arms_++;
    Expr result = rewrite(e);
    arms_--;
    lanes_.mask = outer_mask;
    done_ = std::move(outer_done);
    return result;
}

Expr ExprVectorizer::if_then_else(const Expr &e) {
    Expr condition = rewrite(e->args[0]);
    auto operands_of = [](const ExprNode *node, auto &&visit) {
        bool is_branch = is_intrinsic(*node, intrinsic::if_then_else);
        if (node->op == Op::Let)
            return;
        for (size_t i = 0; i < (is_branch ? 1 : node->args.size()); i++)
            if (node->args[i].defined())
                visit(node->args[i].get());
    };
    for (const ExprNode *node : computed_in_both(e->args[1].get(), e->args[2].get(), operands_of))
        rewrite(Expr(node));
    Expr t = arm(condition, e->args[1]), f = arm(negated(condition), e->args[2]);
    return rebuild(make_select(e->args[0], e->args[1], e->args[2]), {condition, t, f});
}

Expr ExprVectorizer::load(const Expr &e, Expr index, Expr predicate) {
    if (lanes_.copies.count(e->name))
        index = spread(index);
    bool varies = index.type().is_vector() || (predicate.defined() && predicate.type().is_vector());
    bool may_be_off =
        one_phase_ && lanes_.mask.defined();  // all lanes of it, but not those of another
    if (!varies && arms_ == 0 && !may_be_off) {
        lanes_.reads_uniform |= lanes_.mask.defined();
        return rebuild(e, {index, predicate});
    }
    return rebuild(e, {widen(index, lanes_.count), both(lanes_.mask, predicate)});
}

Expr ExprVectorizer::spread(const Expr &index) const {
    Type type = index.type().element_of();
    Expr lanes = make_ramp(make_const(type, 0), make_const(type, 1), lanes_.count);
    return combine(Op::Add, combine(Op::Mul, index, make_const(type, lanes_.count)), lanes);
}

}  // namespace Pipe::lower
