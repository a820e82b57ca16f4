#include "ir/operand_chain.h"

namespace Pipe::ir {

namespace {

/// The operation that joins operands in e; a difference is a sum.
std::optional<Op> joining(const Expr &e) {
    switch (e->op) {
    case Op::Add:
    case Op::Min:
    case Op::Max:
        return e->op;
    case Op::Sub:
        return Op::Add;
    default:
        return std::nullopt;
    }
}

}  // namespace

std::optional<Chain> take_operand(const Expr &e,
                                  const std::function<bool(const Expr &)> &is_special) {
    const std::optional<Op> op = joining(e);
    if (!op)
        return std::nullopt;
    for (size_t side : {size_t(0), size_t(1)}) {
        const Expr &here = e->args[side], &other = e->args[1 - side];
        if (e->op == Op::Sub && side == 1)
            continue;  // subtracted
        if (is_special(here)) {
            const Expr rest =
                e->op == Op::Sub ? make_binary(Op::Sub, make_const(e.type(), 0), other) : other;
            return Chain{*op, here, rest};
        }
        if (joining(here) != op)
            continue;
        if (auto inner = take_operand(here, is_special)) {
            inner->rest = make_binary(e->op, inner->rest, other);
            return inner;
        }
    }
    return std::nullopt;
}

}  // namespace Pipe::ir
