#include "graph/contents.h"

#include <cctype>

#include <fmt/format.h>

#include "graph/match.h"
#include <pipe/operators.h>

namespace Pipe::graph {
namespace {
std::atomic<uint64_t> epoch{1};
std::atomic<uint64_t> names{0};
}  // namespace

uint64_t modification_epoch() {
    return epoch.load(std::memory_order_acquire);
}

void Identity::touch() {
    version.fetch_add(1, std::memory_order_release);
    epoch.fetch_add(1, std::memory_order_release);
}

std::string FuncContents::description() const {
    std::string place = to_string(where);
    return fmt::format("Func '{}'{}", base_name(name()), place.empty() ? "" : " (" + place + ")");
}

std::string FuncContents::arg_names() const {
    return args.empty() ? "none" : base_names(args);
}

std::string base_names(const std::vector<std::string> &names) {
    std::vector<std::string> result;
    for (const std::string &name : names)
        result.push_back(base_name(name));
    return join(result);
}

std::string fresh_name(const std::string &base) {
    return fmt::format("{}#{}", base, names.fetch_add(1, std::memory_order_relaxed));
}

bool is_fresh(const std::string &name) {
    return name.find('#') != std::string::npos;
}

std::string base_name(const std::string &name) {
    std::string result;
    for (size_t i = 0; i < name.size(); i++) {
        size_t end = i + 1;
        while (name[i] == '#' && end < name.size() &&
               std::isdigit(static_cast<unsigned char>(name[end])))
            end++;
        if (end == i + 1)
            result += name[i];
        i = end - 1;
    }
    return result;
}

std::string at(const SourceLocation &where) {
    return where.known() ? " at " + to_string(where) : "";
}

std::string join(const std::vector<std::string> &list) {
    return fmt::format("{}", fmt::join(list, ", "));
}

std::vector<Expr> coordinates(const std::string &what, const std::vector<Expr> &args,
                              SourceLocation where) {
    std::vector<Expr> result;
    for (size_t i = 0; i < args.size(); i++) {
        if (!args[i].defined())
            throw CompileError(
                fmt::format("Coordinate {} of {}{} is an undefined Expr.", i, what, at(where)));
        Type type = args[i].type();
        if (!type.is_int_or_uint() || type.is_bool())
            throw CompileError(
                fmt::format("Coordinate {} of {}{} is {}, but coordinates are integers. "
                            "Use cast<int>(...).",
                            i, what, at(where), describe(args[i])));
        int64_t value = 0;
        if (!Int(32).can_represent(type) && ir::as_const_int(args[i], &value) &&
            !Int(32).can_represent(value))
            throw CompileError(fmt::format(
                "Coordinate {} of {}{} is {}, but coordinates are 32-bit integers, at most "
                "2147483647. Move the range with set_min(), or take a part of it.",
                i, what, at(where), describe(args[i])));
        result.push_back(cast(Int(32), args[i]));
    }
    return result;
}

}  // namespace Pipe::graph
