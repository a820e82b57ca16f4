#include "lower/narrow_integers.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/constant_bounds.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using Interval = ConstantInterval;

constexpr int narrow_bits = 16;

bool is_wide(Type type) {
    return type.is_int_or_uint() && type.bits() > narrow_bits && type.is_vector();
}

Type narrow(Type type, bool is_signed) {
    return is_signed ? Int(narrow_bits, type.lanes()) : UInt(narrow_bits, type.lanes());
}

/// A wide expression: the lowest 16 bits of its lanes, as uint16, and where its values lie.
struct Narrow {
    Expr bits;
    Interval values;

    bool fits(bool is_signed) const {
        return values.within(Interval::of_type(is_signed ? Int(narrow_bits) : UInt(narrow_bits)));
    }
    Expr as(bool is_signed) const {
        const Type type = narrow(bits.type(), is_signed);
        return as_const_int(bits, nullptr) ? make_const(type, values.lo) : make_cast(type, bits);
    }
};

/// The type in which all of these are what they are in the wide one: true for int16, false for uint16.
template <typename... N> std::optional<bool> common_sign(const N &...operands) {
    for (bool is_signed : {false, true})
        if ((operands.fits(is_signed) && ...))
            return is_signed;
    return std::nullopt;
}

Expr modular(const Expr &e) {
    return make_cast(narrow(e.type(), false), e);
}

/// Else it only moves values, which a narrow operation that follows does as well.
bool operates(const Expr &e) {
    return e->op == Op::Select || e->op == Op::Call || (is_binary(e->op) && !is_comparison(e->op));
}

class NarrowIntegers : public GraphMutator {
  public:
    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        return s->op == StmtOp::For && is_gpu(s->kind) ? s : GraphMutator::mutate(s);
    }

  protected:
    Expr rewrite(const Expr &e) override {
        if (e->op == Op::Load || e->op == Op::VectorReduce)
            return e;
        Expr narrowed;
        if (is_wide(e.type()) && operates(e))
            narrowed = widened(e);
        else if (e->op == Op::Cast && operates(e->value()))
            narrowed = truncated(e);
        else if (is_comparison(e->op))
            narrowed = comparison(e);
        return narrowed.defined() ? narrowed : GraphMutator::rewrite(e);
    }

  private:
    // What the rest of the program sees of narrow values. Undefined where they are not narrow.

    Expr widened(const Expr &e) {
        const Narrow *n = find(e);
        const auto sign = n ? common_sign(*n) : std::nullopt;
        return sign ? make_cast(e.type(), n->as(*sign)) : Expr();
    }

    Expr truncated(const Expr &cast) {
        const Type type = cast.type();
        if (!type.is_int_or_uint() || type.is_bool() || type.bits() > narrow_bits)
            return Expr();
        const Narrow *n = find(cast->value());
        return n ? make_cast(type, n->bits) : Expr();
    }

    Expr comparison(const Expr &e) {
        const Narrow *a = find(e->a()), *b = find(e->b());
        const auto sign = a && b ? common_sign(*a, *b) : std::nullopt;
        return sign ? make_binary(e->op, a->as(*sign), b->as(*sign)) : Expr();
    }

    /// Null if the lowest bits of a wide expression do not follow from those of narrow operands.
    const Narrow *find(const Expr &e) {
        if (!is_wide(e.type()))
            return nullptr;
        auto found = found_.find(e.get());
        if (found == found_.end()) {
            std::optional<Narrow> n = narrowed(e);
            if (n && !n->values.within(values_of(e.type())))
                n = std::nullopt;  // it may wrap
            found = found_.emplace(e.get(), std::pair{e, std::move(n)}).first;
        }
        return found->second.second ? &*found->second.second : nullptr;
    }

    static Interval values_of(Type type) {
        return {type.is_int() ? type.min_int() : 0,
                type.bits() == 64 ? INT64_MAX : static_cast<int64_t>(type.max_uint())};
    }

    std::optional<Narrow> narrowed(const Expr &e) {
        if (int64_t value = 0; as_const_int(e, &value))
            return Narrow{make_const(narrow(e.type(), false), value & 0xffff),
                          Interval::single(value)};
        switch (e->op) {
        case Op::Cast:
            return of_cast(e);
        case Op::Broadcast:
            return of_broadcast(e);
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
            return of_sum(e);
        case Op::Min:
        case Op::Max:
        case Op::Div:
        case Op::Mod:
            return of_binary(e);
        case Op::Select:
            return of_select(e);
        case Op::Call:
            return e->call_kind == CallKind::Intrinsic ? of_call(e) : std::nullopt;
        default:
            return std::nullopt;
        }
    }

    std::optional<Narrow> of_cast(const Expr &e) {
        const Type from = e->value().type();
        if (is_wide(from)) {
            const Narrow *n = find(e->value());
            return n ? std::optional(*n)
                     : std::nullopt;  // find() checks that the new type has these values
        }
        if (!from.is_int_or_uint() || from.is_bool())
            return std::nullopt;
        return Narrow{modular(mutate(e->value())), constant_bounds(e->value())};
    }

    /// A scalar of a narrow type.
    std::optional<Narrow> of_broadcast(const Expr &e) {
        const Expr &scalar = e->value();
        if (scalar->op != Op::Cast)
            return std::nullopt;
        const Type from = scalar->value().type();
        if (!from.is_int_or_uint() || from.is_bool() || from.bits() > narrow_bits ||
            from.is_vector())
            return std::nullopt;
        return Narrow{make_broadcast(modular(mutate(scalar->value())), e.type().lanes()),
                      constant_bounds(scalar->value())};
    }

    /// Operations whose lowest bits depend on those of the operands only.
    std::optional<Narrow> of_sum(const Expr &e) {
        const Narrow *a = find(e->a()), *b = a ? find(e->b()) : nullptr;
        if (!b)
            return std::nullopt;
        const Interval values = e->op == Op::Add   ? a->values + b->values
                                : e->op == Op::Sub ? a->values - b->values
                                                   : a->values * b->values;
        return Narrow{make_binary(e->op, a->bits, b->bits), values};
    }

    /// Operations that need the whole values of their operands. Divisors are constant.
    std::optional<Narrow> of_binary(const Expr &e) {
        const bool divides = e->op == Op::Div || e->op == Op::Mod;
        int64_t divisor = 0;
        if (divides && (!as_const_int(e->b(), &divisor) || divisor <= 0))
            return std::nullopt;
        const Narrow *a = find(e->a()), *b = a ? find(e->b()) : nullptr;
        const auto sign = b ? common_sign(*a, *b) : std::nullopt;
        if (!sign)
            return std::nullopt;
        const Interval values = e->op == Op::Min   ? smaller(a->values, b->values)
                                : e->op == Op::Max ? larger(a->values, b->values)
                                : e->op == Op::Div ? quotient(a->values, b->values)
                                                   : remainder(a->values, b->values);
        return Narrow{modular(make_binary(e->op, a->as(*sign), b->as(*sign))), values};
    }

    std::optional<Narrow> of_select(const Expr &e) {
        const Narrow *t = find(e->if_true()), *f = t ? find(e->if_false()) : nullptr;
        if (!f)
            return std::nullopt;
        return Narrow{make_select(mutate(e->condition()), t->bits, f->bits),
                      hull(t->values, f->values)};
    }

    std::optional<Narrow> of_call(const Expr &e) {
        const bool shifts = is_intrinsic(*e.get(), intrinsic::shift_right);
        if (shifts || is_intrinsic(*e.get(), intrinsic::shift_left)) {
            int64_t amount = 0;
            if (!as_const_int(e->args[1], &amount) || amount < 0 || amount >= narrow_bits)
                return std::nullopt;
            const Expr power = make_const(e.type(), int64_t(1) << amount);
            return narrowed(make_binary(shifts ? Op::Div : Op::Mul, e->args[0], power));
        }
        if (!is_intrinsic(*e.get(), intrinsic::abs) && !is_intrinsic(*e.get(), intrinsic::absd))
            return std::nullopt;
        const Narrow *a = find(e->args[0]), *b = a ? find(e->args.back()) : nullptr;
        const auto sign = b ? common_sign(*a, *b) : std::nullopt;
        if (!sign)
            return std::nullopt;
        const bool is_abs = e->args.size() == 1;
        const Interval zero = Interval::single(0);
        const Interval difference = is_abs ? a->values : a->values - b->values;
        const Interval values = larger(difference, zero - difference);
        if (is_abs && !*sign)
            return *a;
        std::vector<Expr> args = {a->as(*sign)};
        if (!is_abs)
            args.push_back(b->as(*sign));
        return Narrow{
            make_call(narrow(e.type(), false), e->name, std::move(args), CallKind::Intrinsic),
            Interval(std::max<int64_t>(values.lo, 0), values.hi)};
    }

    /// With the expression, whose address is the key.
    std::unordered_map<const ExprNode *, std::pair<Expr, std::optional<Narrow>>> found_;
};

}  // namespace

Stmt narrow_integers(const Stmt &s) {
    return NarrowIntegers().mutate(s);
}

}  // namespace Pipe::lower
