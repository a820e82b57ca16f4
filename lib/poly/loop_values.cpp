#include "poly/loop_values.h"

#include <algorithm>

namespace Pipe::poly {

using graph::ReductionVar;
using graph::Stage;
using schedules::Transform;

LoopValues::LoopValues(const Stage &stage, const std::vector<Transform> &transforms) {
    for (const ReductionVar &r : stage.rvars)
        values_[r.name] = {ir::sub(ir::make_variable(Int(32), r.name), r.min)};
    for (const Transform &t : transforms) {
        if (t.kind == Transform::Kind::Rename)
            move(t.old_name, t.outer);
        else if (t.kind == Transform::Kind::Fuse)
            fuse(t);
        else
            split(t);
    }
}

LoopValue LoopValues::operator[](const std::string &loop) const {
    auto found = values_.find(loop);
    return found == values_.end() ? LoopValue(std::vector<Expr>()) : found->second;
}

LoopValue LoopValues::take(const std::string &name) {
    LoopValue value = (*this)[name];
    values_.erase(name);
    return value;
}

void LoopValues::move(const std::string &from, const std::string &to) {
    if (LoopValue value = take(from); !value || !value->empty())
        values_[to] = value;
}

void LoopValues::fuse(const Transform &t) {
    LoopValue inner = take(t.inner), outer = take(t.outer);
    if (!inner || !outer) {
        values_[t.old_name] = std::nullopt;
        return;
    }
    outer->insert(outer->end(), inner->begin(), inner->end());
    if (!outer->empty())
        values_[t.old_name] = outer;
}

void LoopValues::split(const Transform &t) {
    LoopValue old = take(t.old_name);
    if (old && old->empty())
        return;
    bool simple = old && old->size() == 1;
    values_[t.outer] = simple ? LoopValue({ir::div(old->front(), t.factor)}) : std::nullopt;
    values_[t.inner] = simple ? LoopValue({ir::mod(old->front(), t.factor)}) : std::nullopt;
}

/// Returns false if the order differs from that of the loops before. Loops that result from pure
/// loops only are pure.
static bool undo(const Transform &t, std::vector<std::string> &loops) {
    const std::string &made = t.kind == Transform::Kind::Fuse    ? t.old_name
                              : t.kind == Transform::Kind::Split ? t.inner
                                                                 : t.outer;
    auto at = std::find(loops.begin(), loops.end(), made);
    if (at == loops.end())
        return true;
    if (t.kind == Transform::Kind::Fuse) {
        *at = t.inner;
        loops.insert(at + 1, t.outer);
        return true;
    }
    if (t.kind == Transform::Kind::Split) {
        if (at + 1 == loops.end() || *(at + 1) != t.outer)
            return false;
        loops.erase(at + 1);
        at = std::find(loops.begin(), loops.end(), made);
    }
    *at = t.old_name;
    return true;
}

LoopOrder::LoopOrder(const schedules::StageSchedule &s) : transforms(s.transforms) {
    for (const schedules::Dim &d : s.dims)
        if (d.is_reduction)
            loops.push_back(d.name);
    while (!transforms.empty() && undo(transforms.back(), loops))
        transforms.pop_back();
}

}  // namespace Pipe::poly
