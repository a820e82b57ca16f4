#pragma once
// Funcs in the order in which a pipeline can compute them.

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "graph/contents.h"

namespace Pipe::graph {

using EnteredFuncs = std::unordered_set<const FuncContents *>;

/// Calls leave(f) for `output` and all Funcs that it needs, those that a Func needs before it, each once; not for those in
/// `entered`, which gets them. callees_of(f) answers what f needs directly, and is called once for each. Depth first, without
/// recursion: pipelines may be long chains.
template <typename CalleesOf, typename Leave>
void visit_callees_first(const std::shared_ptr<const FuncContents> &output, EnteredFuncs &entered,
                         const CalleesOf &callees_of, const Leave &leave) {
    struct Open {
        std::shared_ptr<const FuncContents> func;
        std::vector<std::shared_ptr<const FuncContents>> callees;
        size_t next = 0;
    };
    std::vector<Open> open;
    auto enter = [&](const std::shared_ptr<const FuncContents> &f) {
        if (entered.insert(f.get()).second)
            open.push_back({f, callees_of(*f)});
    };
    enter(output);
    while (!open.empty()) {
        if (Open &top = open.back(); top.next < top.callees.size()) {
            enter(std::shared_ptr(top.callees[top.next++]));
            continue;
        }
        const std::shared_ptr<const FuncContents> done = std::move(open.back().func);
        open.pop_back();
        leave(done);
    }
}

}  // namespace Pipe::graph
