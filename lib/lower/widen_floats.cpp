#include "lower/widen_floats.h"

#include "ir/intrinsics.h"
#include "ir/visit.h"

namespace Pipe::lower {

using namespace ir;

namespace {

bool is_small(Type type) {
    return type.is_float() && type.bits() == 16;
}

Type wide(Type type) {
    return is_small(type) ? Float(32, type.lanes()) : type;
}

Expr widen(const Expr &e) {
    return make_cast(wide(e.type()), e);
}

/// Operations that look into the bits of their operands.
bool computes(const Expr &e) {
    if (is_binary(e->op) || e->op == Op::VectorReduce || e->op == Op::Ramp)
        return true;
    return e->op == Op::Call && e->call_kind == CallKind::Intrinsic &&
           (e->name == intrinsic::abs || e->name == intrinsic::absd);
}

class Widener : public GraphMutator {
  public:
    using GraphMutator::mutate;

  protected:
    Expr rewrite(const Expr &given) override {
        Expr e = GraphMutator::rewrite(given);
        if (e->args.empty() || !e->args[0].defined() || !is_small(e->args[0].type()) ||
            !computes(e))
            return e;
        std::vector<Expr> args;
        for (const Expr &arg : e->args)
            args.push_back(widen(arg));
        Expr result;
        if (is_binary(e->op))
            result = make_binary(e->op, args[0], args[1]);
        else if (e->op == Op::VectorReduce)
            result = make_vector_reduce(e->reduce_op, args[0], e.type().lanes());
        else if (e->op == Op::Ramp)
            result = make_ramp(args[0], args[1], e.type().lanes());
        else
            result = make_call(wide(e.type()), e->name, args, e->call_kind, e->index);
        return make_cast(e.type(), result);
    }
};

}  // namespace

Stmt widen_floats(const Stmt &s) {
    return Widener().mutate(s);
}

}  // namespace Pipe::lower
