#include "ir/print_expr.h"

#include <charconv>
#include <cmath>
#include <ostream>

#include "ir/print.h"
#include "support/error_text.h"

namespace Pipe::ir {
namespace {

constexpr size_t max_expr_chars = size_t{1} << 20;

/// The precedence of an operator; an operand of lower precedence needs parentheses.
int precedence(Op op) {
    switch (op) {
    case Op::Let:
        return 0;
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
    case Op::Mul:
    case Op::Div:
    case Op::Mod:
        return 6;
    case Op::Not:
        return 7;
    default:
        return 8;
    }
}

/// "in.width()" for "in.extent.0", "in.dim(0).min()" for "in.min.0"; other names as they are.
std::string size_as_written(const std::string &name) {
    const size_t dim = name.rfind('.');
    const size_t what = dim == std::string::npos || dim == 0 ? dim : name.rfind('.', dim - 1);
    if (what == std::string::npos || what == dim)
        return name;
    const std::string image = name.substr(0, what), d = name.substr(dim + 1),
                      field = name.substr(what + 1, dim - what - 1);
    if (field != "min" && field != "extent" && field != "stride")
        return name;
    if (field == "extent" && (d == "0" || d == "1"))
        return image + (d == "0" ? ".width()" : ".height()");
    return image + ".dim(" + d + ")." + field + "()";
}

}  // namespace

void ExprPrinter::print(const Expr &e, int outer_precedence) {
    if (!e.defined()) {
        out += "(undefined)";
    } else if (out.size() - expr_start_ > max_expr_chars) {
        out += "...";
    } else {
        bool parentheses = precedence(e->op) < outer_precedence;
        if (parentheses)
            out += '(';
        print_node(e);
        if (parentheses)
            out += ')';
    }
}

void ExprPrinter::print_node(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
    case Op::FloatImm:
        print_constant(e);
        break;
    case Op::StringImm:
        out += '"' + support::without_marks(e->name) + '"';
        break;
    case Op::Variable:
        out += sizes_as_written ? size_as_written(e->name) : e->name;
        break;
    case Op::Cast:
        list(Pipe::to_string(e.type()), e->args);
        break;
    case Op::Reinterpret:
        list("reinterpret<" + Pipe::to_string(e.type()) + ">", e->args);
        break;
    case Op::Min:
    case Op::Max:
    case Op::Select:
        list(to_string(e->op), e->args);
        break;
    case Op::Not:
        out += '!', print(e->value(), precedence(Op::Not));
        break;
    case Op::Call:
        print_call(e);
        break;
    case Op::Load:
        print_load(e);
        break;
    case Op::Ramp:
    case Op::Broadcast:
    case Op::Interleave:
        list(to_string(e->op), e->args, e.type().lanes());
        break;
    case Op::Slice:
        out += "slice(", print(e->value());
        for (int64_t number : {int64_t(e->index), e->int_value, int64_t(e.type().lanes())})
            out += ", " + std::to_string(number);
        out += ')';
        break;
    case Op::VectorReduce:
        list(std::string("reduce<") + to_string(e->reduce_op) + ">", e->args, e.type().lanes());
        break;
    case Op::Let:
        print_let_in(e);
        break;
    default:
        print_infix(e);
        break;
    }
}

void ExprPrinter::print_infix(const Expr &e) {
    int p = precedence(e->op);
    const Expr &b = e->b();
    if (e->op == Op::Add && b->op == Op::IntImm && b->int_value < 0 && b->int_value != INT64_MIN) {
        // The simplifier's form of a difference.
        print(e->a(), p);
        out += " - ";
        print_integer(b.type(), std::to_string(-b->int_value));
        return;
    }
    print(e->a(), p);
    out += std::string(" ") + to_string(e->op) + " ";
    print(e->b(), p + 1);  // all infix operators are left-associative
}

void ExprPrinter::print_constant(const Expr &e) {
    Type type = e.type();
    if (type.is_bool()) {
        out += e->uint_value ? "true" : "false";
    } else if (type.is_float()) {
        print_float(type, e->float_value);
    } else {
        print_integer(type,
                      type.is_int() ? std::to_string(e->int_value) : std::to_string(e->uint_value));
    }
}

void ExprPrinter::print_integer(Type type, const std::string &digits) {
    out += type == Int(32) ? digits : Pipe::to_string(type) + "(" + digits + ")";
}

void ExprPrinter::print_float(Type type, double value) {
    char text[64];
    auto end = type.bits() == 32
                   ? std::to_chars(text, text + sizeof text, static_cast<float>(value)).ptr
                   : std::to_chars(text, text + sizeof text, value).ptr;
    std::string digits(text, end);
    if (std::isfinite(value) && digits.find_first_of(".e") == std::string::npos)
        digits += ".0";
    if (type.bits() == 64)
        out += digits;
    else if (type.bits() == 32)
        out += digits + "f";
    else
        out += Pipe::to_string(type) + "(" + digits + ")";
}

void ExprPrinter::print_call(const Expr &e) {
    list(e->name, e->args);
    if (e->index != 0)
        out += "[" + std::to_string(e->index) + "]";
}

void ExprPrinter::print_load(const Expr &e) {
    out += e->name + "[";
    print(e->element());
    if (e->predicate().defined()) {
        out += " if ";
        print(e->predicate());
    }
    out += ']';
}

void ExprPrinter::print_let_in(const Expr &e) {
    out += "let " + e->name + " = ";
    print(e->value(), 1);
    out += " in ";
    print(e->body());
}

void ExprPrinter::list(const std::string &name, const std::vector<Expr> &args, int lanes) {
    out += name + "(";
    for (size_t i = 0; i < args.size(); i++) {
        if (i > 0)
            out += ", ";
        print(args[i]);
    }
    if (lanes > 0)
        out += ", " + std::to_string(lanes);
    out += ')';
}

void ExprPrinter::root(const Expr &e) {
    expr_start_ = out.size();
    print(e);
}

void ExprPrinter::root_factor(const Expr &e) {
    expr_start_ = out.size();
    print(e, precedence(Op::Mul) + 1);
}

const char *to_string(Op op) {
    switch (op) {
    case Op::IntImm:
        return "int";
    case Op::UIntImm:
        return "uint";
    case Op::FloatImm:
        return "float";
    case Op::StringImm:
        return "string";
    case Op::Variable:
        return "variable";
    case Op::Cast:
        return "cast";
    case Op::Reinterpret:
        return "reinterpret";
    case Op::Add:
        return "+";
    case Op::Sub:
        return "-";
    case Op::Mul:
        return "*";
    case Op::Div:
        return "/";
    case Op::Mod:
        return "%";
    case Op::Min:
        return "min";
    case Op::Max:
        return "max";
    case Op::EQ:
        return "==";
    case Op::NE:
        return "!=";
    case Op::LT:
        return "<";
    case Op::LE:
        return "<=";
    case Op::GT:
        return ">";
    case Op::GE:
        return ">=";
    case Op::And:
        return "&&";
    case Op::Or:
        return "||";
    case Op::Not:
        return "!";
    case Op::Select:
        return "select";
    case Op::Call:
        return "call";
    case Op::Load:
        return "load";
    case Op::Ramp:
        return "ramp";
    case Op::Broadcast:
        return "broadcast";
    case Op::Let:
        return "let";
    case Op::VectorReduce:
        return "reduce";
    case Op::Interleave:
        return "interleave";
    case Op::Slice:
        return "slice";
    }
    return "?";
}

std::string to_string(const Expr &e) {
    ExprPrinter printer;
    printer.print(e);
    return std::move(printer.out);
}

std::string shortened(const Expr &e) {
    constexpr size_t longest = 120;
    ExprPrinter printer;
    printer.sizes_as_written = true;
    printer.print(e);
    std::string text = std::move(printer.out);
    if (text.size() > longest)
        text = text.substr(0, longest - 4) + " ...";
    return text;
}

std::ostream &operator<<(std::ostream &out, const Expr &e) {
    return out << to_string(e);
}

}  // namespace Pipe::ir
