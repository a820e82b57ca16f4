#include "ir/equal.h"

#include "ir/shared.h"

#include <set>
#include <tuple>
#include <unordered_map>

namespace Pipe::ir {
namespace {

template <typename T> int order(const T &a, const T &b) {
    return a < b ? -1 : (b < a ? 1 : 0);
}

auto fields(const Type &t) {
    return std::tuple(t.code(), t.bits(), t.lanes());
}

/// Everything of two nodes but their children.
int compare_heads(const ExprNode &a, const ExprNode &b) {
    if (int c = order(a.op, b.op))
        return c;
    if (a.type != b.type)
        return order(fields(a.type), fields(b.type));
    // Bit patterns: distinguishes 0.0 from -0.0 and finds a NaN equal to itself.
    bool by_sign = a.op == Op::IntImm;
    if (int c = by_sign ? order(a.int_value, b.int_value) : order(a.uint_value, b.uint_value))
        return c;
    if (int c = order(std::tuple(a.call_kind, a.reduce_op, a.index, a.args.size()),
                      std::tuple(b.call_kind, b.reduce_op, b.index, b.args.size())))
        return c;
    if (int c = a.name.compare(b.name))
        return c < 0 ? -1 : 1;
    return std::less<>{}(a.referent.get(), b.referent.get()) ? -1
                                                             : (a.referent == b.referent ? 0 : 1);
}

/// Compares two graphs. After a number of steps, pairs found equal are remembered, so that sharing
/// does not make the comparison exponential.
class Comparer {
  public:
    int compare(const Expr &a, const Expr &b) {
        if (a.same_as(b))
            return 0;
        if (!a.defined() || !b.defined())
            return a.defined() ? 1 : -1;
        if (int c = compare_heads(*a, *b))
            return c;
        if (a->args.empty())
            return 0;
        bool remember = ++steps_ > patience && is_shared(a) && is_shared(b);
        if (remember && equal_.count({a.get(), b.get()}))
            return 0;
        for (size_t i = 0; i < a->args.size(); i++)
            if (int c = compare(a->args[i], b->args[i]))
                return c;
        if (remember)
            equal_.emplace(a.get(), b.get());
        return 0;
    }

  private:
    static constexpr int patience = 256;
    int steps_ = 0;
    std::set<std::pair<const ExprNode *, const ExprNode *>> equal_;
};

class Hasher {
  public:
    size_t hash(const Expr &e) {
        if (!e.defined())
            return 0;
        size_t h = hash_without_children(e);
        if (e->args.empty())
            return h;
        bool remember = ++steps_ > patience && is_shared(e);
        if (remember) {
            auto found = done_.find(e.get());
            if (found != done_.end())
                return found->second;
        }
        for (const Expr &arg : e->args)
            h = hash_combine(h, hash(arg));
        if (remember)
            done_.emplace(e.get(), h);
        return h;
    }

  private:
    static constexpr int patience = 256;
    int steps_ = 0;
    std::unordered_map<const ExprNode *, size_t> done_;
};

bool equal_exprs(const std::vector<Expr> &a, const std::vector<Expr> &b) {
    if (a.size() != b.size())
        return false;
    for (size_t i = 0; i < a.size(); i++)
        if (!equal(a[i], b[i]))
            return false;
    return true;
}

}  // namespace

size_t hash_combine(size_t seed, size_t value) {
    uint64_t h = (seed ^ (value + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    return h ^ (h >> 32);
}

size_t hash_without_children(const Expr &e) {
    size_t h = hash_combine(static_cast<size_t>(e->op), e->uint_value);
    h = hash_combine(h, static_cast<size_t>(e->type.code()) << 24 | e->type.bits() << 16 |
                            e->type.lanes());
    if (e->op >= Op::Call)
        h = hash_combine(h, static_cast<size_t>(e->call_kind) << 40 |
                                static_cast<size_t>(e->reduce_op) << 32 |
                                static_cast<uint32_t>(e->index));
    return e->name.empty() ? h : hash_combine(h, std::hash<std::string>{}(e->name));
}

bool same_head(const Expr &a, const Expr &b) {
    return compare_heads(*a, *b) == 0;
}

int compare(const Expr &a, const Expr &b) {
    return Comparer().compare(a, b);
}

bool equal(const Expr &a, const Expr &b) {
    return compare(a, b) == 0;
}

size_t hash(const Expr &e) {
    return Hasher().hash(e);
}

bool equal(const Stmt &a, const Stmt &b) {
    if (a.same_as(b))
        return true;
    if (!a.defined() || !b.defined())
        return false;
    if (a->op != b->op || a->kind != b->kind || a->memory != b->memory ||
        a->num_values != b->num_values || a->atomic != b->atomic || a->code != b->code ||
        a->on_device != b->on_device || a->access != b->access ||
        a->name != b->name || a->types != b->types || a->stmts.size() != b->stmts.size() ||
        !equal_exprs(a->exprs, b->exprs))
        return false;
    for (size_t i = 0; i < a->stmts.size(); i++)
        if (!equal(a->stmts[i], b->stmts[i]))
            return false;
    return true;
}

}  // namespace Pipe::ir
