#include "ir/print.h"

#include <ostream>

#include "ir/print_expr.h"

namespace Pipe::ir {
namespace {

class Printer : public ExprPrinter {
  public:
    using ExprPrinter::print;

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
        case StmtOp::Free:
            line("free " + s->name), end();
            break;
        case StmtOp::Produce:
            open("produce " + s->name), close(s->body());
            break;
        case StmtOp::Consume:
            open("consume " + s->name), close(s->body());
            break;
        case StmtOp::If:
            print_if(s);
            break;
        case StmtOp::Evaluate:
            line("evaluate "), root(s->value()), end();
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
        case StmtOp::Exclusive:
            open("exclusive " + s->name), close(s->body());
            break;
        case StmtOp::Memoize:
            print_memoize(s);
            break;
        case StmtOp::Launch:
            line("launch " + s->name + " blocks ");
            tuple(s->exprs, 0, 3);
            out += " threads ";
            tuple(s->exprs, 3, 3);
            out += " shared ";
            root(shared_bytes_of_launch(*s.get()));
            open(), close(s->body());
            break;
        case StmtOp::Barrier:
            line("barrier\n");
            break;
        case StmtOp::Use:
            line("use " + s->name + (s->on_device ? " on device" : " on host"));
            out += s->access == Access::Read ? " (read)\n" : s->access == Access::Write ? " (write)\n" : " (overwrite)\n";
            break;
        }
    }

  private:
    int indent_ = 0;

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
            // A let extends to the end of the enclosing block: braces if it ends earlier.
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
        root(s->value());
        end();
        print(s->body());
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
        root(s->min());
        out += ", ";
        root(add(s->min(), s->extent()));
        out += ")";
        if (s->kind != LoopKind::Serial)
            out += std::string(" ") + to_string(s->kind);
        if (s->partition != Partitioning::Auto)
            out += s->partition == Partitioning::Never    ? " unpartitioned"
                   : s->partition == Partitioning::Always ? " partitioned"
                                                          : " remainder";
        open();
        close(s->body());
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
        predicate(s->predicate());
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
        case MemoryType::GPUShared:
            out += " in shared memory";
            break;
        default:
            break;  // memory that CPUs do not have
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
        close(s->body());
    }

    void print_store(const Stmt &s) {
        line((s->atomic ? "atomic " : "") + s->name + "[");
        root(s->index());
        out += "] = ";
        root(s->value());
        predicate(s->predicate());
        end();
    }

    void print_allocate(const Stmt &s) {
        line("allocate " + s->name + "[" + Pipe::to_string(s->types[0]));
        for (const Expr &size : s->exprs) {
            out += " * ";
            root_factor(size);
        }
        out += "]";
        print_memory(s);
        open();
        close(s->body());
    }

    void print_fork(const Stmt &s) {
        line("fork " + s->name);
        if (s->slots().defined()) {
            out += ", ";
            root(s->slots());
        }
        open();
        print(s->producer());
        indent_--;
        line("} and {\n");
        indent_++;
        close(s->consumer());
    }

    void print_memoize(const Stmt &s) {
        auto shape = static_cast<size_t>(2 + s->num_values);
        line("memoize " + s->name + "[");
        for (size_t i = 0; i < s->types.size(); i++)
            out += (i > 0 ? ", " : "") + Pipe::to_string(s->types[i]);
        out += "] of ";
        tuple(s->exprs, shape, s->exprs.size() - shape);
        out += " by ";
        tuple(s->exprs, 2, shape - 2);
        if (s->eviction_key().defined()) {
            out += " evicted by ";
            root(s->eviction_key());
        }
        if (s->used().defined()) {
            out += " if used: ";
            root(s->used());
        }
        open();
        print(s->producer());
        indent_--;
        line("} then {\n");
        indent_++;
        close(s->consumer());
    }

    void print_if(const Stmt &s) {
        line("if ");
        root(s->condition());
        open();
        print(s->then_case());
        if (s->else_case().defined()) {
            indent_--;
            line("} else {\n");
            indent_++;
            print(s->else_case());
        }
        indent_--;
        line("}\n");
    }
};

}  // namespace

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
    case LoopKind::GPUBlock:
        return "gpu_block";
    case LoopKind::GPUThread:
        return "gpu_thread";
    case LoopKind::GPULane:
        return "gpu_lane";
    }
    return "";
}

std::string to_string(const Stmt &s) {
    Printer printer;
    printer.print(s);
    return std::move(printer.out);
}

std::ostream &operator<<(std::ostream &out, const Stmt &s) {
    return out << to_string(s);
}

}  // namespace Pipe::ir
