#include "lower/undef.h"

#include <unordered_map>

#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "lower/lanes.h"

namespace Pipe::lower {

using namespace ir;

namespace {

class Strip {
  public:
    Stored operator()(const Expr &e) {
        auto found = done_.find(e.get());
        if (found != done_.end())
            return found->second;
        Stored result = strip(e);
        done_.emplace(e.get(), result);
        return result;
    }

  private:
    Stored strip(const Expr &e) {
        if (is_intrinsic(*e.get(), intrinsic::undef))
            return {};
        if (is_choice(*e.get()))
            return select(e);
        Expr condition;
        std::vector<Expr> args;
        bool changed = false;
        for (const Expr &arg : e->args) {
            Stored part = arg.defined() ? (*this)(arg) : Stored{};
            if (arg.defined() && !part.value.defined())
                return {};
            condition = both(condition, part.condition);
            changed |= !part.value.same_as(arg);
            args.push_back(part.value);
        }
        return {changed ? with_args(e, args) : e, condition};
    }

    Stored select(const Expr &e) {
        Stored c = (*this)(e->args[0]), t = (*this)(e->args[1]), f = (*this)(e->args[2]);
        if (!c.value.defined() || (!t.value.defined() && !f.value.defined()))
            return {};
        if (!f.value.defined())
            return {t.value, both(c.condition, both(c.value, t.condition))};
        Expr otherwise = make_not(c.value);
        if (!t.value.defined())
            return {f.value, both(c.condition, both(otherwise, f.condition))};
        Expr condition;
        if (t.condition.defined() || f.condition.defined())
            condition =
                make_binary(Op::Or, both(c.value, t.condition), both(otherwise, f.condition));
        bool same = c.value.same_as(e->args[0]) && t.value.same_as(e->args[1]) &&
                    f.value.same_as(e->args[2]);
        return {same ? e : with_args(e, {c.value, t.value, f.value}), both(c.condition, condition)};
    }

    std::unordered_map<const ExprNode *, Stored> done_;  // of nodes that the caller keeps alive
};

}  // namespace

Stored without_undef(const Expr &value) {
    return Strip()(value);
}

}  // namespace Pipe::lower
