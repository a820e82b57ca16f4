#include "reference/formula.h"

#include <algorithm>

#include <cstdio>

#include <fmt/format.h>

#include "ir/extern_functions.h"
#include "ir/intrinsics.h"

namespace Pipe::reference {

using ir::Op;

Formula::Formula(const std::vector<Expr> &roots, const std::vector<std::string> &locals,
                 const std::map<std::string, Value> &globals)
    : keep_alive_(roots), local_names_(locals), globals_(globals) {
    Scope scope;
    for (const Expr &root : roots)
        roots_.push_back(root.defined() ? add(root, scope, {}) : -1);
}

/// Numbers the nodes of e, each once per scope: inside a let, its name has a different meaning.
int Formula::add(const Expr &e, Scope &scope, const std::map<std::string, int> &lets) {
    if (auto found = scope.find(e.get()); found != scope.end())
        return found->second;
    auto remember = [&](int index) { return scope.emplace(e.get(), index).first->second; };
    if (e->op == Op::Let) {
        std::map<std::string, int> inner = lets;
        inner[e->name] = add(e->value(), scope, lets);
        Scope fresh;
        return remember(add(e->body(), fresh, inner));
    }
    if (e->op == Op::Variable) {
        if (auto let = lets.find(e->name); let != lets.end())
            return remember(let->second);
    }
    Node node;
    node.expr = e.get();
    for (const Expr &arg : e->args) {
        node.args.push_back(add(arg, scope, lets));
        node.types.push_back(arg.type());
    }
    resolve(node);
    nodes_.push_back(std::move(node));
    return remember(static_cast<int>(nodes_.size()) - 1);
}

namespace {

bool is_effect(const ir::ExprNode &e) {
    return e.op == Op::Call && e.call_kind == ir::CallKind::Extern &&
           (e.name == ir::extern_function::print || e.name == ir::extern_function::require);
}

}  // namespace

void Formula::resolve(Node &node) {
    const ir::ExprNode &e = *node.expr;
    auto constant = [&](Value value) {
        node.kind = Kind::Constant;
        node.value = value;
        node.computed_at = always;
    };
    if (e.op == Op::IntImm) {
        constant(Value::of_int(e.int_value));
    } else if (e.op == Op::UIntImm) {
        constant(Value::of_int(static_cast<int64_t>(e.uint_value)));
    } else if (e.op == Op::FloatImm) {
        constant(Value::of_float(e.float_value));
    } else if (e.op == Op::StringImm) {
        constant(Value::of_int(0));  // effect() reads the text
    } else if (ir::is_intrinsic(e, ir::intrinsic::user_context)) {
        constant(Value::of_int(0));
    } else if (e.op == Op::Variable) {
        auto local = std::find(local_names_.begin(), local_names_.end(), e.name);
        auto global = globals_.find(e.name);
        if (local == local_names_.end() && global == globals_.end())
            throw InternalError("reference: variable \"" + e.name + "\" has no value");
        if (local == local_names_.end())
            return constant(global->second);
        node.kind = Kind::Local;
        node.local = static_cast<int>(local - local_names_.begin());
    } else if (ir::is_choice(e)) {
        node.kind = Kind::Choice;
    } else if (is_effect(e)) {
        node.kind = Kind::Effect;
    } else if (ir::is_binary(e.op)) {
        node.kind = Kind::Binary;
    }
}

void Formula::at(const std::vector<int64_t> &locals, Source &source) {
    point_++;
    locals_ = locals;
    source_ = &source;
}

Value Formula::value(size_t root) {
    const int index = roots_.at(root);
    if (index < 0)
        throw InternalError("reference: an undefined expression has no value");
    return value_of(index);
}

Value Formula::value_of(int index) {
    Node &node = nodes_[static_cast<size_t>(index)];
    if (node.computed_at >= point_)
        return node.value;
    const Value value = compute(node);
    node.value = value;
    node.computed_at = point_;
    return value;
}

Value Formula::checked(Value value) {
    if (arithmetic_.undefined)
        source_->undefined(std::exchange(arithmetic_.undefined, nullptr));
    return value;
}

namespace {

std::string to_text(Type type, Value value) {
    if (type.is_float())
        return fmt::format("{:g}", value.f);
    return type.is_int() ? std::to_string(value.i) : std::to_string(static_cast<uint64_t>(value.i));
}

bool keeps_promise(Type type, const std::vector<Value> &args) {
    Arithmetic arithmetic;
    return arithmetic.binary(Op::GE, type, args[0], args[1]).i &&
           arithmetic.binary(Op::LE, type, args[0], args[2]).i;
}

}  // namespace

/// Implements print and require: (condition, value, ...).
Value Formula::effect(const Node &node) {
    const ir::ExprNode &e = *node.expr;
    std::string text;
    for (size_t i = 0; i < node.args.size(); i++) {
        Value value = value_of(node.args[i]);
        if (!value.known())
            return value;
        const Expr &arg = e.args[i];
        if (i > 0)
            text += (i > 1 ? " " : "") +
                    (arg->op == Op::StringImm ? arg->name : to_text(node.types[i], value));
    }
    bool condition = value_of(node.args[0]).i != 0;
    if (e.name == ir::extern_function::require && !condition)
        source_->fail(text);
    if (e.name == ir::extern_function::print && condition)
        std::printf("%s\n", text.c_str());
    return value_of(node.args[1]);
}

Value Formula::call_users_function(const ir::ExprNode &e, const std::vector<Value> &args) {
    auto function = ir::find_extern(e.name);
    if (!function || !function->address)
        throw CompileError("The C function '" + e.name + "' was not found in this process.");
    ir::refuse_pipeline(*function);
    std::vector<uint64_t> bits(args.size());
    std::vector<const void *> addresses;
    for (size_t i = 0; i < args.size(); i++) {
        store(function->parameters[i], &bits[i], args[i]);
        addresses.push_back(&bits[i]);
    }
    uint64_t result = 0;
    function->invoke(function->address, addresses.data(), &result);
    return load(function->result, &result);
}

Value Formula::compute(Node &node) {
    switch (node.kind) {
    case Kind::Constant:
        return node.value;
    case Kind::Local:
        return Value::of_int(locals_[static_cast<size_t>(node.local)]);
    case Kind::Choice: {
        const Value condition = value_of(node.args[0]);
        return condition.known() ? value_of(node.args[condition.i ? 1 : 2]) : condition;
    }
    case Kind::Effect:
        return effect(node);
    case Kind::Binary:
        return binary(node);
    case Kind::Other:
        break;
    }
    return other(node);
}

Value Formula::binary(const Node &node) {
    const Value a = value_of(node.args[0]), b = value_of(node.args[1]);
    if (a.known() && b.known())
        return checked(arithmetic_.binary(node.expr->op, node.types[0], a, b));
    return a.state == Value::State::Unknown || b.known() ? a : b;
}

Value Formula::other(Node &node) {
    const ir::ExprNode &e = *node.expr;
    std::vector<Value> &args = node.values;
    args.clear();
    for (int arg : node.args)
        args.push_back(value_of(arg));
    for (const Value &arg : args) {
        if (arg.state == Value::State::Unknown)
            return arg;
    }
    for (const Value &arg : args) {
        if (arg.state == Value::State::Undef)
            return arg;
    }
    switch (e.op) {
    case Op::Cast:
        return checked(arithmetic_.cast(e.type, node.types[0], args[0]));
    case Op::Reinterpret:
        return reinterpret(e.type, node.types[0], args[0]);
    case Op::Not:
        return Value::of_int(!args[0].i);
    case Op::Call:
        return call(node);
    default:
        throw InternalError("reference: a Graph holds no vectors, loads or strings");
    }
}

Value Formula::call(Node &node) {
    const ir::ExprNode &e = *node.expr;
    const std::vector<Value> &args = node.values;
    std::optional<Value> result;
    switch (e.call_kind) {
    case ir::CallKind::Func:
    case ir::CallKind::Image: {
        node.coordinates.clear();
        for (const Value &arg : args)
            node.coordinates.push_back(arg.i);
        return e.call_kind == ir::CallKind::Image
                   ? source_->image(e.name, node.coordinates)
                   : source_->func(FuncId(e.int_value), e.index, node.coordinates);
    }
    case ir::CallKind::Intrinsic:
        if (e.name == ir::intrinsic::undef) {
            result.emplace();
            result->state = Value::State::Undef;
        } else {
            if (e.name == ir::intrinsic::promise_clamped && !keeps_promise(node.types[0], args))
                source_->fail("a promise of unsafe_promise_clamped is broken: " +
                              to_text(node.types[0], args[0]) + " is not between " +
                              to_text(node.types[1], args[1]) + " and " +
                              to_text(node.types[2], args[2]));
            result = arithmetic_.intrinsic(e.name, e.type, node.types, args);
        }
        break;
    case ir::CallKind::PureExtern:
    case ir::CallKind::Extern:
        result = e.index == ir::users_function ? call_users_function(e, args)
                                               : pure_extern(e.name, args);
        break;
    }
    if (!result) {
        throw CompileError("The reference evaluator does not know the function \"" + e.name +
                           "\" of " + std::to_string(args.size()) + " arguments.");
    }
    return checked(*result);
}

}  // namespace Pipe::reference
