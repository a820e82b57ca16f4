#pragma once
// Reads printed expressions (the base class of the parser of statements in parse_ir.cpp).

#include <cctype>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/intrinsics.h"
#include "ir/print.h"
#include "ir/scope.h"
#include "support/parse_ir.h"
#include "support/tokens.h"

namespace Pipe::testing::parser {

using namespace ir;

inline constexpr std::pair<const char *, Op> infix_operators[] = {
    {"||", Op::Or}, {"&&", Op::And}, {"==", Op::EQ}, {"!=", Op::NE}, {"<", Op::LT},
    {"<=", Op::LE}, {">", Op::GT},   {">=", Op::GE}, {"+", Op::Add}, {"-", Op::Sub},
    {"*", Op::Mul}, {"/", Op::Div},  {"%", Op::Mod}};

inline int precedence(Op op) {
    switch (op) {
    case Op::Or:
        return 1;
    case Op::And:
        return 2;
    case Op::EQ:
    case Op::NE:
        return 3;
    case Op::LT:
    case Op::LE:
    case Op::GT:
    case Op::GE:
        return 4;
    case Op::Add:
    case Op::Sub:
        return 5;
    default:
        return 6;
    }
}

inline std::optional<Op> infix_operator(const std::string &text) {
    for (const auto &[name, op] : infix_operators)
        if (text == name)
            return op;
    return {};
}

/// "uint8x16"
inline std::optional<Type> type_named(std::string name) {
    int lanes = 1;
    if (const size_t x = name.rfind('x'); x != std::string::npos && x + 1 < name.size() &&
                                          std::isdigit(static_cast<unsigned char>(name[x + 1]))) {
        lanes = std::stoi(name.substr(x + 1));
        name.resize(x);
    }
    for (Type t : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64), Bool(),
                   Float(16), Float(32), Float(64), BFloat(16), Handle()})
        if (name == Pipe::to_string(t))
            return t.with_lanes(lanes);
    return {};
}

class ExprParser {
  public:
    ExprParser(const std::string &text, const Types &types) : in_(text), types_(types) {}

    Expr expr(int least_precedence = 0) {
        if (in_.accept("let"))
            return let();
        Expr a = unary();
        while (const auto op = infix_operator(in_.text())) {
            if (precedence(*op) < least_precedence)
                break;
            in_.next();
            a = binary(*op, a, expr(precedence(*op) + 1));
        }
        return a;
    }

    void end() {
        if (!in_.at_end())
            in_.fail("the end");
    }

  protected:
    Tokens in_;
    Scope<Type> variables_, buffers_;

    /// The elements of a buffer, or the values of a Func.
    Type type_of_buffer(const std::string &name) const {
        if (const Type *found = buffers_.find(name))
            return *found;
        const auto given = types_.find(name);
        return given == types_.end() ? Int(32) : given->second;
    }

    std::vector<Expr> list(const char *open, const char *close) {
        std::vector<Expr> result;
        in_.expect(open);
        while (!in_.accept(close)) {
            if (!result.empty())
                in_.expect(",");
            result.push_back(expr());
        }
        return result;
    }

  private:
    const Types &types_;

    Type type_of_variable(const std::string &name) const {
        if (const Type *found = variables_.find(name))
            return *found;
        if (const auto given = types_.find(name); given != types_.end())
            return given->second;
        return name.find(".stride.") != std::string::npos ? Int(64) : Int(32);
    }

    Expr let() {
        const std::string name = in_.name();
        in_.expect("=");
        Expr value = expr(1);
        in_.expect("in");
        ScopedBinding<Type> binding(variables_, name, value.type());
        return make_let(name, value, expr());
    }

    /// a - 1 is printed for a + -1.
    static Expr binary(Op op, const Expr &a, const Expr &b) {
        if (op == Op::Sub && b->op == Op::IntImm)
            return make_binary(Op::Add, a, make_int(b.type(), -b->int_value));
        return make_binary(op, a, b);
    }

    Expr unary() {
        if (in_.accept("!"))
            return make_not(expr(7));
        if (in_.accept("(")) {
            Expr e = expr();
            in_.expect(")");
            return e;
        }
        if (in_.is_string())
            return make_string(in_.next());
        if (in_.is_number() || in_.text() == "-")
            return number();
        return named();
    }

    Expr number() {
        const std::string sign = in_.accept("-") ? "-" : "";
        std::string digits = sign + in_.next();
        if (digits.find_first_of(".ef") == std::string::npos)
            return make_int(Int(32), std::stoll(digits));
        const bool single = digits.back() == 'f';
        return make_float(single ? Float(32) : Float(64),
                          single ? std::stof(digits) : std::stod(digits));
    }

    Expr named() {
        const std::string name = in_.name();
        if (name == "true" || name == "false")
            return make_const(Bool(), name == "true");
        if (in_.accept("["))
            return load(name);
        if (name == "reinterpret" || name == "reduce")
            return with_parameter(name);
        return in_.text() == "(" ? applied(name) : make_variable(type_of_variable(name), name);
    }

    Expr load(const std::string &buffer) {
        Expr index = expr(), predicate;
        if (in_.accept("if"))
            predicate = expr();
        in_.expect("]");
        return make_load(type_of_buffer(buffer).with_lanes(index.type().lanes()), buffer, index,
                         predicate);
    }

    /// reinterpret<type>(e), reduce<op>(e, lanes)
    Expr with_parameter(const std::string &name) {
        in_.expect("<");
        const std::string parameter = in_.next();
        in_.expect(">");
        const std::vector<Expr> args = list("(", ")");
        if (name == "reinterpret")
            return make_reinterpret(type_named(parameter).value(), args.at(0));
        for (Op op : {Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or})
            if (parameter == ir::to_string(op))
                return make_vector_reduce(op, args.at(0), lanes(args));
        in_.fail("an operation");
    }

    static int lanes(const std::vector<Expr> &args) {
        return static_cast<int>(args.back()->int_value);
    }

    Expr applied(const std::string &name) {
        std::vector<Expr> args = list("(", ")");
        if (const auto type = type_named(name))
            return converted(*type, args.at(0));
        if (name == "min" || name == "max")
            return make_binary(name == "min" ? Op::Min : Op::Max, args.at(0), args.at(1));
        if (name == "select")
            return make_select(args.at(0), args.at(1), args.at(2));
        if (name == "ramp")
            return make_ramp(args.at(0), args.at(1), lanes(args));
        if (name == "broadcast")
            return make_broadcast(args.at(0), lanes(args));
        if (name == "interleave") {
            args.pop_back();  // the lanes follow from the values
            return make_interleave(args);
        }
        if (name == "slice")
            return make_slice(args.at(0), static_cast<int>(args.at(1)->int_value),
                              static_cast<int>(args.at(2)->int_value), lanes(args));
        return call(name, args);
    }

    /// A constant, or a cast.
    static Expr converted(Type type, const Expr &value) {
        if (value->op == Op::IntImm && value.type() == Int(32) && type.is_int_or_uint())
            return make_int(type, value->int_value);
        if (value->op == Op::FloatImm && type.is_float())
            return make_float(type, value->float_value);
        return make_cast(type, value);
    }

    Expr call(const std::string &name, const std::vector<Expr> &args) {
        if (intrinsic::properties(name))
            return make_call(type_of_intrinsic(name, args), name, args, CallKind::Intrinsic);
        if (buffers_.find(name) || types_.count(name))
            return make_call(type_of_buffer(name), name, args, CallKind::Func, element());
        if (name == extern_function::print || name == extern_function::require ||
            name == extern_function::trace_value)
            return make_call(args.at(name == extern_function::trace_value ? 0 : 1).type(), name,
                             args, CallKind::Extern);
        if (name == extern_function::trace)
            return make_call(Int(32), name, args, CallKind::Extern);
        return make_call(args.at(0).type(), name, args, CallKind::PureExtern, element());
    }

    /// f(x)[1]: of a Tuple.
    int element() {
        if (!in_.accept("["))
            return 0;
        const int result = std::stoi(in_.next());
        in_.expect("]");
        return result;
    }

    static Type type_of_intrinsic(const std::string &name, const std::vector<Expr> &args) {
        if (name == intrinsic::if_then_else)
            return args.at(1).type();
        if (name == intrinsic::user_context || name == intrinsic::address_of)
            return Handle();
        const Type type = args.empty() ? Int(32) : args[0].type();
        const bool to_unsigned =
            (name == intrinsic::abs || name == intrinsic::absd) && type.is_int();
        return to_unsigned ? UInt(type.bits(), type.lanes()) : type;
    }
};

}  // namespace Pipe::testing::parser
