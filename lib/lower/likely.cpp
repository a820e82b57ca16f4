#include "lower/likely.h"

#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

bool is_likely(const Expr &e) {
    if (e->op == Op::Broadcast || e->op == Op::Cast)
        return is_likely(e->value());
    return is_intrinsic(*e.get(), intrinsic::likely);
}

Expr tagged_as(const Expr &before, const Expr &now) {
    if (!is_likely(before) || is_likely(now))
        return now;
    return make_call(now.type(), intrinsic::likely, {now}, CallKind::Intrinsic);
}

Stmt without_likely(const Stmt &s) {
    class RemoveLikely : public GraphMutator {
      public:
        using GraphMutator::mutate;

      private:
        Expr rewrite(const Expr &e) override {
            bool tag = is_intrinsic(*e.get(), intrinsic::likely);
            return tag ? mutate(e->args[0]) : GraphMutator::rewrite(e);
        }
    };
    return RemoveLikely().mutate(s);
}

}  // namespace Pipe::lower
