#include "lower/reads.h"

#include <unordered_map>

#include "ir/extern_functions.h"
#include "ir/intrinsics.h"

namespace Pipe::lower {

using namespace ir;

void add_reads(Conditions &all, Conditions other) {
    merge_into(all, std::move(other), [](Conditions &to, auto &&entry) {
        Expr &when = to[entry.first];
        when = disjunction(when, entry.second);
    });
}

void restrict_to(const Expr &condition, Conditions &all) {
    for (auto &[name, when] : all)
        when = guarded(condition, when);
}

namespace {

/// What an expression reads. `chosen`: only its value matters, which a select may throw away.
struct Reads {
    Conditions chosen, followed;

    void add(Reads other) {
        add_reads(chosen, std::move(other.chosen));
        add_reads(followed, std::move(other.followed));
    }
    /// The value is more than a value.
    void follow() {
        add_reads(followed, std::move(chosen));
        chosen.clear();
    }
};

class ExprReads {
  public:
    Conditions of(const Expr &e) {
        if (!e.defined())
            return {};
        Reads reads = plain(e);
        constexpr size_t many = 64;
        if (!reads.chosen.empty() && reads.chosen.size() <= many && chooses(e))
            reads = visit(e);
        reads.follow();
        return std::move(reads.followed);
    }

  private:
    static bool chooses(const Expr &e) {
        bool found = false;
        each_node(e, [&](const ExprNode &n) { return !(found |= is_choice(n)); });
        return found;
    }

    static Reads plain(const Expr &e) {
        Reads reads;
        each_node(e, [&](const ExprNode &n) {
            if (n.op == Op::Call && n.call_kind == CallKind::Func)
                reads.chosen[n.name] = always();
            return true;
        });
        return reads;
    }

    Reads visit(const Expr &e) {
        if (!is_shared(e))
            return compute(e);
        auto found = done_.find(e.get());
        if (found == done_.end())
            found = done_.emplace(e.get(), compute(e)).first;
        return found->second;
    }

    Reads compute(const Expr &e) {
        if (is_choice(*e.get()))
            return choice(*e.get());
        Reads reads;
        if (e->op == Op::Let) {  // conditions would name its variable
            reads = plain(e);
            reads.follow();
            return reads;
        }
        for (const Expr &arg : e->args)
            if (arg.defined())
                reads.add(visit(arg));
        bool c_function =
            e->op == Op::Call && (e->call_kind == CallKind::Extern || e->index == users_function);
        bool loads = e->op == Op::Call &&
                     (e->call_kind == CallKind::Func || e->call_kind == CallKind::Image);
        if (c_function || loads)
            reads.follow();
        if (e->op == Op::Call && e->call_kind == CallKind::Func)
            reads.chosen[e->name] = always();
        return reads;
    }

    /// A select computes both arms; if_then_else one of them.
    Reads choice(const ExprNode &e) {
        Reads reads = visit(e.args[0]);
        for (size_t arm : {size_t(1), size_t(2)}) {
            Reads read = visit(e.args[arm]);
            Expr condition = arm == 1 ? e.args[0] : make_not(e.args[0]);
            restrict_to(condition, read.chosen);
            if (e.op == Op::Call)
                restrict_to(condition, read.followed);
            reads.add(std::move(read));
        }
        return reads;
    }

    std::unordered_map<const ExprNode *, Reads> done_;
};

}  // namespace

Conditions reads_of(const Expr &e) {
    return ExprReads().of(e);
}

}  // namespace Pipe::lower
