#include "support/error_text.h"

#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace Pipe::support {

namespace {

constexpr char begin_mark = '\x0e', end_mark = '\x0f';

/// Parses a number at *at and advances *at past it.
std::optional<int64_t> number(const char **at) {
    char *end = nullptr;
    const int64_t value = std::strtoll(*at, &end, 10);
    if (end == *at)
        return std::nullopt;
    *at = end;
    return value;
}

/// "3", "-1 to 10" and "-1..10" have numbers.
ErrorValue value_of(const std::string &text) {
    ErrorValue value{text, std::nullopt, std::nullopt};
    const char *at = text.c_str();
    const std::optional<int64_t> min = number(&at);
    std::optional<int64_t> max = min;
    for (const std::string_view to : {" to ", ".."})
        if (min && std::string_view(at).starts_with(to)) {
            at += to.size();
            max = number(&at);
            break;
        }
    if (min && max && *at == '\0')
        value.min = min, value.max = max;
    return value;
}

}  // namespace

std::string begin(Field field) {
    return {begin_mark, static_cast<char>(field)};
}

std::string end() {
    return {end_mark};
}

std::string in_parentheses(const SourceLocation &where) {
    return where.known() ? " (" + marked(Field::Place, to_string(where)) + ")" : "";
}

std::string at(const SourceLocation &where) {
    return where.known() ? " at " + marked(Field::Place, to_string(where)) : "";
}

namespace {
thread_local SourceLocation last_passed;
}

void passed(SourceLocation where) {
    if (where.known())
        last_passed = where;
}

std::string nearby() {
    if (!last_passed.known())
        return "";
    return " (at or after " + marked(Field::NearPlace, to_string(last_passed)) + ")";
}

std::string without_marks(const std::string &text) {
    std::string plain = text;
    take_marks(&plain);
    return plain;
}

ErrorDetails take_marks(std::string *text) {
    std::string plain;
    std::vector<std::pair<Field, size_t>> open;  // the field, and where it begins in `plain`
    std::map<Field, std::string> found;
    for (size_t i = 0; i < text->size(); i++) {
        const char c = (*text)[i];
        if (c == begin_mark && i + 1 < text->size()) {
            open.emplace_back(static_cast<Field>((*text)[++i]), plain.size());
        } else if (c == end_mark && !open.empty()) {
            found.emplace(open.back().first, plain.substr(open.back().second));
            open.pop_back();
        } else {
            plain += c;
        }
    }
    *text = std::move(plain);

    ErrorDetails details;
    details.func = found[Field::Func].substr(0, found[Field::Func].find(".update("));
    details.dimension = found[Field::Dimension];
    details.needed = value_of(found[Field::Needed]);
    details.given = value_of(found[Field::Given]);
    const std::string &place = found[found[Field::Place].empty() ? Field::NearPlace : Field::Place];
    if (const size_t colon = place.rfind(':'); colon != std::string::npos) {
        details.file = place.substr(0, colon);
        details.line = static_cast<unsigned>(std::strtoul(place.c_str() + colon + 1, nullptr, 10));
    }
    return details;
}

}  // namespace Pipe::support
