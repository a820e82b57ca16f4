#include "lower/update.h"

#include <utility>

#include "ir/equal.h"
#include "lower/lanes.h"

namespace Pipe::lower {

using namespace ir;

std::optional<Update> as_update(const Stmt &store) {
    Expr value = store->value();
    auto is_old = [&](const Expr &e) {
        return e->op == Op::Load && e->name == store->name && !e->predicate().defined() &&
               equal(e->element(), store->index());
    };
    bool associative =
        is_binary(value->op) && is_commutative(value->op) && !is_comparison(value->op);
    if (!associative && value->op != Op::Sub)
        return {};
    Expr a = value->a(), b = value->b();
    if (associative && is_old(b) && !is_old(a))
        std::swap(a, b);
    if (!is_old(a) || buffers_read(b).count(store->name))
        return {};
    bool subtract = value->op == Op::Sub;
    return Update{subtract ? Op::Add : value->op, subtract, a, b};
}

}  // namespace Pipe::lower
