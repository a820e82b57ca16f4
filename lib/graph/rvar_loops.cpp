#include "graph/rvar_loops.h"

#include <algorithm>

#include "ir/int32.h"
#include "ir/intrinsics.h"
#include "ir/simplify.h"
#include "ir/substitute.h"

namespace Pipe::graph {

using schedules::Transform;

size_t RvarLoops::add(const std::string &name, const Expr &min, const Expr &extent) {
    nodes_.push_back({name, min, ir::simplify(extent), Expr(), Expr()});
    current_[name] = nodes_.size() - 1;
    return nodes_.size() - 1;
}

/// The node of that name, which is now replaced; nothing for a pure loop.
std::optional<size_t> RvarLoops::take(const std::string &name) {
    auto found = current_.find(name);
    if (found == current_.end())
        return std::nullopt;
    size_t node = found->second;
    nodes_[node].is_loop = false;
    current_.erase(found);
    return node;
}

bool RvarLoops::apply(const std::vector<Transform> &transforms, std::string *why) {
    for (const ReductionVar &r : stage_.rvars)
        add(r.name, r.min, r.extent);
    for (const Transform &t : transforms) {
        using Kind = Transform::Kind;
        if (t.kind == Kind::Fuse) {
            auto inner = take(t.inner), outer = take(t.outer);
            if (inner.has_value() != outer.has_value()) {
                *why = "'" + t.inner + "' and '" + t.outer +
                       "' are fused, but only one of them is an RVar";
                return false;
            }
            if (!inner) {
                pure_transforms_.push_back(t);
                continue;
            }
            size_t fused = add(t.old_name, ir::int32(0),
                               ir::mul(nodes_[*inner].extent, nodes_[*outer].extent));
            steps_.push_back({&t, fused, *outer, *inner});
            continue;
        }
        auto old = take(t.old_name);
        if (!old) {
            pure_transforms_.push_back(t);
        } else if (t.kind == Kind::Rename) {
            size_t now = add(t.outer, nodes_[*old].min, nodes_[*old].extent);
            steps_.push_back({&t, *old, now, now});
        } else {
            split(t, *old);
        }
    }
    return true;
}

void RvarLoops::split(const Transform &t, size_t old) {
    Expr extent = nodes_[old].extent, rounded = ir::add(extent, ir::sub(t.factor, ir::int32(1)));
    size_t outer = add(t.outer, ir::int32(0), ir::div(rounded, t.factor));
    size_t inner = add(t.inner, ir::int32(0), t.factor);
    steps_.push_back({&t, old, outer, inner});
}

const RvarLoops::Node *RvarLoops::loop(const std::string &name) const {
    auto found = current_.find(name);
    return found == current_.end() ? nullptr : &nodes_[found->second];
}

std::optional<std::vector<std::string>> RvarLoops::original_order(std::string *why) const {
    std::vector<std::string> order;
    for (const ReductionVar &r : stage_.rvars)
        order.push_back(r.name);
    for (const Step &s : steps_) {
        auto at = std::find(order.begin(), order.end(), nodes_[s.old].name);
        if (s.t->kind == Transform::Kind::Fuse) {
            at = std::find(order.begin(), order.end(), nodes_[s.inner].name);
            if (at == order.end() || at + 1 == order.end() || at[1] != nodes_[s.outer].name) {
                *why = "loops that are not adjacent are fused, and the order of points matters";
                return std::nullopt;
            }
            at[1] = nodes_[s.old].name;
            order.erase(at);
            continue;
        }
        *at = nodes_[s.outer].name;
        if (s.t->kind == Transform::Kind::Split)
            order.insert(at, nodes_[s.inner].name);
    }
    return order;
}

std::map<std::string, Expr> RvarLoops::find_values(const std::set<std::string> &kept) {
    for (Node &n : nodes_)
        if (n.is_loop)
            n.value = ir::make_variable(Int(32), n.name);
    for (const Step &s : steps_ | std::views::reverse) {
        Node &old = nodes_[s.old], &outer = nodes_[s.outer], &inner = nodes_[s.inner];
        if (s.t->kind == Transform::Kind::Rename) {
            old.value = outer.value;
        } else if (s.t->kind == Transform::Kind::Fuse) {
            inner.value = ir::add(ir::mod(old.value, inner.extent), inner.min);
            outer.value = ir::add(ir::div(old.value, inner.extent), outer.min);
        } else {
            undo_split(s, kept);
        }
    }
    std::map<std::string, Expr> values;
    for (size_t i = 0; i < stage_.rvars.size(); i++)
        values[stage_.rvars[i].name] = nodes_[i].value;
    return values;
}

void RvarLoops::undo_split(const Step &s, const std::set<std::string> &kept) {
    Node &old = nodes_[s.old];
    const Expr offset = ir::add(ir::mul(nodes_[s.outer].value, s.t->factor), nodes_[s.inner].value);
    int64_t extent = 0, factor = 0;
    const bool divides = ir::as_const_int(old.extent, &extent) &&
                         ir::as_const_int(s.t->factor, &factor) && extent % factor == 0;
    old.value = ir::add(offset, old.min);
    if (divides)
        return;
    old.guard = ir::make_binary(ir::Op::LT, offset, old.extent);
    if (ir::uses_any_var(offset, kept))
        old.guard = ir::make_binary(ir::Op::And, ir::make_binary(ir::Op::LE, ir::int32(0), offset),
                                    old.guard);
    // The guard implies this; bounds inference need not prove it.
    const Expr last = ir::sub(ir::add(old.min, old.extent), ir::int32(1));
    old.value = ir::make_call(Int(32), ir::intrinsic::promise_clamped, {old.value, old.min, last},
                              ir::CallKind::Intrinsic);
}

}  // namespace Pipe::graph
