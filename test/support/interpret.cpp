#include "support/interpret.h"

#include "ir/intrinsics.h"
#include "ir/print.h"

namespace Pipe::testing {

using namespace ir;
using reference::Value;

namespace {

void check(bool condition, const Expr &e, const char *what) {
    if (!condition)
        throw BadProgram(std::string(what) + ": " + ir::to_string(e));
}

/// A scalar counts as the same value in every lane.
const Value &lane(const Lanes &value, size_t i) {
    return value[value.size() == 1 ? 0 : i];
}

/// What an allocation holds before anything is stored.
constexpr unsigned char garbage = 0xa5;

}  // namespace

void Interpreter::bind(const std::string &name, Type type, void *address, int64_t first,
                       int64_t count) {
    auto memory = std::make_shared<Memory>();
    memory->type = type;
    memory->address = static_cast<unsigned char *>(address);
    memory->first = first;
    memory->count = count;
    memory_.push(name, std::move(memory));
}

void Interpreter::set_dimension(const std::string &buffer, int d, int32_t min, int32_t extent,
                                int64_t stride) {
    std::string suffix = "." + std::to_string(d);
    set(buffer + ".min" + suffix, Int(32), int64_t{min});
    set(buffer + ".extent" + suffix, Int(32), int64_t{extent});
    set(buffer + ".stride" + suffix, Int(64), stride);
}

void Interpreter::set(const std::string &name, Type type, int64_t value) {
    variables_.push(name, {type, {Value::of_int(value)}});
}

void Interpreter::set(const std::string &name, Type type, double value) {
    variables_.push(name, {type, {Value::of_float(value)}});
}

void Interpreter::execute(const Stmt &s) {
    if (!s.defined())
        return;
    switch (s->op) {
    case StmtOp::Let: {
        Lanes value = evaluate(s->exprs[0]);
        ScopedBinding binding(variables_, s->name, {s->exprs[0].type(), std::move(value)});
        return execute(s->stmts[0]);
    }
    case StmtOp::Assert:
        if (integer(s->exprs[0]) == 0)
            fail(s);
        return;
    case StmtOp::For:
        return execute_loop(s);
    case StmtOp::Store:
        return execute_store(s);
    case StmtOp::Allocate:
        return execute_allocate(s);
    case StmtOp::Free:
        return execute_free(s);
    case StmtOp::Produce:
    case StmtOp::Consume:
    case StmtOp::Exclusive:  // there is only one thread here
        return execute(s->stmts[0]);
    case StmtOp::If:
        return execute(s->stmts[integer(s->exprs[0]) != 0 ? 0 : 1]);
    case StmtOp::Block:
        for (const Stmt &child : s->stmts)
            execute(child);
        return;
    case StmtOp::Evaluate:
        evaluate(s->exprs[0]);
        return;
    case StmtOp::Prefetch:
        return;
    case StmtOp::Fork:
    case StmtOp::Acquire:
    case StmtOp::Release:
        throw BadProgram("no tasks here: " + ir::to_string(s));
    case StmtOp::Memoize:
        throw BadProgram("no cache here: " + ir::to_string(s));
    case StmtOp::Provide:
    case StmtOp::Realize:
        throw BadProgram("not flattened: " + ir::to_string(s));
    case StmtOp::Launch:
    case StmtOp::Barrier:
    case StmtOp::Use:
        throw BadProgram("no device here: " + ir::to_string(s));
    }
}

void Interpreter::execute_loop(const Stmt &s) {
    Type type = s->exprs[0].type();
    int64_t min = integer(s->exprs[0]), extent = integer(s->exprs[1]);
    for (int64_t i = min; i < min + extent; i++) {
        ScopedBinding binding(variables_, s->name, {type, {Value::of_int(i)}});
        execute(s->stmts[0]);
    }
}

void Interpreter::execute_store(const Stmt &s) {
    Lanes value = evaluate(s->exprs[0]), index = evaluate(s->exprs[1]);
    Lanes predicate{Value::of_int(1)};
    if (s->exprs[2].defined())
        predicate = evaluate(s->exprs[2]);
    check(value.size() == index.size(), s->exprs[0], "lanes of a store");
    check(predicate.size() == 1 || predicate.size() == index.size(), s->exprs[1],
          "lanes of a mask");
    Type type = s->exprs[0].type().element_of();
    for (size_t i = 0; i < index.size(); i++)  // in lane order: of equal indices the last lane wins
        if (lane(predicate, i).i)
            reference::store(type, element(s->name, type, index[i].i, "store to"), value[i]);
}

void Interpreter::execute_allocate(const Stmt &s) {
    auto memory = std::make_shared<Memory>();
    memory->type = s->types[0];
    memory->count = 1;
    for (const Expr &size : s->exprs)
        memory->count *= integer(size);
    if (memory->count < 0)
        throw BadProgram("allocation of negative size: " + s->name);
    memory->own.assign(static_cast<size_t>(memory->count * s->types[0].bytes()), garbage);
    memory->address = memory->own.data();
    ScopedBinding binding(memory_, s->name, memory);
    execute(s->stmts[0]);
}

/// Whoever uses it now is outside of it.
void Interpreter::execute_free(const Stmt &s) {
    Memory &memory = **memory_.find(s->name);
    if (memory.freed)
        throw BadProgram("freed twice: " + s->name);
    memory.freed = true;
    memory.count = 0;
}

void Interpreter::fail(const Stmt &assertion) {
    std::string message;
    for (size_t i = 1; i < assertion->exprs.size(); i++) {
        const Expr &part = assertion->exprs[i];
        if (part->op == Op::StringImm)
            message += part->name;
        else if (part.type().is_float())
            message += std::to_string(evaluate(part)[0].f);
        else
            message += std::to_string(evaluate(part)[0].i);
    }
    throw AssertFailed(assertion->code, message);
}

int64_t Interpreter::integer(const Expr &e) {
    check(e.type().is_scalar() && e.type().is_int_or_uint(), e, "not a scalar integer");
    return evaluate(e)[0].i;
}

Lanes Interpreter::evaluate(const Expr &e) {
    evaluated[e->op]++;
    Lanes result = compute(e);
    check(result.size() == static_cast<size_t>(e.type().lanes()), e, "number of lanes");
    return result;
}

Lanes Interpreter::compute(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
        return {Value::of_int(e->int_value)};
    case Op::FloatImm:
        return {Value::of_float(e->float_value)};
    case Op::StringImm:
        return {Value::of_int(reinterpret_cast<intptr_t>(e->name.c_str()))};
    case Op::Variable: {
        auto *value = variables_.find(e->name);
        check(value, e, "unbound variable");
        check(value->first == e.type(), e,
              "variable used with another type than it was bound with");
        return value->second;
    }
    case Op::Cast:
    case Op::Reinterpret: {
        Lanes value = evaluate(e->value());
        Type to = e.type().element_of(), from = e->value().type().element_of();
        check(value.size() == static_cast<size_t>(e.type().lanes()), e, "lanes of a cast");
        for (Value &v : value)
            v = e->op == Op::Cast ? arithmetic_.cast(to, from, v)
                                  : reference::reinterpret(to, from, v);
        return value;
    }
    case Op::Not: {
        Lanes value = evaluate(e->value());
        for (Value &v : value)
            v = Value::of_int(v.i == 0);
        return value;
    }
    case Op::Select:
        return select(e);
    case Op::Call:
        return call(e);
    case Op::Load:
        return load(e);
    case Op::Ramp:
        return ramp(e);
    case Op::Broadcast:
        return Lanes(e.type().lanes(), evaluate(e->value()).at(0));
    case Op::Let:
        return let(e);
    case Op::VectorReduce:
        return reduce(e);
    case Op::Interleave: {
        std::vector<Lanes> values;
        for (const Expr &arg : e->args)
            values.push_back(evaluate(arg));
        Lanes result;
        for (size_t i = 0; i < values[0].size(); i++)
            for (const Lanes &v : values)
                result.push_back(v[i]);
        return result;
    }
    case Op::Slice: {
        Lanes from = evaluate(e->value()), result;
        for (int i = 0; i < e.type().lanes(); i++)
            result.push_back(from.at(static_cast<size_t>(e->index + i * e->int_value)));
        return result;
    }
    default:
        return binary(e);
    }
}

Lanes Interpreter::binary(const Expr &e) {
    Lanes a = evaluate(e->a()), b = evaluate(e->b());
    Type type = e->a().type().element_of();
    check(e->a().type() == e->b().type(), e, "operands of different types");
    for (size_t i = 0; i < a.size(); i++)
        a[i] = arithmetic_.binary(e->op, type, a[i], b[i]);
    return a;
}

Lanes Interpreter::select(const Expr &e) {
    Lanes condition = evaluate(e->condition()), t = evaluate(e->if_true()),
          f = evaluate(e->if_false());
    for (size_t i = 0; i < t.size(); i++)
        if (!lane(condition, i).i)
            t[i] = f[i];
    return t;
}

Lanes Interpreter::call(const Expr &e) {
    if (e->name == intrinsic::if_then_else && e.type().is_scalar())
        return evaluate(e->args[integer(e->args[0]) != 0 ? 1 : 2]);
    std::vector<Lanes> args;
    for (const Expr &arg : e->args)
        args.push_back(evaluate(arg));
    Lanes result;
    for (size_t i = 0; i < static_cast<size_t>(e.type().lanes()); i++) {
        std::vector<Value> of_lane;
        for (const Lanes &arg : args)
            of_lane.push_back(lane(arg, i));
        result.push_back(call_lane(e, of_lane));
    }
    return result;
}

Value Interpreter::call_lane(const Expr &e, const std::vector<Value> &args) {
    if (e->name == intrinsic::if_then_else)
        return args[args[0].i ? 1 : 2];
    std::optional<Value> result;
    if (e->call_kind == CallKind::Intrinsic) {
        std::vector<Type> types;
        for (const Expr &arg : e->args)
            types.push_back(arg.type().element_of());
        result = arithmetic_.intrinsic(e->name, e.type().element_of(), types, args);
    } else if (e->call_kind == CallKind::PureExtern) {
        result = reference::pure_extern(e->name, args);
    } else if (e->call_kind == CallKind::Extern && on_extern) {
        result = on_extern(e->name, args);
    }
    check(result.has_value(), e, "call of an unknown function");
    return *result;
}

Lanes Interpreter::load(const Expr &e) {
    Lanes index = evaluate(e->element()), predicate{Value::of_int(1)};
    if (e->predicate().defined())
        predicate = evaluate(e->predicate());
    Type type = e.type().element_of();
    Lanes result(index.size(), type.is_float() ? Value::of_float(0) : Value::of_int(0));
    for (size_t i = 0; i < index.size(); i++)
        if (lane(predicate, i).i)
            result[i] = reference::load(type, element(e->name, type, index[i].i, "load from"));
    return result;
}

Lanes Interpreter::ramp(const Expr &e) {
    Type type = e.type().element_of();
    Lanes result{evaluate(e->base()).at(0)};
    Value stride = evaluate(e->stride()).at(0);
    while (result.size() < static_cast<size_t>(e.type().lanes()))
        result.push_back(arithmetic_.binary(Op::Add, type, result.back(), stride));
    return result;
}

Lanes Interpreter::let(const Expr &e) {
    ScopedBinding binding(variables_, e->name, {e->value().type(), evaluate(e->value())});
    return evaluate(e->body());
}

Lanes Interpreter::reduce(const Expr &e) {
    Lanes value = evaluate(e->value()), result;
    Type type = e.type().element_of();
    size_t group = value.size() / e.type().lanes();
    for (size_t i = 0; i < value.size(); i++) {
        if (i % group == 0)
            result.push_back(value[i]);
        else
            result.back() = arithmetic_.binary(e->reduce_op, type, result.back(), value[i]);
    }
    return result;
}

unsigned char *Interpreter::element(const std::string &buffer, Type type, int64_t index,
                                    const char *what) {
    auto *found = memory_.find(buffer);
    if (!found)
        throw BadProgram(std::string(what) + " unknown buffer " + buffer);
    const Memory &memory = **found;
    if (memory.type != type)
        throw BadProgram(std::string(what) + " " + buffer + " of " + Pipe::to_string(memory.type) +
                         " as " + Pipe::to_string(type));
    if (index < memory.first || index >= memory.first + memory.count)
        throw BadProgram(std::string(what) + " " + buffer + "[" + std::to_string(index) +
                         "], which has only [" + std::to_string(memory.first) + ", " +
                         std::to_string(memory.first + memory.count) + ")");
    return memory.address + index * type.bytes();
}

}  // namespace Pipe::testing
