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
    std::set<std::string> own;  ///< of which each thread only accesses elements of its own
    /// Stored by a pure definition that is still going on: it stores each element once, so that its stores need no
    /// order among themselves.
    std::set<std::string> once;
    bool ended = false;            ///< some array in shared memory whose life has ended since
    std::set<std::string> reused;  ///< arrays that may lie where an array of `ended` was

    void merge(const Pending &other) {
        for (const std::string &name : other.stored)
            if (!other.once.count(name))
                once.erase(name);
            else if (!stored.count(name))
                once.insert(name);
        read.insert(other.read.begin(), other.read.end());
        stored.insert(other.stored.begin(), other.stored.end());
        own.insert(other.own.begin(), other.own.end());
        ended |= other.ended;
        reused.insert(other.reused.begin(), other.reused.end());
    }
};

class Barriers {
  public:
    explicit Barriers(std::set<std::string> own) : own_(std::move(own)) {}

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
        case StmtOp::Produce:
            return production(s);
        default:
            return around(s, [&] { return visit(s->body()); });
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
        for (const std::string &name : own_)
            if (found.read.erase(name) + found.stored.erase(name) > 0)
                found.own.insert(name);
        const std::string stage = is_thread_loop(*s.get()) ? s->name : loop_;
        for (const std::string &name : found.stored)
            if (is_pure_stage_of(stage, name))
                found.once.insert(name);
        return found;
    }

    /// Whether "f.s0.x" computes the buffer: "f", or "f.1" of a Tuple.
    static bool is_pure_stage_of(const std::string &loop, const std::string &buffer) {
        const size_t end = loop.rfind(".s0.");
        return end != std::string::npos && buffer.starts_with(loop.substr(0, end)) &&
               (buffer.size() == end || buffer[end] == '.');
    }

    bool conflicts(const Pending &now) const {
        auto common = [](const std::set<std::string> &a, const std::set<std::string> &b) {
            for (const std::string &name : a)
                if (b.count(name))
                    return true;
            return false;
        };
        std::set<std::string> stored_before = pending_.stored;
        for (const std::string &name : now.once)
            if (pending_.once.count(name))
                stored_before.erase(name);
        return common(now.read, pending_.stored) || common(now.stored, stored_before) ||
               common(now.stored, pending_.read) || common(now.stored, pending_.reused) ||
               common(now.own, pending_.reused);
    }

    /// Notes what is accessed next; whether that needs a barrier.
    bool enter(const Pending &now) {
        const bool needed = conflicts(now);
        if (needed)
            pending_ = Pending();
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
        const std::string outer = std::exchange(loop_, s->name);
        Stmt result = around(s, [&] {
            const Pending entered = pending_;
            Stmt body = visit(s->body());
            pending_.merge(entered);
            body = visit(body);
            pending_.merge(entered);  // there may be no iteration
            return body;
        });
        loop_ = outer;
        return result;
    }

    /// The next production stores to the same elements again.
    Stmt production(const Stmt &s) {
        Stmt result = around(s, [&] { return visit(s->body()); });
        for (const std::string &name : std::set<std::string>(pending_.once))
            if (name == s->name || name.starts_with(s->name + "."))
                pending_.once.erase(name);
        return result;
    }

    Stmt branches(const Stmt &s) {
        const bool needed = enter(accesses(without_body(s)));
        const Pending entered = pending_;
        Stmt then = visit(s->then_case());
        const Pending after_then = std::exchange(pending_, entered);
        Stmt otherwise = visit(s->else_case());
        pending_.merge(after_then);
        return behind_barrier(needed, make_if(s->condition(), then, otherwise));
    }

    Stmt array(const Stmt &s) {
        if (s->memory != MemoryType::GPUShared)
            return around(s, [&] { return visit(s->body()); });
        if (pending_.ended)
            pending_.reused.insert(s->name);
        Stmt whole = with_children(s, s->exprs, {visit(s->body())});
        pending_.reused.erase(s->name);
        pending_.ended |= pending_.read.erase(s->name) + pending_.stored.erase(s->name) +
                              pending_.own.erase(s->name) >
                          0;
        return whole;
    }

    const std::set<std::string> own_;
    Pending pending_;
    std::string loop_;  ///< the innermost one around
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
        return with_children(s, s->exprs, {Barriers(std::move(ignored)).visit(s->body())});
    }
};

}  // namespace

Stmt insert_barriers(const Stmt &s) {
    return s.defined() ? BarriersOfKernels().mutate(s) : s;
}

}  // namespace Pipe::lower
