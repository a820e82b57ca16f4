#include "lower/share_strided_loads.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "ir/substitute.h"
#include "ir/visit.h"
#include "lower/lanes.h"
#include "lower/strided.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// Only these statements follow each other without a condition.
bool is_straight(const Stmt &s) {
    if (s->op == StmtOp::Store)
        return !s->atomic && loads_always(*s.get());
    return (s->op == StmtOp::Let || s->op == StmtOp::Block) &&
           std::all_of(s->stmts.begin(), s->stmts.end(), is_straight);
}

std::set<std::string> names_bound(const Stmt &s) {
    std::set<std::string> names;
    walk(
        s,
        [&](const Stmt &child) {
            if (child->op == StmtOp::Let)
                names.insert(child->name);
            return true;
        },
        [](const Expr &) { return false; });
    return names;
}

constexpr int64_t fewest_columns = 4;  ///< that are worth a transposition

/// A load of the elements base, base + stride, ... with any stride but that of neighbors.
bool is_apart(const Expr &index) {
    return index->op == Op::Ramp && has_no_overflow(index.type()) &&
           !is_const(index->stride(), 1) && !is_const(index->stride(), 0) &&
           !is_const(index->stride(), -1);
}

/// A load of small elements at places of which nothing is known.
bool is_scattered(const Expr &load) {
    const Expr &index = load->element();
    constexpr int widest = 32;  // bits
    return index->op != Op::Ramp && index->op != Op::Broadcast && index->op != Op::Interleave &&
           has_no_overflow(index.type()) && load.type().bits() >= 8 && load.type().bits() <= widest;
}

/// Loads of one buffer with one stride, whose bases differ by constants; or whose indices do, in all lanes.
struct Family {
    struct Member {
        int64_t offset;  ///< of the base, from the first member's
        const ExprNode *load;
    };
    Expr first;
    std::vector<Member> members;
};

class SharedLoads {
  public:
    explicit SharedLoads(int *made) : made_(*made) {}

    /// The loads in `e` that are done in any case, but not of buffers in `stored`, nor where they need `bound`
    /// variables.
    void collect(const Expr &e, const std::set<std::string> &stored,
                 const std::set<std::string> &bound) {
        walk(e, [&](const Expr &n) {
            if (is_shared(n) && !seen_.insert(n.get()).second)
                return false;
            if (n->op == Op::Let || is_intrinsic(*n.get(), intrinsic::if_then_else) ||
                is_intrinsic(*n.get(), intrinsic::address_of)) {
                if (n->op != Op::Call || n->name != intrinsic::address_of)
                    collect(n->args[0], stored, bound);
                return false;
            }
            if (n->op != Op::Load || !n.type().is_vector() || n->predicate().defined() ||
                stored.count(n->name) || uses_vars(n->element(), bound))
                return true;
            if (is_apart(n->element()))
                add(n);
            else if (is_scattered(n))
                add_scattered(n);
            return true;
        });
    }

    /// Makes the dense loads. True if there are any.
    bool share() {
        for (Family &family : families_)
            share(family);
        for (Family &family : scattered_)
            share_pairs(family);
        return !lets_.empty();
    }

    Expr rewritten(const Expr &e) {
        struct Rewriter : GraphMutator {
            const SharedLoads &shared;
            explicit Rewriter(const SharedLoads &s) : shared(s) {}
            using GraphMutator::mutate;
            Expr rewrite(const Expr &n) override {
                auto found = shared.slices_.find(n.get());
                return found != shared.slices_.end() ? found->second : GraphMutator::rewrite(n);
            }
        };
        return e.defined() ? Rewriter(*this).mutate(e) : e;
    }

    Stmt around(Stmt s) const {
        for (auto let = lets_.rbegin(); let != lets_.rend(); ++let)
            s = make_let(let->first, let->second, s);
        return s;
    }

  private:
    static bool uses_vars(const Expr &e, const std::set<std::string> &names) {
        return !names.empty() && contains(e, [&](const ExprNode &n) {
            return n.op == Op::Variable && names.count(n.name) > 0;
        });
    }

    void add(const Expr &load) {
        const Expr &here = load->element();
        for (Family &family : families_) {
            const Expr &first = family.first, &start = first->element();
            if (first->name != load->name || first.type() != load.type() ||
                !equal(start->stride(), here->stride()))
                continue;
            if (auto distance = constant_difference(here->base(), start->base())) {
                family.members.push_back({*distance, load.get()});
                return;
            }
        }
        families_.push_back({load, {{0, load.get()}}});
    }

    void add_scattered(const Expr &load) {
        constexpr size_t most = 32;  // families, which are compared with each other
        for (Family &family : scattered_) {
            if (family.first->name != load->name || family.first.type() != load.type())
                continue;
            if (auto distance =
                    constant_difference_of_lanes(load->element(), family.first->element())) {
                family.members.push_back({*distance, load.get()});
                return;
            }
        }
        if (scattered_.size() < most)
            scattered_.push_back({load, {{0, load.get()}}});
    }

    static void sort(std::vector<Family::Member> &members) {
        std::stable_sort(members.begin(), members.end(),
                         [](const auto &a, const auto &b) { return a.offset < b.offset; });
    }

    /// The first ones of each two neighbors, and the others, both maybe several times.
    void share_pairs(Family &family) {
        auto &members = family.members;
        sort(members);
        for (size_t begin = 0; begin < members.size();) {
            size_t end = begin;
            while (end < members.size() && members[end].offset <= members[begin].offset + 1)
                end++;
            if (members[end - 1].offset > members[begin].offset)
                share_pairs(family, begin, end);
            begin = end;
        }
    }

    void share_pairs(const Family &family, size_t begin, size_t end) {
        const Type type = family.first.type(), pairs = type.with_lanes(2 * type.lanes());
        const std::string name = family.first->name + ".pairs" + std::to_string(made_++);
        const Expr &first = family.members[begin].load->element();
        const Expr one = make_broadcast(make_const(first.type().element_of(), 1), type.lanes());
        const Expr index = make_interleave({first, make_binary(Op::Add, first, one)});
        lets_.emplace_back(name, make_load(pairs, family.first->name, index));
        for (size_t i = begin; i < end; i++)
            slices_[family.members[i].load] = make_slice(
                make_variable(pairs, name),
                static_cast<int>(family.members[i].offset - family.members[begin].offset), 2,
                type.lanes());
    }

    void share(Family &family) {
        auto &members = family.members;
        sort(members);
        if (!has_channel_stride(family.first->element()))
            return share_columns(family);
        const int64_t stride = strided(family.first->element())->stride;
        for (size_t begin = 0; begin < members.size();) {
            size_t end = begin;
            int64_t channels = 0;
            for (; end < members.size() && members[end].offset < members[begin].offset + stride;
                 end++)
                channels += end == begin || members[end].offset != members[end - 1].offset;
            if (channels >= 2 && 2 * channels >= stride)
                share(family, begin, end);
            begin = end;
        }
    }

    void share(const Family &family, size_t begin, size_t end) {
        const Strided start = *strided(family.first->element());
        const Type type = family.first.type();
        const int64_t lowest = family.members[begin].offset;
        const int64_t span = start.last() + family.members[end - 1].offset - lowest + 1;
        const Type whole = type.with_lanes(static_cast<int>(span));
        const std::string &buffer = family.first->name;
        std::string name = buffer + ".span" + std::to_string(made_++);
        lets_.emplace_back(
            name,
            make_load(whole, buffer, dense_index(start.base, lowest, static_cast<int>(span))));
        for (size_t i = begin; i < end; i++)
            slices_[family.members[i].load] = make_slice(
                make_variable(whole, name), static_cast<int>(family.members[i].offset - lowest),
                static_cast<int>(start.stride), type.lanes());
    }

    /// Neighboring columns, of which each load takes one: rows are loaded instead, and transposed.
    void share_columns(const Family &family) {
        const auto &members = family.members;
        for (size_t begin = 0; begin < members.size();) {
            size_t end = begin + 1;
            while (end < members.size() && members[end].offset <= members[end - 1].offset + 1)
                end++;
            const int64_t columns = members[end - 1].offset - members[begin].offset + 1;
            if (columns >= fewest_columns)
                share_columns(family, begin, end, static_cast<int>(columns));
            begin = end;
        }
    }

    void share_columns(const Family &family, size_t begin, size_t end, int columns) {
        const Type type = family.first.type();
        const Expr &index = family.first->element(), &stride = index->stride();
        const int64_t lowest = family.members[begin].offset;
        std::vector<Expr> rows;
        for (int i = 0; i < type.lanes(); i++) {
            const Expr row = ir::add(index->base(), ir::mul(stride, make_const(stride.type(), i)));
            rows.push_back(make_load(type.with_lanes(columns), family.first->name,
                                     dense_index(row, lowest, columns)));
        }
        const Expr transposed = make_interleave(std::move(rows));
        const std::string name = family.first->name + ".columns" + std::to_string(made_++);
        lets_.emplace_back(name, transposed);
        for (size_t i = begin; i < end; i++)
            slices_[family.members[i].load] =
                make_slice(make_variable(transposed.type(), name),
                           static_cast<int>(family.members[i].offset - lowest) * type.lanes(), 1,
                           type.lanes());
    }

    int &made_;
    std::unordered_set<const ExprNode *> seen_;
    std::vector<Family> families_, scattered_;
    std::vector<std::pair<std::string, Expr>> lets_;
    std::unordered_map<const ExprNode *, Expr> slices_;
};

class Sharing : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }

    Stmt mutate(const Stmt &s) override {
        if (is_straight(s))
            return straight(s);
        if (s->op != StmtOp::Block)
            return Mutator::mutate(s);
        std::vector<Stmt> result, run;
        auto end_run = [&] {
            if (!run.empty())
                result.push_back(straight(make_block(std::exchange(run, {}))));
        };
        for (const Stmt &child : s->stmts) {
            if (is_straight(child)) {
                run.push_back(child);
                continue;
            }
            end_run();
            result.push_back(mutate(child));
        }
        end_run();
        return make_block(std::move(result));
    }

  private:
    Stmt straight(const Stmt &s) {
        SharedLoads shared(&made_);
        const auto stored = buffers_written(s), bound = names_bound(s);
        each_expr(s, [&](const Expr &e) { shared.collect(e, stored, bound); });
        Stmt result = shared.share() ? shared.around(rewritten(s, shared)) : s;
        return each_by_itself(result);
    }

    template <typename F> static void each_expr(const Stmt &s, F &&f) {
        for (const Expr &e : s->exprs)
            if (e.defined())
                f(e);
        for (const Stmt &child : s->stmts)
            each_expr(child, f);
    }

    static Stmt rewritten(const Stmt &s, SharedLoads &shared) {
        return map_children(
            s, [&](const Expr &e) { return shared.rewritten(e); },
            [&](const Stmt &c) { return rewritten(c, shared); });
    }

    /// What is loaded for one statement is loaded before it stores.
    Stmt each_by_itself(const Stmt &s) {
        Stmt now = map_children(
            s, [](const Expr &e) { return e; }, [&](const Stmt &c) { return each_by_itself(c); });
        SharedLoads shared(&made_);
        for (const Expr &e : now->exprs)
            if (e.defined())
                shared.collect(e, {}, {});
        if (!shared.share())
            return now;
        std::vector<Expr> exprs;
        for (const Expr &e : now->exprs)
            exprs.push_back(shared.rewritten(e));
        return shared.around(with_children(now, std::move(exprs), now->stmts));
    }

    int made_ = 0;
};

}  // namespace

Stmt share_strided_loads(const Stmt &s) {
    return Sharing().mutate(s);
}

}  // namespace Pipe::lower
