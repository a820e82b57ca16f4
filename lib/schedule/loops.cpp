#include "schedule/loops.h"

#include <algorithm>

#include "ir/expr_node.h"

namespace Pipe::schedules {
namespace {

class Replayer {
  public:
    explicit Replayer(const std::vector<Dim> &initial) {
        for (const Dim &d : initial)
            result_.loops.push_back({d.name, d.is_reduction, {d.name}});
    }

    Replay run(const std::vector<Transform> &transforms) {
        for (const Transform &t : transforms) {
            switch (t.kind) {
            case Transform::Kind::Split:
                split(t);
                break;
            case Transform::Kind::Fuse:
                fuse(t);
                break;
            case Transform::Kind::Rename:
                rename(t);
                break;
            }
            if (!result_.error.empty())
                break;
        }
        return std::move(result_);
    }

  private:
    Replay result_;

    auto find(const std::string &name) {
        auto &loops = result_.loops;
        auto found =
            std::find_if(loops.begin(), loops.end(), [&](const auto &l) { return l.name == name; });
        if (found == loops.end())
            result_.error = "there is no loop '" + name + "'";
        return found;
    }

    void split(const Transform &t) {
        auto old = find(t.old_name);
        if (old == result_.loops.end())
            return;
        int64_t factor = 1;
        if (!t.factor.defined() || (ir::as_const_int(t.factor, &factor) && factor < 1)) {
            result_.error = "the factor of the split of '" + t.old_name + "' is below 1";
            return;
        }
        LoopOrigin inner = *old;
        inner.name = t.inner;
        old->name = t.outer;
        result_.loops.insert(old, inner);
    }

    void fuse(const Transform &t) {
        auto inner = find(t.inner);
        if (inner == result_.loops.end())
            return;
        auto outer = find(t.outer);
        if (outer == result_.loops.end())
            return;
        if (inner->is_reduction && outer->is_reduction && outer - inner != 1) {
            auto between = [](const LoopOrigin &l) { return l.is_reduction; };
            bool ordered = outer > inner && std::none_of(inner + 1, outer, between);
            result_.keeps_order &= ordered;
        }
        outer->name = t.old_name;
        outer->is_reduction |= inner->is_reduction;
        outer->roots.insert(outer->roots.begin(), inner->roots.begin(), inner->roots.end());
        result_.loops.erase(inner);
    }

    void rename(const Transform &t) {
        auto old = find(t.old_name);
        if (old != result_.loops.end())
            old->name = t.outer;
    }
};

}  // namespace

const LoopOrigin *Replay::find(const std::string &name) const {
    for (const LoopOrigin &l : loops)
        if (l.name == name)
            return &l;
    return nullptr;
}

Replay replay(const std::vector<Dim> &initial, const std::vector<Transform> &transforms) {
    return Replayer(initial).run(transforms);
}

}  // namespace Pipe::schedules
