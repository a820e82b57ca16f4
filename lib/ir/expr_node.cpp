#include "ir/expr_node.h"

#include "ir/release.h"
#include "support/error_text.h"

#include <algorithm>
#include <limits>

namespace Pipe {

Type Expr::type() const {
    if (!node_)
        throw CompileError("An undefined Expr was used" + support::nearby() +
                           ": give it a value before it is used.");
    return node_->type;
}

Expr::Expr(bool v) : Expr(ir::make_int(Bool(), v)) {}
Expr::Expr(int8_t v) : Expr(ir::make_int(Int(8), v)) {}
Expr::Expr(uint8_t v) : Expr(ir::make_int(UInt(8), v)) {}
Expr::Expr(int16_t v) : Expr(ir::make_int(Int(16), v)) {}
Expr::Expr(uint16_t v) : Expr(ir::make_int(UInt(16), v)) {}
Expr::Expr(int32_t v) : Expr(ir::make_int(Int(32), v)) {}
Expr::Expr(uint32_t v) : Expr(ir::make_int(UInt(32), v)) {}
Expr::Expr(int64_t v) : Expr(ir::make_int(Int(64), v)) {}
Expr::Expr(uint64_t v) : Expr(ir::make_int(UInt(64), static_cast<int64_t>(v))) {}
Expr::Expr(float v) : Expr(ir::make_float(Float(32), v)) {}
Expr::Expr(double v) : Expr(ir::make_float(Float(64), v)) {}
Expr::Expr(float16_t v) : Expr(ir::make_float(Float(16), static_cast<double>(v))) {}
Expr::Expr(bfloat16_t v) : Expr(ir::make_float(BFloat(16), static_cast<double>(v))) {}

}  // namespace Pipe

namespace Pipe::ir {
namespace {

void check(bool condition, const char *what) {
    if (!condition)
        throw InternalError(std::string("malformed expression: ") + what);
}

/// A node under construction: a plain pointer until it is handed to an Expr.
ExprNode *new_node(Op op, Type type, std::vector<Expr> args = {}) {
    auto *node = new ExprNode(op, type);
    node->args = std::move(args);
    for (const Expr &arg : node->args)
        if (arg.defined())
            node->depth = std::max(node->depth, arg->depth + 1);
    return node;
}

/// The value of `value` after wrapping to `bits` bits.
int64_t wrap(Type type, int64_t value) {
    if (type.bits() == 64)
        return value;
    if (type.bits() == 1)
        return value & 1;
    int unused = 64 - type.bits();
    auto shifted = static_cast<uint64_t>(value) << unused;
    return type.is_int() ? static_cast<int64_t>(shifted) >> unused
                         : static_cast<int64_t>(shifted >> unused);
}

}  // namespace

double round_to(Type type, double value) {
    if (type.is_bfloat())
        return static_cast<double>(bfloat16_t(value));
    if (type.bits() == 16)
        return static_cast<double>(float16_t(value));
    return type.bits() == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

void retain(const ExprNode *node) noexcept {
    if (node)
        node->references.fetch_add(1, std::memory_order_relaxed);
}

void release(const ExprNode *node) noexcept {
    if (node && node->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
        delete_tree(node);
}

Expr make_int(Type type, int64_t value) {
    check(type.is_int_or_uint(), "integer constant of a non-integer type");
    if (type.is_vector())
        return make_broadcast(make_int(type.element_of(), value), type.lanes());
    auto *node = new_node(type.is_int() ? Op::IntImm : Op::UIntImm, type);
    node->int_value = wrap(type, value);
    return Expr(node);
}

Expr make_float(Type type, double value) {
    check(type.is_float(), "float constant of a non-float type");
    if (type.is_vector())
        return make_broadcast(make_float(type.element_of(), value), type.lanes());
    auto *node = new_node(Op::FloatImm, type);
    node->float_value = round_to(type, value);
    return Expr(node);
}

Expr make_const(Type type, int64_t value) {
    return type.is_float() ? make_float(type, static_cast<double>(value)) : make_int(type, value);
}

Expr make_string(const std::string &value) {
    auto *node = new_node(Op::StringImm, Handle());
    node->name = value;
    return Expr(node);
}

Expr make_variable(Type type, const std::string &name, std::shared_ptr<const Referent> referent) {
    auto *node = new_node(Op::Variable, type);
    node->name = name;
    node->referent = std::move(referent);
    return Expr(node);
}

Expr make_param(Type type, const std::string &name, std::shared_ptr<const Referent> referent) {
    auto *node = new_node(Op::Variable, type);
    node->is_param = true;
    node->name = name;
    node->referent = std::move(referent);
    return Expr(node);
}

Expr make_cast(Type type, Expr value) {
    check(value.defined() && value.type().lanes() == type.lanes(), "cast changes the lanes");
    if (value.type() == type)
        return value;
    return Expr(new_node(Op::Cast, type, {std::move(value)}));
}

Expr make_reinterpret(Type type, Expr value) {
    check(value.defined() &&
              value.type().bits() * value.type().lanes() == type.bits() * type.lanes(),
          "reinterpret changes the size");
    if (value.type() == type)
        return value;
    return Expr(new_node(Op::Reinterpret, type, {std::move(value)}));
}

Expr make_binary(Op op, Expr a, Expr b) {
    check(is_binary(op), "not a binary operator");
    check(a.defined() && b.defined(), "operand undefined");
    check(a.type() == b.type(), "operands of different types");
    Type type = is_comparison(op) ? Bool(a.type().lanes()) : a.type();
    return Expr(new_node(op, type, {std::move(a), std::move(b)}));
}

Expr make_not(Expr a) {
    check(a.defined() && a.type().is_bool(), "! of a value that is not a bool");
    Type type = a.type();
    return Expr(new_node(Op::Not, type, {std::move(a)}));
}

Expr make_select(Expr condition, Expr t, Expr f) {
    check(condition.defined() && t.defined() && f.defined(), "operand of select undefined");
    check(condition.type().is_bool() && t.type() == f.type(), "operands of select");
    check(condition.type().lanes() == 1 || condition.type().lanes() == t.type().lanes(),
          "select's lanes");
    Type type = t.type();
    return Expr(new_node(Op::Select, type, {std::move(condition), std::move(t), std::move(f)}));
}

Expr make_call(Type type, const std::string &name, std::vector<Expr> args, CallKind kind, int index,
               std::shared_ptr<const Referent> referent) {
    for (const Expr &arg : args)
        check(arg.defined(), "argument of a call undefined");
    auto *node = new_node(Op::Call, type, std::move(args));
    node->name = name;
    node->call_kind = kind;
    node->index = index;
    node->referent = std::move(referent);
    return Expr(node);
}

Expr make_load(Type type, const std::string &buffer, Expr index, Expr predicate) {
    check(index.defined() && index.type().lanes() == type.lanes(), "lanes of a load");
    auto *node = new_node(Op::Load, type, {std::move(index), std::move(predicate)});
    node->name = buffer;
    return Expr(node);
}

Expr make_ramp(Expr base, Expr stride, int lanes) {
    check(base.defined() && stride.defined() && base.type() == stride.type(), "operands of ramp");
    check(base.type().is_scalar() && lanes > 1, "lanes of ramp");
    Type type = base.type().with_lanes(lanes);
    return Expr(new_node(Op::Ramp, type, {std::move(base), std::move(stride)}));
}

Expr make_broadcast(Expr value, int lanes) {
    if (lanes == 1)
        return value;
    check(value.defined() && value.type().is_scalar(), "broadcast of a vector");
    Type type = value.type().with_lanes(lanes);
    return Expr(new_node(Op::Broadcast, type, {std::move(value)}));
}

Expr make_let(const std::string &name, Expr value, Expr body) {
    check(value.defined() && body.defined(), "operand of let undefined");
    Type type = body.type();
    auto *node = new_node(Op::Let, type, {std::move(value), std::move(body)});
    node->name = name;
    return Expr(node);
}

Expr make_vector_reduce(Op op, Expr value, int lanes) {
    check(value.defined() && value.type().lanes() % lanes == 0, "lanes of reduce");
    Type type = value.type().with_lanes(lanes);
    auto *node = new_node(Op::VectorReduce, type, {std::move(value)});
    node->reduce_op = op;
    return Expr(node);
}

Expr make_interleave(std::vector<Expr> values) {
    check(!values.empty() && values[0].defined(), "nothing to interleave");
    for (const Expr &v : values)
        check(v.defined() && v.type() == values[0].type(), "types to interleave");
    Type type = values[0].type();
    int lanes = type.lanes() * static_cast<int>(values.size());
    return Expr(new_node(Op::Interleave, type.with_lanes(lanes), std::move(values)));
}

Expr make_slice(Expr value, int begin, int step, int lanes) {
    check(value.defined() && begin >= 0 && step >= 1 && lanes >= 1 &&
              begin + step * (lanes - 1) < value.type().lanes(),
          "lanes of a slice");
    Type type = value.type().with_lanes(lanes);
    auto *node = new_node(Op::Slice, type, {std::move(value)});
    node->index = begin;
    node->int_value = step;
    return Expr(node);
}

Expr with_args(const Expr &e, std::vector<Expr> args) {
    check(args.size() == e->args.size(), "number of children");
    switch (e->op) {
    case Op::Cast:
        return make_cast(e.type().with_lanes(args[0].type().lanes()), args[0]);
    case Op::Not:
        return make_not(args[0]);
    case Op::Select:
        return make_select(args[0], args[1], args[2]);
    case Op::Ramp:
        return make_ramp(args[0], args[1], e.type().lanes());
    case Op::Let:
        return make_let(e->name, args[0], args[1]);
    case Op::Interleave:
        return make_interleave(std::move(args));
    case Op::Load:
        return make_load(e.type().with_lanes(args[0].type().lanes()), e->name, args[0], args[1]);
    default:
        break;
    }
    if (is_binary(e->op))
        return make_binary(e->op, args[0], args[1]);
    auto *node = new_node(e->op, e.type(), std::move(args));
    node->call_kind = e->call_kind;
    node->reduce_op = e->reduce_op;
    node->index = e->index;
    node->int_value = e->int_value;
    node->name = e->name;
    node->referent = e->referent;
    return Expr(node);
}

bool as_const_int(const Expr &e, int64_t *value) {
    if (!e.defined())
        return false;
    if (e->op == Op::Broadcast)
        return as_const_int(e->value(), value);
    if (e->op != Op::IntImm && e->op != Op::UIntImm)
        return false;
    if (value)
        *value = e->int_value;
    return true;
}

bool is_intrinsic(const ExprNode &e, const char *name) {
    return e.op == Op::Call && e.call_kind == CallKind::Intrinsic && e.name == name;
}

bool is_const(const Expr &e, int64_t value) {
    int64_t actual = 0;
    return as_const_int(e, &actual) && actual == value;
}

bool is_binary(Op op) {
    return op >= Op::Add && op <= Op::Or;
}
bool is_comparison(Op op) {
    return op >= Op::EQ && op <= Op::GE;
}

Op negated(Op comparison) {
    switch (comparison) {
    case Op::EQ:
        return Op::NE;
    case Op::NE:
        return Op::EQ;
    case Op::LT:
        return Op::GE;
    case Op::LE:
        return Op::GT;
    case Op::GT:
        return Op::LE;
    default:
        return Op::LT;
    }
}

bool is_commutative(Op op) {
    switch (op) {
    case Op::Add:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::EQ:
    case Op::NE:
    case Op::And:
    case Op::Or:
        return true;
    default:
        return false;
    }
}

Expr identity(Op op, Type type) {
    double infinity = std::numeric_limits<double>::infinity();
    switch (op) {
    case Op::Mul:
    case Op::And:
        return make_const(type, 1);
    case Op::Min:
        return type.is_float() ? make_float(type, infinity)
                               : make_int(type, static_cast<int64_t>(type.max_uint()));
    case Op::Max:
        return type.is_float() ? make_float(type, -infinity) : make_int(type, type.min_int());
    default:
        return make_const(type, 0);
    }
}

namespace {

bool fits(Type type, __int128 value) {
    return value >= std::numeric_limits<int64_t>::min() &&
           value <= std::numeric_limits<int64_t>::max() &&
           type.can_represent(static_cast<int64_t>(value));
}

/// Folds a signed integer constant expression that does not overflow; else the plain node.
template <typename F> Expr fold(Op op, const Expr &a, const Expr &b, F &&f) {
    int64_t x = 0, y = 0;
    if (a.defined() && b.defined() && a.type().is_int() && as_const_int(a, &x) &&
        as_const_int(b, &y)) {
        __int128 value = f(static_cast<__int128>(x), static_cast<__int128>(y));
        if (fits(a.type().element_of(), value))
            return make_int(a.type(), static_cast<int64_t>(value));
    }
    return make_binary(op, a, b);
}

__int128 euclidean_div(__int128 a, __int128 b) {
    if (b == 0)
        return 0;
    __int128 q = a / b, r = a % b;
    return r < 0 ? (b > 0 ? q - 1 : q + 1) : q;
}

}  // namespace

Expr add(Expr a, Expr b) {
    if (is_const(a, 0))
        return b;
    if (is_const(b, 0))
        return a;
    int64_t x = 0, y = 0;  // (e + x) + y -> e + (x + y): offsets accumulate in this form
    if (a->op == Op::Add && as_const_int(a->b(), &x) && as_const_int(b, &y))
        return add(a->a(), fold(Op::Add, a->b(), b, [](auto p, auto q) { return p + q; }));
    return fold(Op::Add, a, b, [](auto p, auto q) { return p + q; });
}

Expr sub(Expr a, Expr b) {
    if (a.same_as(b))
        return make_const(a.type(), 0);
    int64_t y = 0;
    if (b.type().is_int() && b.type().is_scalar() && as_const_int(b, &y) &&
        fits(b.type(), -static_cast<__int128>(y)))
        return add(a, make_int(b.type(), -y));
    return fold(Op::Sub, a, b, [](auto p, auto q) { return p - q; });
}

Expr mul(Expr a, Expr b) {
    if (is_const(a, 0) || is_const(b, 1))
        return a;
    if (is_const(b, 0) || is_const(a, 1))
        return b;
    return fold(Op::Mul, a, b, [](auto p, auto q) { return p * q; });
}

Expr div(Expr a, Expr b) {
    if (is_const(b, 1))
        return a;
    return fold(Op::Div, a, b, euclidean_div);
}

Expr mod(Expr a, Expr b) {
    if (is_const(b, 1))
        return make_const(a.type(), 0);
    return fold(Op::Mod, a, b,
                [](auto p, auto q) { return q == 0 ? 0 : p - euclidean_div(p, q) * q; });
}

Expr min(Expr a, Expr b) {
    if (a.same_as(b))
        return a;
    return fold(Op::Min, a, b, [](auto p, auto q) { return p < q ? p : q; });
}

Expr max(Expr a, Expr b) {
    if (a.same_as(b))
        return a;
    return fold(Op::Max, a, b, [](auto p, auto q) { return p > q ? p : q; });
}

}  // namespace Pipe::ir
