#include "lower/lifetimes.h"

#include <unordered_map>

#include "ir/scope.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Whether the parts of `s` run once, one after the other, in the same function of the generated code.
bool is_sequence(const Stmt &s) {
    switch (s->op) {
    case StmtOp::Block:
    case StmtOp::Allocate:
    case StmtOp::Consume:
        return true;
    case StmtOp::Let:
        return !s->value().type().is_handle();  // the body may use the memory that this points to
    default:
        return false;
    }
}

/// Walks twice, and numbers what it meets, in the order in which it runs: first to find the step of an
/// allocation's own sequence that uses it last, then to end its lifetime there. (By number, not by node:
/// programs share nodes.)
class Lifetimes {
  public:
    Stmt end(const Stmt &s) {
        visit(s);
        count_ = 0;
        inserts_ = true;
        return visit(s);
    }

  private:
    struct Allocation {
        size_t depth;  ///< of its sequence
        int64_t last;  ///< step that uses it, so far
    };

    Stmt visit(const Stmt &s) {
        const int64_t step = step_[depth_] = ++count_;
        use_in(*s.get());
        const bool sequence = is_sequence(s), allocates = s->op == StmtOp::Allocate;
        if (allocates)
            allocations_.push(s->name, {depth_, step});
        if (!sequence)
            step_.resize(++depth_ + 1);
        Stmt now = map_children(
            s, [](const Expr &e) { return e; }, [this](const Stmt &c) { return visit(c); });
        if (!sequence)
            depth_--;
        if (allocates)
            leave(s->name);
        auto ends = ends_.find(step);
        return inserts_ && ends != ends_.end() ? with_ends(now, ends->second) : now;
    }

    void use_in(const StmtNode &s) {
        if (s.op == StmtOp::Store || s.op == StmtOp::Prefetch)
            use(s.name);
        for (const Expr &e : s.exprs) {
            if (!e.defined())
                continue;
            each_node(e, [&](const ExprNode &n) {
                if (n.op == Op::Load)
                    use(n.name);
                return true;
            });
        }
    }

    void use(const std::string &buffer) {
        if (Allocation *found = allocations_.find(buffer))
            found->last = step_[found->depth];
    }

    void leave(const std::string &allocation) {
        const int64_t last = allocations_.find(allocation)->last;
        if (!inserts_ && last != step_[depth_])
            ends_[last].push_back(allocation);
        allocations_.pop(allocation);
    }

    static Stmt with_ends(const Stmt &s, const std::vector<std::string> &names) {
        std::vector<Stmt> ends;
        for (const std::string &name : names)
            ends.push_back(make_free(name));
        if (!is_sequence(s)) {
            ends.insert(ends.begin(), s);
            return make_block(std::move(ends));
        }
        ends.push_back(s->body());  // its own expressions were the last to use them
        return with_children(s, s->exprs, {make_block(std::move(ends))});
    }

    Scope<Allocation> allocations_;
    size_t depth_ = 0;                 ///< how many statements that are no sequences are around
    std::vector<int64_t> step_ = {0};  ///< the last that began, of each depth
    int64_t count_ = 0;
    bool inserts_ = false;
    std::unordered_map<int64_t, std::vector<std::string>> ends_;
};

}  // namespace

Stmt end_lifetimes(const Stmt &s) {
    return s.defined() ? Lifetimes().end(s) : s;
}

}  // namespace Pipe::lower
