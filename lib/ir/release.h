#pragma once
// Deleting trees of nodes that may be deeper than the stack allows recursion.

#include <vector>

namespace Pipe::ir {

/// Deletes `node`, whose destructor comes back here for its children. Below some hundred levels the
/// rest of a chain waits until those above are gone.
template <typename Node> void delete_tree(const Node *node) noexcept {
    constexpr int max_depth = 200;
    struct Progress {
        int depth = 0;
        std::vector<const Node *> waiting;
    };
    thread_local Progress *progress = nullptr;  // of the delete_tree that is under way, if any
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
