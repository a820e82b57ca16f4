#include "ir/extern_functions.h"

#include <map>
#include <mutex>

#include <dlfcn.h>

#include <pipe/error.h>

namespace Pipe::ir {
namespace {

struct Table {
    std::mutex mutex;
    std::map<std::string, detail::ExternFunction> functions;
};

Table &table() {
    static auto *all = new Table;  // outlives static Pipelines
    return *all;
}

/// Null if it was never registered.
detail::ExternFunction *look_up(Table &all, const std::string &name) {
    auto found = all.functions.find(name);
    if (found == all.functions.end())
        return nullptr;
    if (!found->second.address)
        found->second.address = dlsym(RTLD_DEFAULT, name.c_str());
    return &found->second;
}

void enter(Table &all, const detail::ExternFunction &function) {
    auto [place, added] = all.functions.try_emplace(function.name, function);
    detail::ExternFunction &known = place->second;
    if (added) {
        known.name = place->first.c_str();
        return;
    }
    bool same_types = known.result == function.result && known.parameters == function.parameters;
    bool same_place = !known.address || !function.address || known.address == function.address;
    if (!same_types || !same_place)
        throw CompileError(std::string(function.pipeline ? "The pipeline '" : "The C function '") +
                           function.name +
                           "' is declared twice for expressions and extern stages, with different "
                           "types or as different functions of one name. Rename one of them.");
    if (!known.address) {
        known.address = function.address;
        known.pipeline = function.pipeline;
    }
}

}  // namespace

void register_extern(const detail::ExternFunction &function) {
    Table &all = table();
    std::lock_guard lock(all.mutex);
    enter(all, function);
}

std::string register_extern_override(detail::ExternFunction function) {
    Table &all = table();
    std::lock_guard lock(all.mutex);
    const std::string own_name = function.name;
    const detail::ExternFunction *known = look_up(all, own_name);
    bool same_types =
        known && known->result == function.result && known->parameters == function.parameters;
    std::string name = own_name;
    if (same_types)  // not a valid C identifier
        for (int i = 1; known && known->address && known->address != function.address; i++) {
            name = own_name + "." + std::to_string(i);
            known = look_up(all, name);
        }
    function.name = name.c_str();
    enter(all, function);
    return name;
}

std::optional<detail::ExternFunction> find_extern(const std::string &name) {
    Table &all = table();
    std::lock_guard lock(all.mutex);
    const detail::ExternFunction *known = look_up(all, name);
    return known ? std::optional(*known) : std::nullopt;
}

void refuse_pipeline(const detail::ExternFunction &function) {
    if (function.pipeline)
        throw CompileError("'" + std::string(function.name) +
                           "', which an expression calls as a C function, was defined as a "
                           "pipeline. Use it with define_extern(), or pass a C function to "
                           "set_jit_externs().");
}

void *extern_address(const std::string &name) {
    auto function = find_extern(name);
    return function ? function->address : dlsym(RTLD_DEFAULT, name.c_str());
}

}  // namespace Pipe::ir
