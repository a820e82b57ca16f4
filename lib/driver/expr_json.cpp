#include "driver/expr_json.h"

#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/expr_node.h"
#include "ir/print.h"

namespace Pipe::driver {
namespace {

using ir::Op;

struct OpName {
    Op op;
    const char *name;
    size_t args;
};
constexpr OpName op_names[] = {
    {Op::Cast, "cast", 1},     {Op::Reinterpret, "reinterpret", 1},
    {Op::Add, "+", 2},         {Op::Sub, "-", 2},
    {Op::Mul, "*", 2},         {Op::Div, "/", 2},
    {Op::Mod, "%", 2},         {Op::Min, "min", 2},
    {Op::Max, "max", 2},       {Op::EQ, "==", 2},
    {Op::NE, "!=", 2},         {Op::LT, "<", 2},
    {Op::LE, "<=", 2},         {Op::GT, ">", 2},
    {Op::GE, ">=", 2},         {Op::And, "&&", 2},
    {Op::Or, "||", 2},         {Op::Not, "!", 1},
    {Op::Select, "select", 3},
};

[[noreturn]] void reject_json(const Json &json) {
    throw CompileError(fmt::format("{} is not an expression.", json.dump()));
}

Type type_from(const Json &json) {
    const std::string name = json.at("type").get<std::string>();
    if (name == "bool")
        return Bool();
    for (auto [prefix, code] :
         {std::pair{"int", TypeCode::Int}, std::pair{"uint", TypeCode::UInt},
          std::pair{"float", TypeCode::Float}, std::pair{"bfloat", TypeCode::BFloat}})
        for (int bits : {8, 16, 32, 64})
            if (name == fmt::format("{}{}", prefix, bits))
                return Type(code, bits);
    reject_json(json);
}

Json with_type(Json json, Type type) {
    json["type"] = to_string(type);
    return json;
}

Expr operation(const Json &json, const std::string &name, const std::vector<Expr> &args) {
    for (const OpName &known : op_names) {
        if (name != known.name || args.size() != known.args)
            continue;
        if (known.op == Op::Cast)
            return ir::make_cast(type_from(json), args[0]);
        if (known.op == Op::Reinterpret)
            return ir::make_reinterpret(type_from(json), args[0]);
        if (known.op == Op::Not)
            return ir::make_not(args[0]);
        if (known.op == Op::Select)
            return ir::make_select(args[0], args[1], args[2]);
        if (args[0].type() == args[1].type())
            return ir::make_binary(known.op, args[0], args[1]);
    }
    reject_json(json);
}

}  // namespace

Json expr_to_json(const Expr &e) {
    if (e->op == Op::IntImm && e.type() == Int(32))
        return e->int_value;
    Json json = Json::object();
    switch (e->op) {
    case Op::IntImm:
        return with_type({{"int", std::to_string(e->int_value)}}, e.type());
    case Op::UIntImm:
        return with_type({{"int", std::to_string(e->uint_value)}}, e.type());
    case Op::FloatImm:
        return with_type({{"float", fmt::format("{:a}", e->float_value)}}, e.type());
    case Op::Variable:
        return with_type({{e->is_param ? "param" : "size", e->name}}, e.type());
    case Op::Call:
        if (e->call_kind != ir::CallKind::Intrinsic && e->call_kind != ir::CallKind::PureExtern)
            throw InternalError("a schedule contains " + ir::to_string(e));
        json["call"] = e->name;
        json["extern"] = e->call_kind == ir::CallKind::PureExtern;
        break;
    default:
        for (const OpName &known : op_names)
            if (known.op == e->op)
                json["op"] = known.name;
        if (json.empty())
            throw InternalError("a schedule contains " + ir::to_string(e));
    }
    json["args"] = Json::array();
    for (const Expr &arg : e->args)
        json["args"].push_back(expr_to_json(arg));
    return with_type(std::move(json), e.type());
}

Expr expr_from_json(const Json &json) {
    if (json.is_number_integer() && Int(32).can_represent(json.get<int64_t>()))
        return Expr(json.get<int32_t>());
    if (!json.is_object())
        reject_json(json);
    if (json.contains("int")) {
        const Type type = type_from(json);
        const std::string text = json.at("int").get<std::string>();
        const uint64_t bits = type.is_uint()
                                  ? std::strtoull(text.c_str(), nullptr, 10)
                                  : static_cast<uint64_t>(std::strtoll(text.c_str(), nullptr, 10));
        return ir::make_int(type, static_cast<int64_t>(bits));
    }
    if (json.contains("float"))
        return ir::make_float(type_from(json),
                              std::strtod(json.at("float").get<std::string>().c_str(), nullptr));
    if (json.contains("param"))
        return ir::make_param(type_from(json), json.at("param").get<std::string>());
    if (json.contains("size"))
        return ir::make_variable(type_from(json), json.at("size").get<std::string>());
    std::vector<Expr> args;
    for (const Json &arg : json.at("args"))
        args.push_back(expr_from_json(arg));
    if (json.contains("op"))
        return operation(json, json.at("op").get<std::string>(), args);
    return ir::make_call(type_from(json), json.at("call").get<std::string>(), std::move(args),
                         json.at("extern").get<bool>() ? ir::CallKind::PureExtern
                                                       : ir::CallKind::Intrinsic);
}

}  // namespace Pipe::driver
