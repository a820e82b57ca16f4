#include <pipe/tuple.h>

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
    Expr result = values.back();
    for (size_t i = values.size() - 1; i-- > 0;)
        result = select(id == static_cast<int>(i), values[i], result);
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
