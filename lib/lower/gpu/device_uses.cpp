#include "lower/gpu/device_uses.h"

#include <map>

#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

struct Accessed {
    bool read = false, stored = false;
};
using AccessMap = std::map<std::string, Accessed>;

/// The buffers that `s` accesses and does not allocate.
AccessMap accesses(const Stmt &s) {
    AccessMap found;
    std::set<std::string> allocated;
    walk(
        s,
        [&](const Stmt &child) {
            if (child->op == StmtOp::Store)
                found[child->name].stored = true, found[child->name].read |= child->atomic;
            if (child->op == StmtOp::Prefetch)
                found[child->name].read = true;
            if (child->op == StmtOp::Allocate)
                allocated.insert(child->name);
            return true;
        },
        [&](const Expr &e) {
            if (e->op == Op::Load)
                found[e->name].read = true;
            return true;
        });
    for (const std::string &name : allocated)
        found.erase(name);
    return found;
}

bool is_launch(const StmtNode &s) {
    return s.op == StmtOp::Launch;
}

class Uses {
  public:
    Uses(const Stmt &program, const std::set<std::pair<std::string, std::string>> &overwritten)
        : overwritten_(overwritten) {
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
        if (!contains_stmt(s, is_launch))
            return with_uses(accesses(s), false, "", s);
        const AccessMap own = accesses(with_children(s, s->exprs, {}));
        Stmt now = map_children(
            s, [](const Expr &e) { return e; }, [&](const Stmt &child) { return visit(child); });
        if (now->op == StmtOp::Allocate && on_device_.count(now->name) && !uses_on_host(now))
            now = for_device(now);
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
                        const std::set<std::pair<std::string, std::string>> &overwritten) {
    return s.defined() && contains_stmt(s, is_launch) ? Uses(s, overwritten).visit(s) : s;
}

}  // namespace Pipe::lower
