#include "ir/print.h"

#include <charconv>
#include <cmath>
#include <ostream>

namespace Pipe::ir {
namespace {

constexpr size_t max_expr_chars = size_t{1} << 20;

/// How tightly an operator binds; an operand that binds less tightly needs parentheses.
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

class Printer {
  public:
    std::string out;

    void print(const Expr &e, int outer_precedence = 0) {
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

    void print(const Stmt &s) {
        if (!s.defined())
            return;
        switch (s->op) {
        case StmtOp::Block:
            print_block(s);
            break;
        case StmtOp::Let:
            print_let(s);
            break;
        case StmtOp::Assert:
            print_assert(s);
            break;
        case StmtOp::For:
            print_for(s);
            break;
        case StmtOp::Provide:
            print_provide(s);
            break;
        case StmtOp::Realize:
            print_realize(s);
            break;
        case StmtOp::Store:
            print_store(s);
            break;
        case StmtOp::Allocate:
            print_allocate(s);
            break;
        case StmtOp::Produce:
            open("produce " + s->name), close(s->stmts[0]);
            break;
        case StmtOp::Consume:
            open("consume " + s->name), close(s->stmts[0]);
            break;
        case StmtOp::If:
            print_if(s);
            break;
        case StmtOp::Evaluate:
            line("evaluate "), root(s->exprs[0]), end();
            break;
        case StmtOp::Prefetch:
            line("prefetch " + s->name), tuple(s->exprs, 0, s->exprs.size()), end();
            break;
        case StmtOp::Fork:
            print_fork(s);
            break;
        case StmtOp::Acquire:
            line("acquire " + s->name), end();
            break;
        case StmtOp::Release:
            line("release " + s->name), end();
            break;
        case StmtOp::Memoize:
            print_memoize(s);
            break;
        }
    }

  private:
    size_t expr_start_ = 0;
    int indent_ = 0;

    // Expressions.

    void print_node(const Expr &e) {
        switch (e->op) {
        case Op::IntImm:
        case Op::UIntImm:
        case Op::FloatImm:
            print_constant(e);
            break;
        case Op::StringImm:
            out += '"' + e->name + '"';
            break;
        case Op::Variable:
            out += e->name;
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
            out += '!', print(e->args[0], precedence(Op::Not));
            break;
        case Op::Call:
            print_call(e);
            break;
        case Op::Load:
            print_load(e);
            break;
        case Op::Ramp:
        case Op::Broadcast:
            list(to_string(e->op), e->args, e.type().lanes());
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

    void print_infix(const Expr &e) {
        int p = precedence(e->op);
        const Expr &b = e->args[1];
        if (e->op == Op::Add && b->op == Op::IntImm && b->int_value < 0 &&
            b->int_value != INT64_MIN) {
            // How the simplifier writes a difference.
            print(e->args[0], p);
            out += " - ";
            print_integer(b.type(), std::to_string(-b->int_value));
            return;
        }
        print(e->args[0], p);
        out += std::string(" ") + to_string(e->op) + " ";
        print(e->args[1], p + 1);  // all infix operators group to the left
    }

    void print_constant(const Expr &e) {
        Type type = e.type();
        if (type.is_bool()) {
            out += e->uint_value ? "true" : "false";
        } else if (type.is_float()) {
            print_float(type, e->float_value);
        } else {
            print_integer(type, type.is_int() ? std::to_string(e->int_value)
                                              : std::to_string(e->uint_value));
        }
    }

    void print_integer(Type type, const std::string &digits) {
        out += type == Int(32) ? digits : Pipe::to_string(type) + "(" + digits + ")";
    }

    void print_float(Type type, double value) {
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

    void print_call(const Expr &e) {
        list(e->name, e->args);
        if (e->index != 0)
            out += "[" + std::to_string(e->index) + "]";
    }

    void print_load(const Expr &e) {
        out += e->name + "[";
        print(e->args[0]);
        if (e->args[1].defined()) {
            out += " if ";
            print(e->args[1]);
        }
        out += ']';
    }

    void print_let_in(const Expr &e) {
        out += "let " + e->name + " = ";
        print(e->args[0], 1);
        out += " in ";
        print(e->args[1]);
    }

    void list(const std::string &name, const std::vector<Expr> &args, int lanes = 0) {
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

    // Statements.

    void root(const Expr &e) {
        expr_start_ = out.size();
        print(e);
    }

    void line(const std::string &text) {
        out.append(2 * indent_, ' ');
        out += text;
    }
    void end() { out += '\n'; }

    void open(const std::string &head) {
        line(head);
        open();
    }
    void open() {
        out += " {\n";
        indent_++;
    }
    void close(const Stmt &body) {
        print(body);
        indent_--;
        line("}\n");
    }

    void print_block(const Stmt &s) {
        for (size_t i = 0; i < s->stmts.size(); i++) {
            const Stmt &child = s->stmts[i];
            // A let reaches to the end of what it is printed in: braces, where it ends earlier.
            if (child->op == StmtOp::Let && i + 1 < s->stmts.size()) {
                line("{\n");
                indent_++;
                close(child);
            } else {
                print(child);
            }
        }
    }

    void print_let(const Stmt &s) {
        line("let " + s->name + " = ");
        root(s->exprs[0]);
        end();
        print(s->stmts[0]);
    }

    void print_assert(const Stmt &s) {
        line("assert ");
        for (size_t i = 0; i < s->exprs.size(); i++) {
            if (i > 0)
                out += ", ";
            root(s->exprs[i]);
        }
        end();
    }

    void print_for(const Stmt &s) {
        line("for " + s->name + " in [");
        root(s->exprs[0]);
        out += ", ";
        root(add(s->exprs[0], s->exprs[1]));
        out += ")";
        if (s->kind != LoopKind::Serial)
            out += std::string(" ") + to_string(s->kind);
        if (s->partition != Partition::Auto)
            out += s->partition == Partition::Never ? " unpartitioned" : " partitioned";
        open();
        close(s->stmts[0]);
    }

    void tuple(const std::vector<Expr> &exprs, size_t begin, size_t count) {
        out += '(';
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                out += ", ";
            root(exprs[begin + i]);
        }
        out += ')';
    }

    void predicate(const Expr &e) {
        if (!e.defined())
            return;
        out += " if ";
        root(e);
    }

    void print_provide(const Stmt &s) {
        size_t values = s->num_values;
        line((s->atomic ? "atomic " : "") + s->name);
        tuple(s->exprs, 1 + values, s->exprs.size() - 1 - values);
        out += " = ";
        if (values == 1)
            root(s->exprs[1]);
        else
            tuple(s->exprs, 1, values);
        predicate(s->exprs[0]);
        end();
    }

    void print_memory(const Stmt &s) {
        switch (s->memory) {
        case MemoryType::Auto:
            break;
        case MemoryType::Heap:
            out += " in heap";
            break;
        case MemoryType::Stack:
            out += " in stack";
            break;
        case MemoryType::Register:
            out += " in registers";
            break;
        default:
            break;  // no memory of this machine
        }
    }

    void print_realize(const Stmt &s) {
        line("realize " + s->name + "(");
        for (size_t i = 0; i + 1 < s->exprs.size(); i += 2) {
            out += i > 0 ? ", [" : "[";
            root(s->exprs[i]);
            out += ", ";
            root(add(s->exprs[i], s->exprs[i + 1]));
            out += ")";
        }
        out += ") of";
        for (Type type : s->types)
            out += " " + Pipe::to_string(type);
        print_memory(s);
        open();
        close(s->stmts[0]);
    }

    void print_store(const Stmt &s) {
        line((s->atomic ? "atomic " : "") + s->name + "[");
        root(s->exprs[1]);
        out += "] = ";
        root(s->exprs[0]);
        predicate(s->exprs[2]);
        end();
    }

    void print_allocate(const Stmt &s) {
        line("allocate " + s->name + "[" + Pipe::to_string(s->types[0]));
        for (const Expr &size : s->exprs) {
            out += " * ";
            expr_start_ = out.size();
            print(size, precedence(Op::Mul) + 1);
        }
        out += "]";
        print_memory(s);
        open();
        close(s->stmts[0]);
    }

    void print_fork(const Stmt &s) {
        line("fork " + s->name);
        if (s->exprs[0].defined()) {
            out += ", ";
            root(s->exprs[0]);
        }
        open();
        print(s->stmts[0]);
        indent_--;
        line("} and {\n");
        indent_++;
        close(s->stmts[1]);
    }

    void print_memoize(const Stmt &s) {
        auto shape = static_cast<size_t>(1 + s->num_values);
        line("memoize " + s->name + "[");
        for (size_t i = 0; i < s->types.size(); i++)
            out += (i > 0 ? ", " : "") + Pipe::to_string(s->types[i]);
        out += "] of ";
        tuple(s->exprs, shape, s->exprs.size() - shape);
        out += " by ";
        tuple(s->exprs, 1, shape - 1);
        if (s->exprs[0].defined()) {
            out += " evicted by ";
            root(s->exprs[0]);
        }
        open();
        print(s->stmts[0]);
        indent_--;
        line("} then {\n");
        indent_++;
        close(s->stmts[1]);
    }

    void print_if(const Stmt &s) {
        line("if ");
        root(s->exprs[0]);
        open();
        print(s->stmts[0]);
        if (s->stmts[1].defined()) {
            indent_--;
            line("} else {\n");
            indent_++;
            print(s->stmts[1]);
        }
        indent_--;
        line("}\n");
    }
};

}  // namespace

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
    }
    return "?";
}

const char *to_string(LoopKind kind) {
    switch (kind) {
    case LoopKind::Serial:
        return "";
    case LoopKind::Parallel:
        return "parallel";
    case LoopKind::Vectorized:
        return "vectorized";
    case LoopKind::Unrolled:
        return "unrolled";
    }
    return "";
}

std::string to_string(const Expr &e) {
    Printer printer;
    printer.print(e);
    return std::move(printer.out);
}

std::string to_string(const Stmt &s) {
    Printer printer;
    printer.print(s);
    return std::move(printer.out);
}

std::ostream &operator<<(std::ostream &out, const Expr &e) {
    return out << to_string(e);
}
std::ostream &operator<<(std::ostream &out, const Stmt &s) {
    return out << to_string(s);
}

}  // namespace Pipe::ir
