#include "ir/narrow_term.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/intrinsics.h"

namespace Pipe::ir {

namespace {

/// The value that a chain of casts from integers to wider ones keeps, with the same lanes.
Expr without_widening(const Expr &e);

/// Of parts that are of one type then.
Expr interleaved_without_widening(const Expr &e) {
    std::vector<Expr> parts;
    for (const Expr &arg : e->args)
        parts.push_back(without_widening(arg));
    const bool alike = std::all_of(parts.begin(), parts.end(), [&](const Expr &part) {
        return part.type() == parts[0].type();
    });
    return alike ? make_interleave(std::move(parts)) : e;
}

Expr without_widening(const Expr &e) {
    if (e->op == Op::Interleave)
        return interleaved_without_widening(e);
    if (e->op == Op::Broadcast) {
        const Expr value = without_widening(e->value());
        return value.same_as(e->value()) ? e : make_broadcast(value, e.type().lanes());
    }
    if (e->op != Op::Cast || !e->value().type().is_int_or_uint() || e->value().type().is_bool())
        return e;
    const Type from = e->value().type(), to = e.type();
    const bool keeps =
        to.is_int_or_uint() && to.bits() > from.bits() && (from.is_uint() || to.is_int());
    return keeps ? without_widening(e->value()) : e;
}

/// -1 * y, or a broadcast of it -> y; undefined for others.
Expr negated(const Expr &e) {
    if (e->op == Op::Broadcast) {
        const Expr value = negated(e->value());
        return value.defined() ? make_broadcast(value, e.type().lanes()) : value;
    }
    int64_t factor = 0;
    const bool is_negative = e->op == Op::Mul && as_const_int(e->b(), &factor) && factor == -1;
    return is_negative ? e->a() : Expr();
}

/// The operands of a - b, or a + b * -1, which the simplifier makes of it; undefined for others.
std::pair<Expr, Expr> difference(const Expr &e) {
    if (e->op == Op::Sub)
        return {e->a(), e->b()};
    if (e->op != Op::Add)
        return {};
    if (const Expr b = negated(e->b()); b.defined())
        return {e->a(), b};
    const Expr a = negated(e->a());
    return a.defined() ? std::pair{e->b(), a} : std::pair<Expr, Expr>();
}

class Narrower {
  public:
    explicit Narrower(const std::function<ConstantInterval(const Expr &)> &range) : range_(range) {}

    std::optional<NarrowTerm> term(const Expr &term) const {
        const Type type = term.type();
        if (!type.is_int_or_uint() || type.bits() < 16)
            return std::nullopt;
        if (term->op == Op::Interleave)
            return interleaved(term->args);
        const Expr value = without_widening(term);
        if (const auto difference = difference_of_bytes(value))
            return difference;
        if (const Expr byte = as(UInt(8), value); byte.defined())
            return NarrowTerm{byte, make_const(byte.type(), 0), false};
        return type.bits() == 32 ? product(value) : std::nullopt;
    }

  private:
    const std::function<ConstantInterval(const Expr &)> &range_;

    /// As an element of this type; undefined if it may not fit.
    Expr as(Type element, const Expr &e) const {
        Expr value = without_widening(e);
        if (value->op == Op::Cast && value->value().type().is_bool())
            value = value->value();
        const Type from = value.type().element_of(), type = element.with_lanes(e.type().lanes());
        const bool fits = from == element || from.is_bool() ||
                          (from.bits() < element.bits() && element.is_int()) ||
                          range_(value).within(ConstantInterval::of_type(element));
        return fits && !from.is_float() ? make_cast(type, value) : Expr();
    }

    /// |a - b| of two uint8, in any integer type that holds it.
    std::optional<NarrowTerm> difference_of_bytes(Expr e) const {
        while (e->op == Op::Cast && e.type().is_int_or_uint() && e.type().bits() >= 16)
            e = e->value();
        Expr a, b;
        if (is_intrinsic(*e, intrinsic::absd)) {
            a = e->args[0], b = e->args[1];
        } else if (is_intrinsic(*e, intrinsic::abs) && e->args[0].type().is_int() &&
                   e->args[0].type().bits() > 8) {
            std::tie(a, b) = difference(e->args[0]);
        }
        if (!a.defined())
            return std::nullopt;
        a = as(UInt(8), a), b = as(UInt(8), b);
        return a.defined() && b.defined() ? std::optional(NarrowTerm{a, b, false}) : std::nullopt;
    }

    /// a * b, or a * 1, of 32 bits.
    std::optional<NarrowTerm> product(const Expr &e) const {
        const bool is_product = e.type().bits() == 32 && e->op == Op::Mul;
        const Expr a = as(Int(16), is_product ? e->a() : e);
        const Expr b = !a.defined() ? Expr()
                       : is_product ? as(Int(16), e->b())
                                    : make_const(a.type(), 1);
        return a.defined() && b.defined() ? std::optional(NarrowTerm{a, b, true}) : std::nullopt;
    }

    /// Terms of alternate lanes.
    std::optional<NarrowTerm> interleaved(const std::vector<Expr> &terms) const {
        std::vector<Expr> a, b;
        bool is_product = false;
        for (const Expr &each : terms) {
            const auto narrow = term(each);
            if (!narrow || (!a.empty() && narrow->is_product != is_product))
                return std::nullopt;
            is_product = narrow->is_product;
            a.push_back(narrow->a), b.push_back(narrow->b);
        }
        const Type type = is_product ? Int(16) : UInt(8);
        return NarrowTerm{as(type, make_interleave(std::move(a))),
                          as(type, make_interleave(std::move(b))), is_product};
    }
};

}  // namespace

bool NarrowTerm::has_instruction(const Target &target, int lanes) const {
    const Type type = a.type();
    return target.arch == Target::X86 && lanes % lanes_per_sum() == 0 &&
           type.lanes() * type.bytes() % 16 == 0;
}

std::optional<NarrowTerm> narrow_term(const Expr &term,
                                      const std::function<ConstantInterval(const Expr &)> &range) {
    return Narrower(range).term(term);
}

}  // namespace Pipe::ir
