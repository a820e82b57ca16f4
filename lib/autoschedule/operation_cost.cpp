#include "autoschedule/operation_cost.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::autoschedule {

using ir::CallKind;
using ir::ExprNode;
using ir::Op;

namespace {

bool is_power_of_two(const Expr &e) {
    int exponent = 0;
    return e->op == Op::FloatImm && std::frexp(e->float_value, &exponent) == 0.5;
}

double division_cost(const Expr &e) {
    if (e.type().is_float())
        return is_power_of_two(e->b()) ? 1 : division_instructions;
    return ir::is_const_int(e->b()) || e->b()->op == Op::UIntImm ? 3 : 30;
}

double call_cost(const Expr &e) {
    if (e->call_kind == CallKind::Intrinsic) {
        const bool free = ir::keeps_value(*e.get()) || e->name == ir::intrinsic::undef;
        return free ? 0 : 1;
    }
    for (const char *cheap : {"sqrt", "floor", "ceil", "round", "trunc", "abs", "fabs"}) {
        if (e->name.rfind(cheap, 0) == 0)
            return cheap[0] == 's' ? 12 : 1;
    }
    return 30;
}

}  // namespace

double instructions(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
    case Op::StringImm:
    case Op::Variable:
    case Op::Broadcast:
    case Op::Reinterpret:
    case Op::Let:
        return 0;
    case Op::Div:
    case Op::Mod:
        return division_cost(e);
    case Op::Call:
        return call_cost(e);
    default:
        return 1;
    }
}

namespace {

class Counter {
  public:
    explicit Counter(const std::vector<std::string> &variables) {
        for (size_t i = 0; i < std::min<size_t>(variables.size(), 64); i++)
            bits_[variables[i]] = uint64_t{1} << i;
    }

    /// Adds what has not been added yet; the variables that e depends on.
    uint64_t add(const Expr &e) {
        if (!e.defined())
            return 0;
        if (auto known = seen_.find(e.get()); known != seen_.end())
            return known->second;
        return seen_[e.get()] = add_new(e);
    }

    std::vector<Work> work;

  private:
    uint64_t add_new(const Expr &e) {
        if (e->op == Op::Variable) {
            auto found = bits_.find(e->name);
            return found == bits_.end() ? 0 : found->second;
        }
        const bool load = e->op == Op::Call &&
                          (e->call_kind == CallKind::Func || e->call_kind == CallKind::Image);
        uint64_t variables = 0;
        int bytes = e.type().bytes();
        const bool is_test = selects_likely_value(e);
        if (is_test) {
            ++tests_;
            variables = add(e->condition());
            --tests_;
        }
        for (const Expr &arg : e->args) {
            variables |= load ? variables_in(arg) : add(arg);
            if (e->op == Op::Let && &arg == &e->value())
                bits_[e->name] = variables;
            if (arg.defined())
                bytes = std::max(bytes, arg.type().bytes());
        }
        if (!load)
            count(e, bytes, of(variables));
        return variables;
    }

    static bool selects_likely_value(const Expr &e) {
        auto is_likely = [](const Expr &arm) {
            return ir::is_intrinsic(*arm.get(), ir::intrinsic::likely);
        };
        return e->op == Op::Select && (is_likely(e->if_true()) || is_likely(e->if_false()));
    }

    uint64_t variables_in(const Expr &index) const {
        uint64_t result = 0;
        ir::each_node(index, [&](const ExprNode &n) {
            auto found = n.op == Op::Variable ? bits_.find(n.name) : bits_.end();
            result |= found == bits_.end() ? 0 : found->second;
            return true;
        });
        return result;
    }

    void count(const Expr &e, int bytes, Arithmetic &total) {
        const bool is_float = e.type().is_float();
        const double work = instructions(e) * bytes;
        total.count += work > 0;
        total.widest = std::max(total.widest, e.type().bytes());
        if (tests_ > 0 || selects_likely_value(e)) {
            total.tests += work;
        } else if (is_float && (e->op == Op::Add || e->op == Op::Sub)) {
            total.sums += work;
        } else if (is_float &&
                   (e->op == Op::Mul || (e->op == Op::Div && is_power_of_two(e->b())))) {
            total.products += work;
        } else {
            total.other += work;
            if (is_float && e->op == Op::Div && !(add(e->b()) & 1))
                total.divisions += work;
        }
    }

    Arithmetic &of(uint64_t variables) {
        for (Work &w : work)
            if (w.variables == variables)
                return w.arithmetic;
        return work.emplace_back(Work{variables, {}}).arithmetic;
    }

    std::unordered_map<std::string, uint64_t> bits_;
    std::unordered_map<const ExprNode *, uint64_t> seen_;
    int tests_ = 0;  ///< conditions of boundaries around the expression
};

}  // namespace

std::vector<Work> work_of(const std::vector<Expr> &values,
                          const std::vector<std::string> &variables) {
    Counter counter(variables);
    for (const Expr &e : values)
        counter.add(e);
    return std::move(counter.work);
}

}  // namespace Pipe::autoschedule
