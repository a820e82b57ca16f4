#include "lower/phases.h"

#include <numeric>
#include <vector>

#include "ir/intrinsics.h"

namespace Pipe::lower {

using namespace ir;

namespace {

constexpr int64_t most_phases = 8;

bool is_exact(Type type) {
    return type.is_int() && type.bits() >= 32;
}

}  // namespace

int Phases::of(const Expr &e) {
    const Periods &k = known(e);
    return k.useful && !k.whole && k.phases <= most_phases ? static_cast<int>(k.phases) : 1;
}

const Phases::Periods &Phases::known(const Expr &e) {
    auto found = known_.find(e.get());
    if (found == known_.end()) {
        Periods made = make(e);
        made.kept = e;
        found = known_.emplace(e.get(), std::move(made)).first;
    }
    return found->second;
}

Phases::Periods Phases::make(const Expr &e) {
    Periods result;
    if (e->op == Op::Let) {  // what its name means is known within it only
        result.whole = true;
        return result;
    }
    for (const Expr &arg : e->args) {
        if (!arg.defined())
            continue;
        const Periods &k = known(arg);
        result.phases = std::min(std::lcm(result.phases, k.phases), most_phases + 1);
        result.useful |= k.useful;
        result.whole |= k.whole;
    }
    result.whole |= (e->op == Op::Variable && !step_of_(e->name)) ||
                    (e->op == Op::Call && e->call_kind == CallKind::Extern);
    result.advance = advance(*e.get());
    if (e->op == Op::Load)
        note_load(result, *e.get());
    bool decides = is_choice(*e.get());
    if (Advance c = decides ? known(e->args[0]).advance : Advance(); c.period > 1) {
        result.phases = std::min(std::lcm(result.phases, c.period), most_phases + 1);
        result.useful = true;
    }
    return result;
}

void Phases::note_load(Periods &result, const ExprNode &e) {
    Advance index = known(e.element()).advance;
    result.whole |= !step_of_(e.name) || (index.period == 1 && index.step != 0);
    if (index.period > 1) {
        result.phases = std::min(std::lcm(result.phases, index.period), most_phases + 1);
        result.useful = true;
    }
}

Phases::Advance Phases::advance(const ExprNode &e) {
    if (e.op == Op::Variable) {
        auto step = step_of_(e.name);
        return step ? Advance{1, *step} : Advance{};
    }
    if (e.args.empty())
        return {1, 0};
    auto of = [&](size_t i) { return known(e.args[i]).advance; };
    bool exact = is_exact(e.type);
    int64_t factor = 0;
    switch (e.op) {
    case Op::Add:
    case Op::Sub: {
        Advance a = of(0), b = of(1);
        if (!exact || a.period == 0 || b.period == 0)
            return same_of_all(e);
        int64_t period = std::lcm(a.period, b.period), sign = e.op == Op::Add ? 1 : -1;
        return {period, a.step * (period / a.period) + sign * b.step * (period / b.period)};
    }
    case Op::Mul:
        for (size_t i : {size_t(0), size_t(1)})
            if (exact && of(i).period > 0 && as_const_int(e.args[1 - i], &factor) &&
                std::abs(factor) <= most_phases)
                return {of(i).period, of(i).step * factor};
        return same_of_all(e);
    case Op::Div:
    case Op::Mod:
        return divided(e);
    case Op::Min:
    case Op::Max: {
        // Between the edges of the loop the clamp is gone (partition_loops).
        Advance a = of(0), b = of(1);
        if (exact && a.period > 0 && b.period == 1 && b.step == 0)
            return a;
        if (exact && b.period > 0 && a.period == 1 && a.step == 0)
            return b;
        return same_of_all(e);
    }
    case Op::Cast:
        return exact && is_exact(e.value().type()) && e.type.bits() >= e.value().type().bits()
                   ? of(0)
                   : same_of_all(e);
    case Op::Call:
        return is_marker(e) ? of(0) : same_of_all(e);
    default:
        return same_of_all(e);
    }
}

/// Division by a constant.
Phases::Advance Phases::divided(const ExprNode &e) {
    Advance a = known(e.a()).advance;
    int64_t divisor = 0;
    bool is_known = is_exact(e.type) && a.period > 0 && as_const_int(e.b(), &divisor) &&
                    divisor > 0 && divisor <= most_phases;
    if (!is_known)
        return same_of_all(e);
    int64_t times = divisor / std::gcd(a.step, divisor);
    if (a.period * times > most_phases)
        return {};
    return {a.period * times, e.op == Op::Mod ? 0 : a.step * times / divisor};
}

/// Of operands that are the same again after some period, so is the result.
Phases::Advance Phases::same_of_all(const ExprNode &e) {
    int64_t period = 1;
    for (const Expr &arg : e.args) {
        if (!arg.defined())
            continue;
        Advance a = known(arg).advance;
        if (a.period == 0 || a.step != 0)
            return {};
        period = std::lcm(period, a.period);
    }
    return period <= most_phases ? Advance{period, 0} : Advance{};
}

}  // namespace Pipe::lower
