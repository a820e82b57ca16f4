#pragma once
// The parts of an expression graph that are evaluated unconditionally: an arm of an if_then_else is
// evaluated only if it is chosen.

#include <unordered_set>
#include <vector>

namespace Pipe::ir {

/// Calls f on `root` and on what is evaluated unconditionally with it; f returns false to skip
/// operands. `operands_of(node, visit)` calls visit on each operand that is evaluated with the
/// node.
template <typename Node, typename Operands, typename F>
void for_each_computed(Node root, Operands &&operands_of, F &&f) {
    std::vector<Node> pending{root};
    while (!pending.empty()) {
        Node node = pending.back();
        pending.pop_back();
        if (f(node))
            operands_of(node, [&](Node operand) { pending.push_back(operand); });
    }
}

/// The maximal parts that are evaluated whichever of a and b is.
template <typename Node, typename Operands>
std::vector<Node> computed_in_both(Node a, Node b, Operands &&operands_of) {
    std::unordered_set<Node> in_a, in_b;
    std::vector<Node> both;
    for_each_computed(a, operands_of, [&](Node node) { return in_a.insert(node).second; });
    for_each_computed(b, operands_of, [&](Node node) {
        if (!in_b.insert(node).second)
            return false;
        if (in_a.count(node))
            both.push_back(node);
        return !in_a.count(node);
    });
    return both;
}

}  // namespace Pipe::ir
