#pragma once
// Deletes trees of nodes that may be deeper than the stack allows for recursion.

#include <vector>

namespace Pipe::ir {

/// Deletes `node`, whose destructor calls this function for its children. Below some hundred
/// levels, deletion of the rest is deferred until the outer calls return.
template <typename Node> void delete_tree(const Node *node) noexcept {
    constexpr int max_depth = 200;
    struct Progress {
        int depth = 0;
        std::vector<const Node *> waiting;
    };
    thread_local Progress *progress = nullptr;  // of the delete_tree in progress, if any
    if (progress) {
        if (progress->depth == max_depth) {
            progress->waiting.push_back(node);
            return;
        }
        progress->depth++;
        delete node;
        progress->depth--;
        return;
    }
    Progress mine;
    progress = &mine;
    delete node;
    while (!mine.waiting.empty()) {
        const Node *next = mine.waiting.back();
        mine.waiting.pop_back();
        delete next;
    }
    progress = nullptr;
}

}  // namespace Pipe::ir
