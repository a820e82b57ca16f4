// Makes coordinates computed from floats round exactly like their bounds.
//
//     f(x) = in(cast<int>(x * s + t))   =>   in(cast<int>(strict_float(strict_float(x * s) + t)))
//
// Each operation then rounds by itself, in the index and in the ends of its interval alike. Because
// rounding is monotone, everything between the ends is rounded to a value between the rounded ends.
// A product and a sum contracted to one instruction round only once: the index could exceed the
// bound by one.
//
// If a definition uses the same number elsewhere (as an interpolation weight), it must have the
// same value there.

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

/// The operations on which a definition's coordinates depend, if there are several in sequence.
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
        // The values of an int32 Func may be indices of others.
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
            if (e->op == Op::Cast && e.type().is_int_or_uint() && e->value().type().is_float())
                add_operations(e->value());
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
