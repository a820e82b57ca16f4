#include "codegen/expr_emitter.h"

#include "codegen/arith.h"
#include "codegen/float16.h"
#include "codegen/integer_ops.h"
#include "codegen/interleave.h"
#include "codegen/math.h"
#include "codegen/narrow_sums.h"
#include "ir/extern_functions.h"
#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "jit/runtime/gpu_abi.h"

namespace Pipe::codegen {

using ir::CallKind;
using ir::Op;
using llvm::Value;

Value *ExprEmitter::emit(const Expr &e) {
    if (!e.defined())
        throw InternalError("code generation met an undefined expression");
    if (auto *known = memo_.values.find(e))
        return *known;
    Value *value = compute(e);
    memo_.values.add(e, value);
    return value;
}

Value *ExprEmitter::compute(const Expr &e) {
    Type type = e.type();
    llvm::Type *t = e->op == Op::StringImm ? nullptr : register_type(unit_.context, type);
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
        return constant(b_, type, e->int_value);
    case Op::FloatImm:
        if (type.bits() == 16)
            return constant(b_, type, float16_bits(type, e->float_value));
        return llvm::ConstantFP::get(t, e->float_value);
    case Op::StringImm:
        return b_.CreateGlobalString(e->name);
    case Op::Variable:
        return variable(*e).value;
    case Op::Cast:
        if (type == Int(64) && e->value().type() == Int(32))
            return wide(e->value());
        return emit_any_cast(b_, unit_.target, e->value().type(), type, emit(e->value()));
    case Op::Reinterpret:
        return b_.CreateBitOrPointerCast(emit(e->value()), t);
    case Op::Not:
        return b_.CreateNot(emit(e->value()));
    case Op::Select:
        return select(*e);
    case Op::Call:
        return call(e);
    case Op::Load:
        return load(e);
    case Op::Ramp:
        return ramp(*e);
    case Op::Broadcast:
        return b_.CreateVectorSplat(static_cast<unsigned>(type.lanes()), emit(e->value()));
    case Op::Let:
        return let(*e);
    case Op::Interleave: {
        if (Value *repeated = repeat(*e))
            return repeated;
        std::vector<Value *> values;
        for (const Expr &arg : e->args)
            values.push_back(emit(arg));
        return interleave(b_, unit_.target, values);
    }
    case Op::Slice:
        return channel_of(b_, unit_.target, emit(e->value()), e->index,
                          static_cast<int>(e->int_value), type.lanes());
    case Op::VectorReduce:
        return vector_reduce(*e);
    case Op::Div:
        if (Value *quotient = multiply_by_reciprocal(*e))
            return quotient;
        break;
    default:
        break;
    }
    Value *x = emit(e->a()), *y = emit(e->b());
    Type operands = e->a().type();
    switch (e->op) {
    case Op::Add:
        return emit_add(b_, operands, x, y);
    case Op::Sub:
        return emit_sub(b_, operands, x, y);
    case Op::Mul:
        return emit_mul(b_, operands, x, y);
    case Op::Div:
        return emit_div(b_, operands, x, y, range(e->a()));
    case Op::Mod:
        return emit_mod(b_, operands, x, y, range(e->a()));
    case Op::Min:
        return emit_min(b_, operands, x, y);
    case Op::Max:
        return emit_max(b_, operands, x, y);
    case Op::And:
        return b_.CreateAnd(x, y);
    case Op::Or:
        return b_.CreateOr(x, y);
    default:
        return emit_compare(b_, e->op, operands, x, y);
    }
}

/// Interleaved broadcasts, if the scalars fit into a larger one, which is broadcast; else null.
Value *ExprEmitter::repeat(const ir::ExprNode &e) {
    const int count = static_cast<int>(e.args.size()), bits = e.type.bits() * count;
    const bool fits = std::all_of(e.args.begin(), e.args.end(), [](const Expr &arg) {
        return arg->op == Op::Broadcast && arg->value().type().is_scalar();
    });
    if (!fits || e.type.is_bool() || (bits != 16 && bits != 32 && bits != 64))
        return nullptr;
    llvm::IntegerType *whole = b_.getIntNTy(static_cast<unsigned>(bits));
    llvm::IntegerType *part = b_.getIntNTy(static_cast<unsigned>(e.type.bits()));
    Value *all = nullptr;  // (not as a vector, of which LLVM would broadcast each element)
    for (int i = 0; i < count; i++) {
        Value *bits_of_it = b_.CreateBitCast(emit(e.args[static_cast<size_t>(i)]->value()), part);
        Value *in_place = b_.CreateShl(b_.CreateZExt(bits_of_it, whole),
                                       static_cast<uint64_t>(i * e.type.bits()));
        all = all ? b_.CreateOr(all, in_place) : in_place;
    }
    all = b_.CreateVectorSplat(static_cast<unsigned>(e.type.lanes() / count), all);
    return b_.CreateBitCast(all, register_type(unit_.context, e.type));
}

Value *ExprEmitter::vector_reduce(const ir::ExprNode &e) {
    const Type terms = e.value().type();
    const auto term = e.reduce_op == Op::Add
                          ? ir::narrow_term(e.value(), [&](const Expr &x) { return range(x); })
                          : std::nullopt;
    if (term && term->has_instruction(unit_.target, terms.lanes() / e.type.lanes()))
        return emit_narrow_sums(b_, unit_.target, *term, emit(term->a), emit(term->b), e.type);
    return emit_vector_reduce(b_, e.reduce_op, terms, emit(e.value()), e.type.lanes());
}

const Binding &ExprEmitter::variable(const ir::ExprNode &e) const {
    const Binding *bound = frame_.variables.find(e.name);
    if (!bound)
        throw InternalError("code generation: the variable " + e.name + " is not bound");
    return *bound;
}

ir::ConstantInterval ExprEmitter::range(const Expr &e) const {
    return range_of(e, [&](const ir::ExprNode &v) {
        const Binding *bound = frame_.variables.find(v.name);
        return bound ? bound->range : ir::ConstantInterval{};
    });
}

bool ExprEmitter::depends_on_data(const Expr &e) const {
    return ir::contains(e, [&](const ir::ExprNode &node) {
        const Binding *bound = node.op == Op::Variable ? frame_.variables.find(node.name) : nullptr;
        return node.op == Op::Load || (bound && bound->depends_on_data);
    });
}

Binding ExprEmitter::bind(const Expr &e) {
    Binding bound;
    Type type = e.type();
    bound.depends_on_data = type.is_vector() && depends_on_data(e);
    bound.range = range(e);
    bound.depth = depth_of(e);
    bound.affine = type.is_vector() ? affine(e) : std::nullopt;
    if (type == Int(32) || (type == Int(64) && !frame_.narrow_indices)) {
        // The sum is computed once, as an index, for both uses.
        bound.offset = settled(offset(e));
        bound.value =
            b_.CreateTrunc(materialize(*bound.offset), register_type(unit_.context, type));
    } else if (type == Int(64)) {
        bound.value = emit(e);  // LLVM removes what is not used
        bound.offset = settled(offset(e));
    } else {
        bound.value = emit(e);
    }
    return bound;
}

/// Where sums may be regrouped: the product with the reciprocal of a divisor that is constant, or that all lanes share,
/// which takes one division, outside of the loops that do not change it. Null for other divisions.
Value *ExprEmitter::multiply_by_reciprocal(const ir::ExprNode &e) {
    if (!e.type.is_float() || e.type.bits() < 32 || !b_.getFastMathFlags().allowReassoc())
        return nullptr;
    const Expr &divisor = e.b();
    const bool is_shared = divisor->op == Op::Broadcast;
    const Expr &value = is_shared ? divisor->value() : divisor;
    const bool is_constant = value->op == Op::FloatImm;
    if (!is_shared && !is_constant)
        return nullptr;
    Value *one = emit(value);
    Value *reciprocal = b_.CreateFDiv(llvm::ConstantFP::get(one->getType(), 1), one);
    if (is_shared)
        reciprocal = b_.CreateVectorSplat(static_cast<unsigned>(e.type.lanes()), reciprocal);
    Value *dividend = emit(e.a());
    llvm::IRBuilderBase::FastMathFlagGuard guard(b_);
    llvm::FastMathFlags flags = b_.getFastMathFlags();
    flags.setAllowReassoc(!is_constant);  // LLVM would distribute it over sums that results share
    b_.setFastMathFlags(flags);
    return b_.CreateFMul(dividend, reciprocal);
}

/// Results inside are discarded afterward, because the name may be bound differently elsewhere.
Value *ExprEmitter::let(const ir::ExprNode &e) {
    Binding bound = bind(e.value());
    bool hides = frame_.variables.find(e.name) != nullptr;
    frame_.variables.push(e.name, bound);
    auto body = [&] { return emit(e.body()); };
    Value *result = hides ? with_empty_memo(body) : with_scoped_memo(body);
    frame_.variables.pop(e.name);
    return result;
}

Value *ExprEmitter::ramp(const ir::ExprNode &e) {
    llvm::Type *t = register_type(unit_.context, e.type);
    auto lanes = static_cast<unsigned>(e.type.lanes());
    Value *numbers =
        e.type.is_float()
            ? b_.CreateUIToFP(lane_numbers(register_type(unit_.context, Int(32, e.type.lanes()))),
                              t)
            : lane_numbers(t);
    Value *stride = b_.CreateVectorSplat(lanes, emit(e.stride()));
    Value *base = b_.CreateVectorSplat(lanes, emit(e.base()));
    return emit_add(b_, e.type, base, emit_mul(b_, e.type, numbers, stride));
}

Value *ExprEmitter::select(const ir::ExprNode &e) {
    Value *condition = emit(e.args[0]), *t = emit(e.args[1]), *f = emit(e.args[2]);
    return b_.CreateSelect(condition, t, f);
}

namespace {

void require_in_process(const std::string &name) {
    if (auto known = ir::find_extern(name))
        ir::refuse_pipeline(*known);
    if (!ir::extern_address(name))
        throw CompileError(
            "The C function '" + name +
            "', which an expression calls, was not found in this process. Declare it before "
            "the HalideExtern macro that names it, or export it (-rdynamic).");
}

}  // namespace

Value *ExprEmitter::call(const Expr &e) {
    if (e->call_kind == CallKind::Intrinsic)
        return intrinsic(e);
    if (e->call_kind != CallKind::PureExtern && e->call_kind != CallKind::Extern) {
        throw InternalError("code generation met a call of " + e->name +
                            ", which lowering replaces");
    }
    if (e->call_kind == CallKind::Extern &&
        (e->name == ir::extern_function::trace || e->name == ir::extern_function::trace_value))
        return trace(*e.get());
    bool is_pure = e->call_kind == CallKind::PureExtern;
    if (!is_pure && e->name == ir::extern_function::extern_stage)
        return extern_stage(*e);
    if (!is_pure && e->name == ir::extern_function::raw_buffer)
        return raw_buffer(*e);
    if (!is_pure &&
        (e->name == ir::extern_function::raw_min || e->name == ir::extern_function::raw_extent))
        return raw_field(*e);
    if (!is_pure && e->name == ir::extern_function::print)
        return print(*e);
    if (!is_pure && e->name == ir::extern_function::require)
        return require(*e);
    std::vector<Value *> args;
    std::vector<Type> types;
    for (const Expr &arg : e->args) {
        args.push_back(emit(arg));
        types.push_back(arg.type());
    }
    if (e->index == ir::users_function)
        require_in_process(e->name);
    if (!is_pure || e->index == ir::users_function) {
        return emit_c_call(b_, unit_.module, e.type(), e->name, types, args, is_pure);
    }
    MathLibrary library{unit_.module, unit_.target, unit_.options.libmvec};
    return emit_pure_extern(b_, library, e.type(), e->name, types, args);
}

Value *ExprEmitter::intrinsic(const Expr &e) {
    namespace names = ir::intrinsic;
    const std::string &name = e->name;
    Type type = e.type();
    if (name == names::undef)
        return llvm::Constant::getNullValue(register_type(unit_.context, type));
    if (name == names::if_then_else)
        return if_then_else(*e);
    if (name == names::strict_float)
        return strictly([&] { return emit(e->args[0]); });
    if (name == names::user_context) {
        auto context = unit_.runtime(runtime::pipe_user_context);
        return b_.CreateCall(context, {frame_.context()});
    }
    if (name == names::address_of) {
        const Expr &load = e->args[0];
        return address(load->name, load.type(), offset(load->element()));
    }
    Type operand = e->args.at(0).type();
    Value *x = emit(e->args[0]);
    if (name == names::likely || name == names::promise_clamped)
        return x;
    if (name == names::abs)
        return emit_abs(b_, operand, x);
    if (ir::has_role(*e.get(), names::Role::Prefix)) {
        const ir::Op op = name == names::prefix_min   ? ir::Op::Min
                          : name == names::prefix_max ? ir::Op::Max
                                                      : ir::Op::Add;
        return emit_prefix(b_, op, operand, x, emit(ir::identity(op, operand.element_of())));
    }
    if (name == names::bitwise_not)
        return b_.CreateNot(x);
    if (e->args.size() == 2) {
        Value *y = emit(e->args[1]);
        if (name == names::absd)
            return emit_absd(b_, operand, x, y);
        if (name == names::shift_left || name == names::shift_right) {
            return emit_shift(b_, operand, x, e->args[1].type(), y, name == names::shift_left);
        }
        if (name == names::bitwise_and)
            return b_.CreateAnd(x, y);
        if (name == names::bitwise_or)
            return b_.CreateOr(x, y);
        if (name == names::bitwise_xor)
            return b_.CreateXor(x, y);
    }
    std::vector<Value *> args;
    std::vector<Type> types;
    for (const Expr &arg : e->args) {
        args.push_back(emit(arg));
        types.push_back(arg.type());
    }
    if (Value *done = emit_integer_op(b_, unit_.target, name, types, args))
        return done;
    throw InternalError("code generation does not know the intrinsic " + name);
}

/// Whether a thread of a kernel evaluates an arm of a condition in any case, and only its loads depend on it: that takes less
/// time than branches, across which instructions share nothing, and the loads of a stencil wait for each other.
bool ExprEmitter::is_branch_free(const Expr &arm) const {
    constexpr int most_nodes = 200;
    int nodes = 0;
    return !ir::contains(arm, [&](const ir::ExprNode &n) {
        const bool calls = n.op == Op::Call && n.call_kind != CallKind::Intrinsic;
        if (n.op == Op::Load && is_own_constant(n))
            return ++nodes > most_nodes;
        const bool loads_otherwise =
            n.op == Op::Load &&
            (n.type.is_vector() || (n.predicate().defined() && !ir::is_const(n.predicate(), 1)) ||
             frame_.buffers.find(n.name)->memory == runtime::GPUSite::Private);
        return calls || loads_otherwise || ++nodes > most_nodes;
    });
}

/// An element of the thread's own array that is there in any case: a register.
bool ExprEmitter::is_own_constant(const ir::ExprNode &load) const {
    return load.type.is_scalar() && ir::is_const_int(load.element()) &&
           (!load.predicate().defined() || ir::is_const(load.predicate(), 1)) &&
           frame_.buffers.find(load.name)->memory == runtime::GPUSite::Private;
}

/// With loads only where the condition holds, too.
Value *ExprEmitter::emit_where(Value *condition, const Expr &arm) {
    Value *before = active_;
    active_ = before ? b_.CreateAnd(before, condition) : condition;
    Value *result = with_scoped_memo([&] { return emit(arm); });
    active_ = before;
    return result;
}

/// Only one arm is evaluated, except for a vector condition.
Value *ExprEmitter::if_then_else(const ir::ExprNode &e) {
    if (e.args[0].type().is_vector())
        return select(e);
    if (frame_.kernel && is_branch_free(e.args[1]) && is_branch_free(e.args[2])) {
        Value *condition = emit(e.args[0]);
        Value *t = emit_where(condition, e.args[1]);
        return b_.CreateSelect(condition, t, emit_where(b_.CreateNot(condition), e.args[2]));
    }
    Value *condition = emit(e.args[0]);
    llvm::BasicBlock *join = frame_.new_block("join");
    llvm::BasicBlock *arms[2] = {frame_.new_block("then"), frame_.new_block("else")};
    b_.CreateCondBr(condition, arms[0], arms[1]);
    Value *results[2];
    for (int i = 0; i < 2; i++) {
        b_.SetInsertPoint(arms[i]);
        results[i] = with_scoped_memo([&] { return emit(e.args[static_cast<size_t>(i) + 1]); });
        b_.CreateBr(join);
        arms[i] = b_.GetInsertBlock();
    }
    b_.SetInsertPoint(join);
    llvm::PHINode *phi = b_.CreatePHI(results[0]->getType(), 2);
    for (int i = 0; i < 2; i++)
        phi->addIncoming(results[i], arms[i]);
    return phi;
}

}  // namespace Pipe::codegen
