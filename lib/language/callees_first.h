#pragma once
// Funcs in the order in which a pipeline can compute them.

#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "language/contents.h"

namespace Pipe::language {

using EnteredFuncs = std::unordered_set<const FuncContents *>;

/// Post-order depth-first traversal: calls leave(f) for `output` and every Func that it depends on, callees before callers,
/// each once. Funcs in `entered` are skipped; visited ones are added to it. callees_of(f) returns the direct callees of f, and
/// is called once per Func. Iterative, because pipelines may be chains of thousands of stages.
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

}  // namespace Pipe::language
