// Coordinates that floats say are computed with the roundings of their bounds.
//
//     f(x) = in(cast<int>(x * s + t))   =>   in(cast<int>(strict_float(strict_float(x * s) + t)))
//
// Each operation then rounds by itself, in the index and in the ends of its interval alike; and as rounding
// keeps the order of numbers, all that lies between the ends is rounded to what lies between them. A product
// and a sum that one instruction computes round once: the index could pass the end by one.
//
// Where a definition needs the same number elsewhere (as the weight of a neighbor), it stays the same
// number there.

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"
#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::graph {
namespace {

using ir::Op;

bool is_float_arithmetic(const Expr &e) {
    return e.type().is_float() &&
           (e->op == Op::Add || e->op == Op::Sub || e->op == Op::Mul || e->op == Op::Div);
}

bool is_strict(const Expr &e) {
    return ir::is_intrinsic(*e.get(), ir::intrinsic::strict_float);
}

/// The operations that a definition's coordinates depend on, where there are several in a row.
class Operations {
  public:
    explicit Operations(const Stage &stage) {
        for (const Expr &e : stage.args)
            add_coordinate(e);
        for_each_expr(stage, [&](const Expr &root) {
            ir::walk(root, [&](const Expr &e) {
                if (ir::is_shared(e) && !seen_.insert(e.get()).second)
                    return false;
                if (e->op == Op::Call &&
                    (e->call_kind == ir::CallKind::Func || e->call_kind == ir::CallKind::Image))
                    for (const Expr &arg : e->args)
                        add_coordinate(arg);
                return true;
            });
        });
        // What a Func of int32 gives may be an index of others.
        for (const Expr &e : stage.values)
            if (e.type() == Int(32))
                add_coordinate(e);
    }

    bool empty() const { return all_.empty(); }
    bool contains(const Expr &e) const { return e->depth <= deepest_ && all_.count(e) > 0; }

  private:
    void add_coordinate(const Expr &coordinate) {
        ir::walk(coordinate, [&](const Expr &e) {
            if (ir::is_shared(e) && !in_coordinates_.insert(e.get()).second)
                return false;
            if (e->op == Op::Cast && e.type().is_int_or_uint() && e->args[0].type().is_float())
                add_operations(e->args[0]);
            return true;
        });
    }

    void add_operations(const Expr &value) {
        std::vector<Expr> found;
        std::unordered_set<const ir::ExprNode *> seen;
        ir::walk(value, [&](const Expr &e) {
            if (is_strict(e) || !seen.insert(e.get()).second)
                return false;
            if (is_float_arithmetic(e))
                found.push_back(e);
            return true;
        });
        if (found.size() < 2)
            return;
        for (const Expr &e : found) {
            deepest_ = std::max(deepest_, e->depth);
            all_.insert(e);
        }
    }

    std::unordered_set<Expr, ir::ExprHash, ir::ExprEqual> all_;
    int deepest_ = 0;
    std::unordered_set<const ir::ExprNode *> seen_, in_coordinates_;
};

class MakeStrict : public ir::GraphMutator {
  public:
    explicit MakeStrict(const Operations &operations) : operations_(operations) {}

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = ir::GraphMutator::rewrite(e);
        return is_float_arithmetic(e) && operations_.contains(e)
                   ? ir::make_call(e.type(), ir::intrinsic::strict_float, {now},
                                   ir::CallKind::Intrinsic)
                   : now;
    }

  private:
    const Operations &operations_;
};

}  // namespace

void make_coordinates_strict(Stage &stage) {
    const Operations operations(stage);
    if (operations.empty())
        return;
    MakeStrict strict(operations);
    for_each_expr(stage, [&](Expr &e) { e = strict.mutate(e); });
}

}  // namespace Pipe::graph
