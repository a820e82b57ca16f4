#include "language/match.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/print.h"
#include "language/contents.h"
#include "support/error_text.h"
#include <pipe/operators.h>

namespace Pipe::language {

std::string describe(const Expr &e) {
    return fmt::format("'{}' ({})", ir::shortened(e), to_string(e.type()));
}

Expr intrinsic_call(const char *name, Type type, std::vector<Expr> args) {
    return ir::make_call(type, name, std::move(args), ir::CallKind::Intrinsic);
}

void require_defined(const char *op, const Expr &a) {
    if (!a.defined())
        throw CompileError(fmt::format("The operand of {}{} is an undefined Expr. Give it a value "
                                       "before it is used.",
                                       op, nearby()));
}

void require_defined(const char *op, const Expr &a, const Expr &b) {
    if (a.defined() && b.defined())
        return;
    auto text = [](const Expr &e) { return e.defined() ? describe(e) : "an undefined Expr"; };
    throw CompileError(fmt::format("The operands of {}{} are {} and {}. Give both a value before "
                                   "they are used.",
                                   op, nearby(), text(a), text(b)));
}

void reject(const char *op, const Expr &a, const std::string &why) {
    throw CompileError(fmt::format("{}{} cannot take {}: {}", op, nearby(), describe(a), why));
}

void reject(const char *op, const Expr &a, const Expr &b, const std::string &why) {
    throw CompileError(
        fmt::format("{}{} cannot take {} and {}: {}", op, nearby(), describe(a), describe(b), why));
}

void require_scalar(const std::string &what, Type type) {
    if (type.is_vector())
        throw CompileError(fmt::format(
            "{}{}: {} has {} lanes, but values in definitions are scalars. Use {}, and vectorize "
            "with vectorize().",
            what, nearby(), to_string(type), type.lanes(), to_string(type.element_of())));
}

namespace {

Type common_type(Type a, Type b) {
    if (a.is_float() || b.is_float()) {
        if (a.is_float() && b.is_float() && a.bits() == b.bits())
            return b;  // float16 and bfloat16, as in Halide
        if (a.is_float() && b.is_float())
            return a.bits() > b.bits() ? a : b;
        return a.is_float() ? a : b;
    }
    if (a.is_bool())
        return b;
    if (b.is_bool())
        return a;
    bool is_signed = a.is_int() || b.is_int();
    int bits = std::max(a.bits(), b.bits());
    return is_signed ? Int(bits) : UInt(bits);
}

}  // namespace

void match_types(const char *op, Expr &a, Expr &b) {
    require_defined(op, a, b);
    if (a.type() == b.type())
        return;
    if (a.type().is_handle() || b.type().is_handle())
        reject(op, a, b, "a handle is not a number. Only C functions take handles.");
    Type type = common_type(a.type(), b.type());
    a = cast(type, a);
    b = cast(type, b);
}

bool holds_integer(Type type, const Expr &e) {
    int64_t value = 0;
    if (!ir::as_const_int(e, &value))
        return false;
    return e.type().is_uint() ? type.can_represent(static_cast<uint64_t>(value))
                              : type.can_represent(value);
}

Expr lossless_cast(Type type, const Expr &e) {
    Type from = e.type();
    if (from == type)
        return e;
    if (from.is_int_or_uint() && ir::as_const_int(e, nullptr)) {
        bool fits = type.is_float() || holds_integer(type, e);
        return fits ? cast(type, e) : Expr();
    }
    if (e->op == ir::Op::FloatImm)
        return type.is_float() && type.can_represent(e->float_value) ? cast(type, e) : Expr();
    bool wider = type.bits() > from.bits();
    if (type.is_float())
        return from.is_float() ? (wider ? cast(type, e) : Expr())
                               : (from.bits() <= type.bits() / 2 ? cast(type, e) : Expr());
    if (from.is_float() || type.is_bool())
        return Expr();
    if (from.is_int() && type.is_uint())
        return Expr();
    return wider ? cast(type, e) : Expr();
}

Expr directive_number(const Expr &e, std::string *why) {
    const bool integer = e.defined() && e.type().is_int_or_uint() && !e.type().is_bool();
    Expr number = integer ? lossless_cast(Int(32), e) : Expr();
    if (!e.defined())
        *why = "an undefined Expr. Give it a value: a number, a Param or the size of an image.";
    else if (!integer)
        *why = fmt::format(
            "{}, but must be an integer. Give a number, a Param or the size of an image.",
            describe(e));
    else if (!number.defined() && ir::as_const_int(e, nullptr))
        *why = fmt::format("{}, but must fit into an int32.", describe(e));
    else if (!number.defined())
        *why = fmt::format("{}, but must be an int32, or of a type whose values all fit into an "
                           "int32. Cast it, as "
                           "in cast<int>(..).",
                           describe(e));
    return number;
}

void adapt_constants(const char *op, Expr &a, Expr &b) {
    require_defined(op, a, b);
    if (a.type() == b.type())
        return;
    auto adapt = [&](Expr &constant, const Expr &other) {
        if (!constant.type().is_int() || !ir::as_const_int(constant, nullptr))
            return;
        Expr same = lossless_cast(other.type(), constant);
        if (!same.defined())
            reject(op, a, b,
                   "the constant does not fit into " + to_string(other.type()) +
                       ". Cast the other value to a wider type.");
        constant = same;
    };
    adapt(a, b);
    adapt(b, a);
}

}  // namespace Pipe::language
