#include "lower/gpu/barriers.h"

#include <utility>

#include "ir/visit.h"
#include "lower/gpu/kernels.h"
#include "lower/gpu/own_elements.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// What was accessed since the last barrier.
struct Pending {
    std::set<std::string> read, stored;
    bool ended = false;  ///< some array in shared memory whose life has ended since

    void merge(const Pending &other) {
        read.insert(other.read.begin(), other.read.end());
        stored.insert(other.stored.begin(), other.stored.end());
        ended |= other.ended;
    }
};

class Barriers {
  public:
    explicit Barriers(std::set<std::string> ignored) : ignored_(std::move(ignored)) {}

    Stmt visit(const Stmt &s) {
        if (!s.defined())
            return s;
        if (is_thread_loop(*s.get()) || s->stmts.empty())
            return s->op == StmtOp::Barrier ? passed(s) : behind_barrier(enter(accesses(s)), s);
        switch (s->op) {
        case StmtOp::Block: {
            std::vector<Stmt> parts;
            for (const Stmt &child : s->stmts)
                parts.push_back(visit(child));
            return make_block(std::move(parts));
        }
        case StmtOp::For:
            return loop(s);
        case StmtOp::If:
            return branches(s);
        case StmtOp::Allocate:
            return array(s);
        default:
            return around(s, [&] { return visit(s->stmts[0]); });
        }
    }

  private:
    Stmt passed(const Stmt &barrier) {
        pending_ = Pending();
        return barrier;
    }

    Pending accesses(const Stmt &s) const {
        Pending found;
        walk(
            s,
            [&](const Stmt &child) {
                if (child->op == StmtOp::Store)
                    found.stored.insert(child->name);
                return true;
            },
            [&](const Expr &e) {
                if (e->op == Op::Load)
                    found.read.insert(e->name);
                return true;
            });
        for (const std::string &name : ignored_)
            found.read.erase(name), found.stored.erase(name);
        return found;
    }

    bool conflicts(const Pending &now) const {
        auto common = [](const std::set<std::string> &a, const std::set<std::string> &b) {
            for (const std::string &name : a)
                if (b.count(name))
                    return true;
            return false;
        };
        return common(now.read, pending_.stored) || common(now.stored, pending_.stored) ||
               common(now.stored, pending_.read) || common(now.stored, reused_);
    }

    /// Notes what is accessed next; whether that needs a barrier.
    bool enter(const Pending &now) {
        const bool needed = conflicts(now);
        if (needed)
            pending_ = Pending(), reused_.clear();
        pending_.merge(now);
        return needed;
    }

    static Stmt behind_barrier(bool needed, const Stmt &s) {
        return needed ? make_block({make_barrier(), s}) : s;
    }

    /// The expressions of a statement are evaluated before what is inside of it.
    static Stmt without_body(const Stmt &s) { return with_children(s, s->exprs, {}); }

    template <typename F> Stmt around(const Stmt &s, F &&body) {
        const bool needed = enter(accesses(without_body(s)));
        return behind_barrier(needed, with_children(s, s->exprs, {body()}));
    }

    /// Twice: what the end of the body left pending is pending at its beginning.
    Stmt loop(const Stmt &s) {
        return around(s, [&] {
            const Pending entered = pending_;
            Stmt body = visit(s->stmts[0]);
            pending_.merge(entered);
            body = visit(body);
            pending_.merge(entered);  // there may be no iteration
            return body;
        });
    }

    Stmt branches(const Stmt &s) {
        const bool needed = enter(accesses(without_body(s)));
        const Pending entered = pending_;
        Stmt then = visit(s->stmts[0]);
        const Pending after_then = std::exchange(pending_, entered);
        Stmt otherwise = visit(s->stmts[1]);
        pending_.merge(after_then);
        return behind_barrier(needed, make_if(s->exprs[0], then, otherwise));
    }

    Stmt array(const Stmt &s) {
        if (s->memory != MemoryType::GPUShared)
            return around(s, [&] { return visit(s->stmts[0]); });
        if (pending_.ended)
            reused_.insert(s->name);
        Stmt whole = with_children(s, s->exprs, {visit(s->stmts[0])});
        reused_.erase(s->name);
        pending_.ended |= pending_.read.erase(s->name) + pending_.stored.erase(s->name) > 0;
        return whole;
    }

    const std::set<std::string> ignored_;
    Pending pending_;
    std::set<std::string> reused_;  ///< arrays whose place was accessed since the last barrier
};

class BarriersOfKernels : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        if (s->op != StmtOp::Launch)
            return Mutator::mutate(s);
        std::set<std::string> ignored = own_elements(s).buffers;
        walk(
            s,
            [&](const Stmt &child) {
                if (child->op == StmtOp::Allocate && child->memory != MemoryType::GPUShared)
                    ignored.insert(child->name);  // one array per thread
                return true;
            },
            [](const Expr &) { return false; });
        return with_children(s, s->exprs, {Barriers(std::move(ignored)).visit(s->stmts[0])});
    }
};

}  // namespace

Stmt insert_barriers(const Stmt &s) {
    return s.defined() ? BarriersOfKernels().mutate(s) : s;
}

}  // namespace Pipe::lower
