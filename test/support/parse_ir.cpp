#include "support/parse_ir.h"

#include <utility>
#include <vector>

#include "ir/equal.h"
#include "ir/linear.h"
#include "support/expr_parser.h"

namespace Pipe::testing {

using namespace ir;
using namespace parser;

namespace {

class StmtParser : public ExprParser {
  public:
    using ExprParser::ExprParser;

    /// Statements up to the end of the block or of the text.
    Stmt block() {
        std::vector<Stmt> stmts;
        while (!in_.at_end() && in_.text() != "}")
            stmts.push_back(stmt());
        return make_block(std::move(stmts));
    }

  private:
    Stmt in_braces() {
        in_.expect("{");
        Stmt s = block();
        in_.expect("}");
        return s;
    }

    Stmt stmt() {
        if (in_.text() == "{")
            return in_braces();
        const std::string word = in_.name();
        if (word == "let")
            return let();
        if (word == "assert")
            return assertion();
        if (word == "for")
            return loop();
        if (word == "if")
            return branch();
        if (word == "realize")
            return realize();
        if (word == "allocate")
            return allocate();
        if (word == "fork")
            return fork();
        if (word == "evaluate")
            return make_evaluate(expr());
        if (word == "atomic")
            return as_atomic(assignment(in_.name()));
        if (word == "barrier")
            return make_barrier();
        if (word == "memoize")
            return memoize();
        if (word == "launch")
            return launch();
        return in_.is_name() && !in_.starts_line() ? named(word, in_.name()) : assignment(word);
    }

    /// Statements that begin with a word and a name.
    Stmt named(const std::string &word, const std::string &name) {
        if (word == "free")
            return make_free(name);
        if (word == "produce")
            return make_produce(name, in_braces());
        if (word == "consume")
            return make_consume(name, in_braces());
        if (word == "exclusive")
            return make_exclusive(name, in_braces());
        if (word == "acquire")
            return make_acquire(name);
        if (word == "release")
            return make_release(name);
        if (word == "prefetch")
            return make_prefetch(name, list("(", ")"), type_of_buffer(name));
        if (word == "use")
            return use(name);
        in_.fail("a statement");
    }

    Stmt let() {
        const std::string name = in_.name();
        in_.expect("=");
        Expr value = expr();
        ScopedBinding<Type> binding(variables_, name, value.type());
        return make_let(name, value, block());
    }

    Stmt assertion() {
        Expr condition = expr();
        std::vector<Expr> message;
        while (in_.accept(","))
            message.push_back(expr());
        return make_assert(condition, 0, message);
    }

    std::pair<Expr, Expr> min_and_extent() {
        in_.expect("[");
        Expr min = expr();
        in_.expect(",");
        Expr end = expr();
        in_.expect(")");
        return {min, extent_of(min, end)};
    }

    /// `end` is printed as the sum of the two.
    static Expr extent_of(const Expr &min, const Expr &end) {
        if (is_const(min, 0))
            return end;
        if (end->op == Op::Add && equal(end->a(), min))
            return end->b();
        const auto constant = constant_difference(end, min);
        return constant ? make_int(min.type(), *constant) : sub(end, min);
    }

    Stmt loop() {
        const std::string name = in_.name();
        in_.expect("in");
        const auto [min, extent] = min_and_extent();
        LoopKind kind = LoopKind::Serial;
        for (LoopKind k : {LoopKind::Parallel, LoopKind::Vectorized, LoopKind::Unrolled,
                           LoopKind::GPUBlock, LoopKind::GPUThread, LoopKind::GPULane})
            if (in_.accept(ir::to_string(k)))
                kind = k;
        Partitioning partition = Partitioning::Auto;
        for (const auto &[text, p] : {std::pair{"unpartitioned", Partitioning::Never},
                                      std::pair{"partitioned", Partitioning::Always},
                                      std::pair{"remainder", Partitioning::Remainder}})
            if (in_.accept(text))
                partition = p;
        ScopedBinding<Type> binding(variables_, name, min.type());
        return make_for(name, min, extent, kind, in_braces(), partition);
    }

    Stmt branch() {
        Expr condition = expr();
        Stmt then_case = in_braces();
        return make_if(condition, then_case, in_.accept("else") ? in_braces() : Stmt());
    }

    Type type() {
        const auto found = type_named(in_.text());
        if (!found)
            in_.fail("a type");
        in_.next();
        return *found;
    }

    MemoryType memory() {
        if (!in_.accept("in"))
            return MemoryType::Auto;
        const std::string name = in_.name();
        if (name == "shared")
            in_.expect("memory");
        return name == "heap"        ? MemoryType::Heap
               : name == "stack"     ? MemoryType::Stack
               : name == "registers" ? MemoryType::Register
                                     : MemoryType::GPUShared;
    }

    Stmt realize() {
        const std::string name = in_.name();
        std::vector<Expr> min_extents;
        in_.expect("(");
        while (!in_.accept(")")) {
            if (!min_extents.empty())
                in_.expect(",");
            const auto [min, extent] = min_and_extent();
            min_extents.insert(min_extents.end(), {min, extent});
        }
        in_.expect("of");
        std::vector<Type> types;
        while (type_named(in_.text()))
            types.push_back(type());
        const MemoryType where = memory();
        ScopedBinding<Type> binding(buffers_, name, types.at(0));
        return make_realize(name, types, min_extents, where, in_braces());
    }

    Stmt allocate() {
        const std::string name = in_.name();
        in_.expect("[");
        const Type element = type();
        std::vector<Expr> sizes;
        while (in_.accept("*"))
            sizes.push_back(expr(7));
        in_.expect("]");
        const MemoryType where = memory();
        ScopedBinding<Type> binding(buffers_, name, element);
        return make_allocate(name, element, sizes, where, in_braces());
    }

    Stmt fork() {
        const std::string name = in_.name();
        Expr slots;
        if (in_.accept(","))
            slots = expr();
        Stmt producer = in_braces();
        in_.expect("and");
        return make_fork(name, slots, producer, in_braces());
    }

    Stmt memoize() {
        const std::string name = in_.name();
        std::vector<Type> types;
        in_.expect("[");
        do
            types.push_back(type());
        while (in_.accept(","));
        in_.expect("]");
        in_.expect("of");
        const std::vector<Expr> shape = list("(", ")");
        in_.expect("by");
        const std::vector<Expr> key = list("(", ")");
        Expr eviction_key, used;
        if (in_.accept("evicted")) {
            in_.expect("by");
            eviction_key = expr();
        }
        if (in_.accept("if")) {
            in_.expect("used");
            in_.expect(":");
            used = expr();
        }
        ScopedBinding<Type> binding(buffers_, name, types.at(0));
        Stmt producer = in_braces();
        in_.expect("then");
        return make_memoize(name, types, eviction_key, used, key, shape, producer, in_braces());
    }

    Stmt launch() {
        const std::string name = in_.name();
        in_.expect("blocks");
        std::vector<Expr> sizes = list("(", ")");
        in_.expect("threads");
        for (const Expr &threads : list("(", ")"))
            sizes.push_back(threads);
        in_.expect("shared");
        Expr bytes = expr();
        return make_launch(name, sizes, bytes, in_braces());
    }

    /// use f on device (write)
    Stmt use(const std::string &name) {
        in_.expect("on");
        const bool on_device = in_.name() == "device";
        in_.expect("(");
        const std::string access = in_.name();
        in_.expect(")");
        return make_use(name, on_device,
                        access == "read"    ? Access::Read
                        : access == "write" ? Access::Write
                                            : Access::Overwrite);
    }

    /// f(x, y) = value, f(x, y) = (value, ...), f[index] = value
    Stmt assignment(const std::string &name) {
        if (in_.text() == "(") {
            const std::vector<Expr> coordinates = list("(", ")");
            in_.expect("=");
            const std::vector<Expr> values = this->values();
            return make_provide(name, coordinates, values, predicate());
        }
        in_.expect("[");
        Expr index = expr();
        in_.expect("]");
        in_.expect("=");
        Expr value = expr();
        return make_store(name, index, value, predicate());
    }

    /// Several values stand in parentheses, which may also begin a single one.
    std::vector<Expr> values() {
        if (in_.text() != "(" || !in_.is_tuple())
            return {expr()};
        return list("(", ")");
    }

    Expr predicate() { return !in_.starts_line() && in_.accept("if") ? expr() : Expr(); }
};

}  // namespace

Stmt parse_stmt(const std::string &text, const Types &types) {
    StmtParser parser(text, types);
    Stmt s = parser.block();
    parser.end();
    return s;
}

Expr parse_expr(const std::string &text, const Types &types) {
    ExprParser parser(text, types);
    Expr e = parser.expr();
    parser.end();
    return e;
}

}  // namespace Pipe::testing
