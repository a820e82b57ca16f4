#include "lower/gpu/unused_reads.h"

#include <set>
#include <string>

#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// The Funcs that are computed under a condition (skip_stages names it "f.used").
std::set<std::string> skipped_funcs(const Stmt &s) {
    const std::string suffix = ".used";
    std::set<std::string> names;
    walk(
        s,
        [&](const Stmt &child) {
            if (child->op == StmtOp::Let && child->name.ends_with(suffix))
                names.insert(child->name.substr(0, child->name.size() - suffix.size()));
            return true;
        },
        [](const Expr &) { return false; });
    return names;
}

class GuardReads : public GraphMutator {
  public:
    explicit GuardReads(const std::set<std::string> &skipped) : skipped_(skipped) {}

    using GraphMutator::mutate;
    Stmt mutate(const Stmt &s) override {
        const bool outermost = s->op == StmtOp::For && is_gpu(s->kind) && !in_kernel_;
        if (outermost)
            enter(true);
        Stmt result = GraphMutator::mutate(s);
        if (outermost)
            enter(false);
        return result;
    }

  protected:
    Expr rewrite(const Expr &e) override {
        Expr now = GraphMutator::rewrite(e);
        if (!in_kernel_ || now->op != Op::Select || !now->condition().type().is_scalar())
            return now;
        if (!reads_skipped(now->if_true()) && !reads_skipped(now->if_false()))
            return now;
        return make_call(now.type(), intrinsic::if_then_else, now->args, CallKind::Intrinsic);
    }

  private:
    void enter(bool in_kernel) {
        in_kernel_ = in_kernel;
        forget();
    }

    bool reads_skipped(const Expr &e) const {
        return contains(e, [&](const ExprNode &n) {
            return n.op == Op::Call && n.call_kind == CallKind::Func && skipped_.count(n.name) > 0;
        });
    }

    const std::set<std::string> &skipped_;
    bool in_kernel_ = false;
};

}  // namespace

Stmt guard_unused_reads(const Stmt &s) {
    const std::set<std::string> skipped = s.defined() ? skipped_funcs(s) : std::set<std::string>();
    return skipped.empty() ? s : GuardReads(skipped).mutate(s);
}

}  // namespace Pipe::lower
