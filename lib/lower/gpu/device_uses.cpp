#include "lower/gpu/device_uses.h"

#include <algorithm>
#include <map>

#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "support/error_text.h"

namespace Pipe::lower {

using namespace ir;

namespace {

struct Accessed {
    bool read = false, stored = false;
};
using AccessMap = std::map<std::string, Accessed>;

/// A C function may store to what it gets the address of.
void note_address(const ExprNode &raw_buffer, AccessMap &found) {
    for (const Expr &arg : raw_buffer.args)
        each_node(arg, [&](const ExprNode &n) {
            if (n.op == Op::Load)
                found[n.name].stored = true;
            return true;
        });
}

/// The buffers that `s` accesses and that exist outside of it.
AccessMap accesses(const Stmt &s) {
    AccessMap found;
    std::set<std::string> inside;
    walk(
        s,
        [&](const Stmt &child) {
            if (child->op == StmtOp::Store)
                found[child->name].stored = true, found[child->name].read |= child->atomic;
            if (child->op == StmtOp::Prefetch)
                found[child->name].read = true;
            if (child->op == StmtOp::Allocate)
                inside.insert(child->name);
            for (size_t i = 0; child->op == StmtOp::Memoize && i < child->types.size(); i++)
                inside.insert(buffer_of_memoize(*child.get(), i));
            return true;
        },
        [&](const Expr &e) {
            if (e->op == Op::Load)
                found[e->name].read = true;
            if (e->op == Op::Call && e->name == extern_function::raw_buffer)
                note_address(*e.get(), found);
            return true;
        });
    for (const std::string &name : inside)
        found.erase(name);
    return found;
}

bool is_launch(const StmtNode &s) {
    return s.op == StmtOp::Launch;
}

/// Statements that uses are said next to, not around: what stands before an Acquire may be done before another task has
/// computed what is used.
bool has_uses_inside(const Stmt &s) {
    return contains_stmt(
        s, [](const StmtNode &n) { return is_launch(n) || n.op == StmtOp::Acquire; });
}

class Uses {
  public:
    Uses(const Stmt &program, const std::set<std::pair<std::string, std::string>> &overwritten,
         const std::set<std::string> &arguments)
        : on_device_(arguments), overwritten_(overwritten) {
        walk(
            program,
            [&](const Stmt &s) {
                if (is_launch(*s.get()))
                    for (const auto &[name, access] : accesses(s))
                        on_device_.insert(name);
                return !is_launch(*s.get());
            },
            [](const Expr &) { return false; });
    }

    Stmt visit(const Stmt &s) {
        if (!s.defined())
            return s;
        if (is_launch(*s.get()))
            return with_uses(accesses(s), true, s->name, s);
        if (s->op == StmtOp::Fork)
            check_tasks(s);
        if (!has_uses_inside(s))
            return with_uses(accesses(s), false, "", s);
        const AccessMap own = accesses(with_children(s, s->exprs, {}));
        Stmt now = map_children(
            s, [](const Expr &e) { return e; }, [&](const Stmt &child) { return visit(child); });
        if (now->op == StmtOp::Allocate && on_device_.count(now->name) && !uses_on_host(now))
            now = for_device(now);
        if (now->op == StmtOp::Memoize)
            now = kept_on_host(now);
        return s->op == StmtOp::Block ? now : with_uses(own, false, "", now);
    }

  private:
    Stmt with_uses(const AccessMap &accesses, bool on_device, const std::string &stage,
                   const Stmt &s) const {
        std::vector<Stmt> parts;
        for (const auto &[name, a] : accesses) {
            if (!on_device_.count(name))
                continue;
            const bool all = a.stored && !a.read && overwritten_.count({name, stage});
            parts.push_back(make_use(name, on_device,
                                     all        ? Access::Overwrite
                                     : a.stored ? Access::Write
                                                : Access::Read));
        }
        parts.push_back(s);
        return make_block(std::move(parts));
    }

    /// The cache keeps memory of the host.
    Stmt kept_on_host(const Stmt &memoize) const {
        std::vector<Stmt> producer = {memoize->producer()};
        for (size_t i = 0; i < memoize->types.size(); i++)
            if (const std::string buffer = buffer_of_memoize(*memoize.get(), i);
                on_device_.count(buffer))
                producer.push_back(make_use(buffer, false, Access::Read));
        return with_children(memoize, memoize->exprs,
                             {make_block(std::move(producer)), memoize->consumer()});
    }

    /// Copies are of a whole buffer: of one part that is ready, while another one is computed, they cannot be.
    void check_tasks(const Stmt &fork) const {
        const Expr &slots = fork->slots();
        if (!slots.defined() || is_const(slots, 1))
            return;
        AccessMap computed = accesses(fork->producer()), read = accesses(fork->consumer());
        for (const auto &[name, access] : computed)
            if (access.stored && read.count(name) && on_device_.count(name) &&
                (is_on_host(fork->producer(), name) || is_on_host(fork->consumer(), name)))
                throw CompileError(
                    support::marked(support::Field::Func, fork->name) +
                    ".async(): a kernel computes or reads one part of it while the host works on another "
                    "part (ring_buffer(), store_at()), but copies to and from a GPU are of all of it. Leave "
                    "async() out, or compute both in kernels.");
    }

    /// Whether something other than a launch accesses the buffer.
    static bool is_on_host(const Stmt &s, const std::string &buffer) {
        if (!s.defined() || is_launch(*s.get()))
            return false;
        if (accesses(with_children(s, s->exprs, {})).count(buffer))
            return true;
        return std::any_of(s->stmts.begin(), s->stmts.end(),
                           [&](const Stmt &child) { return is_on_host(child, buffer); });
    }

    static bool uses_on_host(const Stmt &allocation) {
        return contains_stmt(allocation, [&](const StmtNode &s) {
            return s.op == StmtOp::Use && s.name == allocation->name && !s.on_device;
        });
    }

    std::set<std::string> on_device_;
    const std::set<std::pair<std::string, std::string>> &overwritten_;
};

}  // namespace

Stmt insert_device_uses(const Stmt &s,
                        const std::set<std::pair<std::string, std::string>> &overwritten,
                        const std::set<std::string> &arguments) {
    if (!s.defined() || (arguments.empty() && !contains_stmt(s, is_launch)))
        return s;
    return Uses(s, overwritten, arguments).visit(s);
}

}  // namespace Pipe::lower
