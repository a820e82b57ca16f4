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

}  // namespace

void register_extern(const detail::ExternFunction &function) {
    Table &all = table();
    std::lock_guard lock(all.mutex);
    auto [place, added] = all.functions.try_emplace(function.name, function);
    detail::ExternFunction &known = place->second;
    if (added) {
        known.name = place->first.c_str();
        return;
    }
    bool same_types = known.result == function.result && known.parameters == function.parameters;
    bool same_place = !known.address || !function.address || known.address == function.address;
    if (!same_types || !same_place)
        throw CompileError("The C function '" + std::string(function.name) +
                           "' is declared twice for expressions, with different types or as "
                           "different functions of one name. Rename one of them.");
    if (!known.address)
        known.address = function.address;
}

std::optional<detail::ExternFunction> find_extern(const std::string &name) {
    Table &all = table();
    std::lock_guard lock(all.mutex);
    auto found = all.functions.find(name);
    if (found == all.functions.end())
        return {};
    if (!found->second.address)
        found->second.address = dlsym(RTLD_DEFAULT, name.c_str());
    return found->second;
}

void *extern_address(const std::string &name) {
    auto function = find_extern(name);
    return function ? function->address : dlsym(RTLD_DEFAULT, name.c_str());
}

}  // namespace Pipe::ir
