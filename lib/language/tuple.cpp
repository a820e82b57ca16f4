#include <pipe/tuple.h>

#include <algorithm>

#include <fmt/format.h>

#include "language/match.h"

namespace Pipe {
namespace {

void require_sizes(size_t a, size_t b, const char *what) {
    if (a != b)
        throw CompileError(fmt::format("select{} cannot take Tuples of {} and {} values: the sizes "
                                       "of {} must be equal. Give each Tuple "
                                       "all its values.",
                                       language::nearby(), a, b, what));
}

/// The values of mux in one type: that of those which are not integer constants.
std::vector<Expr> in_one_type(std::vector<Expr> values) {
    for (const Expr &value : values)
        language::require_defined("mux", value);
    auto has_own_type = [](const Expr &e) {
        return !e.type().is_int() || !ir::as_const_int(e, nullptr);
    };
    auto found = std::find_if(values.rbegin(), values.rend(), has_own_type);
    const Expr typed = found == values.rend() ? values.back() : *found;
    for (Expr &value : values) {
        Expr other = typed;
        language::adapt_constants("mux", value, other);
        if (value.type() != typed.type())
            language::reject("mux", value, typed,
                             "all values must have one type. Cast them to the same type.");
    }
    return values;
}

}  // namespace

Tuple select(const Expr &condition, const Tuple &if_true, const Tuple &if_false) {
    return select(Tuple(std::vector<Expr>(if_true.size(), condition)), if_true, if_false);
}

Tuple select(const Tuple &condition, const Tuple &if_true, const Tuple &if_false) {
    require_sizes(if_true.size(), if_false.size(), "the two arms");
    require_sizes(condition.size(), if_true.size(), "conditions and values");
    std::vector<Expr> values;
    for (size_t i = 0; i < if_true.size(); i++)
        values.push_back(select(condition[i], if_true[i], if_false[i]));
    return Tuple(values);
}

Expr mux(const Expr &id, const std::vector<Expr> &values) {
    language::require_defined("mux", id);
    if (values.empty())
        throw CompileError("mux" + language::nearby() +
                           " has an empty list. Pass values to choose from.");
    if (!id.type().is_int_or_uint() || id.type().is_bool())
        language::reject("mux", id, "the index must be an integer. Cast it, as in cast<int>(x).");
    // The last value needs no comparison: it is chosen by all other indices.
    if (values.size() > 1 && !id.type().can_represent(static_cast<uint64_t>(values.size() - 2)))
        language::reject("mux", id,
                         fmt::format("the list has {} values, more than the index can choose "
                                     "from. Cast the index to a wider type.",
                                     values.size()));
    const std::vector<Expr> choices = in_one_type(values);
    Expr result = choices.back();
    for (size_t i = choices.size() - 1; i-- > 0;)
        result = select(id == static_cast<int>(i), choices[i], result);
    return result;
}

Expr mux(const Expr &id, std::initializer_list<Expr> values) {
    return mux(id, std::vector<Expr>(values));
}
Expr mux(const Expr &id, const Tuple &values) {
    return mux(id, values.as_vector());
}

Tuple mux(const Expr &id, const std::vector<Tuple> &values) {
    if (values.empty())
        throw CompileError("mux" + language::nearby() +
                           " has an empty list. Pass Tuples to choose from.");
    std::vector<Expr> result;
    for (size_t element = 0; element < values[0].size(); element++) {
        std::vector<Expr> choices;
        for (const Tuple &value : values) {
            if (value.size() != values[0].size())
                throw CompileError(
                    fmt::format("mux{} cannot choose from Tuples of {} and {} values: make all of "
                                "them the same size.",
                                language::nearby(), values[0].size(), value.size()));
            choices.push_back(value[element]);
        }
        result.push_back(mux(id, choices));
    }
    return Tuple(result);
}

Tuple mux(const Expr &id, std::initializer_list<Tuple> values) {
    return mux(id, std::vector<Tuple>(values));
}

}  // namespace Pipe
