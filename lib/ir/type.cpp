#include <pipe/error.h>
#include <pipe/type.h>

#include <cmath>
#include <limits>
#include <string_view>

#include "ir/expr_node.h"

namespace Pipe {

uint64_t Type::max_uint() const {
    if (is_int())
        return static_cast<uint64_t>(max_int());
    return bits() == 64 ? ~uint64_t{0} : (uint64_t{1} << bits()) - 1;
}

int64_t Type::max_int() const {
    if (is_uint())
        return bits() == 64 ? INT64_MAX : static_cast<int64_t>(max_uint());
    return bits() == 64 ? INT64_MAX : (int64_t{1} << (bits() - 1)) - 1;
}

int64_t Type::min_int() const {
    if (is_uint())
        return 0;
    return bits() == 64 ? INT64_MIN : -(int64_t{1} << (bits() - 1));
}

bool Type::holds(int64_t value) const {
    if (value >= 0)
        return holds(static_cast<uint64_t>(value));
    if (is_float())
        return static_cast<int64_t>(static_cast<double>(value)) == value &&
               holds(static_cast<double>(value));
    return is_int_or_uint() && value >= min_int();
}

bool Type::holds(uint64_t value) const {
    auto same = static_cast<double>(value);
    if (is_float())
        return same < 0x1p64 && static_cast<uint64_t>(same) == value && holds(same);
    return is_int_or_uint() && value <= max_uint();
}

bool Type::holds(double value) const {
    if (is_float())
        return std::isnan(value) || ir::round_to(*this, value) == value;
    bool whole = std::trunc(value) == value;
    if (value < 0)
        return is_int() && whole && value >= -0x1p63 && holds(static_cast<int64_t>(value));
    return whole && value < 0x1p64 && holds(static_cast<uint64_t>(value));
}

bool Type::can_represent(Type other) const {
    if (lanes() != other.lanes() || is_handle() || other.is_handle())
        return *this == other;
    auto digits = [](Type t) {  // the number of bits that every number of the type has
        if (t.is_bfloat())
            return 8;
        if (t.is_float())
            return t.bits() == 16 ? 11 : t.bits() == 32 ? 24 : 53;
        return t.is_int() ? t.bits() - 1 : t.bits();
    };
    if (is_float() && other.is_float())
        return *this == other || bits() > other.bits();
    if (is_float())
        return digits(other) <= digits(*this);
    if (other.is_float() || (is_uint() && other.is_int()))
        return false;
    return digits(other) <= digits(*this);
}

Expr Type::max() const {
    if (is_float())
        return ir::make_float(*this, std::numeric_limits<double>::infinity());
    return ir::make_int(*this, static_cast<int64_t>(max_uint()));
}

Expr Type::min() const {
    if (is_float())
        return ir::make_float(*this, -std::numeric_limits<double>::infinity());
    return ir::make_int(*this, min_int());
}

std::string to_string(Type type) {
    if (!type.defined())
        return "undefined type";
    std::string name;
    switch (type.code()) {
    case Type::Code::Int:
        name = "int";
        break;
    case Type::Code::UInt:
        name = type.bits() == 1 ? "bool" : "uint";
        break;
    case Type::Code::Float:
        name = "float";
        break;
    case Type::Code::BFloat:
        name = "bfloat";
        break;
    case Type::Code::Handle:
        name = "handle";
        break;
    }
    if (!type.is_bool() && !type.is_handle())
        name += std::to_string(type.bits());
    if (type.is_vector())
        name += "x" + std::to_string(type.lanes());
    return name;
}

std::string to_string(const SourceLocation &where) {
    if (!where.known())
        return "";
    std::string_view file = where.file;
    size_t slash = file.rfind('/');
    if (slash != std::string_view::npos)
        file.remove_prefix(slash + 1);
    return std::string(file) + ":" + std::to_string(where.line);
}

}  // namespace Pipe
