#pragma once
// Expressions of schedules (factors, conditions) as JSON.

#include <nlohmann/json_fwd.hpp>

#include <pipe/expr.h>

namespace Pipe::driver {

using Json = nlohmann::ordered_json;

/// An int32 constant is a number; others are {"int": "5", "type": "uint8"}, {"float": "0x1.8p+0", ..},
/// {"param": "n", ..}, {"size": "photo.extent.0", ..}; operations are {"op": "+", "args": [..], ..} and
/// {"call": "abs", ..}. InternalError for what a schedule cannot contain (elements of Funcs).
Json expr_to_json(const Expr &e);
/// CompileError if the JSON is none of these.
Expr expr_from_json(const Json &json);

}  // namespace Pipe::driver
