// How Funcs are stored, and which elements are computed.
#include <algorithm>

#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

/// Promises the range of a dimension of an output.
void Scheduler::bound_dims(int i) {
    Source &s = source(i);
    if (!uses_of(i).empty() || s.rounding > 1 || !c_.chance(12))
        return;
    auto output = static_cast<size_t>(std::find(a_.outputs.begin(), a_.outputs.end(), i) -
                                      a_.outputs.begin());
    auto d = static_cast<size_t>(c_.below(s.dimensions));
    Interval range = sizes_[output][d];
    if (d < s.touched.size())
        range.include(s.touched[d]);
    s.func.bound(Var(s.vars[d]), range.low, range.extent());
    say(s.name + ".bound(" + s.vars[d] + ", " + std::to_string(range.low) + ", " +
        std::to_string(range.extent()) + ");");
    info_.bound_sizes = true;
    // What is promised must stay true: no tail strategy may ask for a larger output there.
    for (StagePlan &stage : plan(i).stages) {
        for (Loop &loop : stage.loops) {
            if (loop.dim == static_cast<int>(d))
                loop.extent = range.extent();
        }
    }
}

/// Where and how the elements of a computed Func lie, and how many are computed.
void Scheduler::memory(int i) {
    Source &s = source(i);
    auto d = static_cast<size_t>(c_.below(s.dimensions));
    std::string var = s.vars[d];
    int n = c_.of<int>({2, 8, 3, 16, 5});
    auto tell = [&](const std::string &text) { say(s.name + "." + text + ";"); };
    std::string number = std::to_string(n);
    std::vector<Slack> &slack = info_.slack[static_cast<size_t>(i)];
    if (s.dimensions > 1 && c_.chance(10)) {
        s.func.reorder_storage(Var(s.vars[1]), Var(s.vars[0]));
        tell("reorder_storage(" + s.vars[1] + ", " + s.vars[0] + ")");
    }
    if (in_kernel(i))
        return gpu_memory(i);
    int kind = c_.below(18);
    if (s.exact && (kind == 2 || kind == 3))
        return;
    if (mode_ == Mode::GPU && (kind == 5 || kind == 6))
        return;  // these want vectors
    // A stage's range is the next one's with what that touches, made a multiple again.
    int more = (n - 1) * static_cast<int>(s.stages.size());
    switch (kind) {
    case 1:
        s.func.align_storage(Var(var), n);
        return tell("align_storage(" + var + ", " + number + ")");
    case 2:
        s.func.align_extent(Var(var), n);
        slack[d].above += more;
        return tell("align_extent(" + var + ", " + number + ")");
    case 3: {
        int remainder = c_.below(n);
        s.func.align_bounds(Var(var), n, remainder);
        slack[d].below += more;
        slack[d].above += more;
        return tell("align_bounds(" + var + ", " + number + ", " + std::to_string(remainder) + ")");
    }
    case 4:
        s.func.store_in(MemoryType::Heap);
        return tell("store_in(MemoryType::Heap)");
    case 5:
        s.func.store_nontemporal();
        return tell("store_nontemporal()");
    case 6:
        s.func.load_nontemporal();
        return tell("load_nontemporal()");
    case 7:
        return limit_storage(i);
    case 8: {
        if (!plan(i).may_slide || s.is_extern || read_as_whole(i))
            return;
        bool forward = !c_.chance(30);
        s.func.fold_storage(Var(var), 2 * n, forward);
        return tell("fold_storage(" + var + ", " + std::to_string(2 * n) +
                    (forward ? ")" : ", false)"));
    }
    default:
        return;
    }
}

/// A constant size: as much as is needed at most, in all likelihood. Where it is a small one in all
/// dimensions, on the stack.
void Scheduler::limit_storage(int i) {
    Source &s = source(i);
    bool stack = plan(i).path.size() > 1 && s.dimensions <= 2 && c_.chance(60);
    if (s.dimensions > 3)
        return;  // gigabytes
    for (int d = 0; d < s.dimensions; d++) {
        if (!stack && !c_.chance(60))
            continue;
        int extent = stack ? 64 : c_.of<int>({256, 200, 300});
        if (s.dimensions > 2)
            extent = 100;
        s.func.bound_storage(Var(s.vars[static_cast<size_t>(d)]), extent);
        say(s.name + ".bound_storage(" + s.vars[static_cast<size_t>(d)] + ", " +
            std::to_string(extent) + ");");
    }
    if (stack) {
        s.func.store_in(MemoryType::Stack);
        say(s.name + ".store_in(MemoryType::Stack);");
        plan(i).one_level = false;
    }
}

/// Whether all that its values depend on is part of the key by which they are found again: of
/// images, what memoize_tag says.
bool Scheduler::is_keyed(int i) const {
    for (const StageInfo &stage : source(i).stages) {
        for (const Access &access : stage.accesses) {
            bool image = source(access.source).is_image;
            if (!access.tagged && (image || !is_keyed(access.source)))
                return false;
        }
    }
    return true;
}

void Scheduler::memoize(int i) {
    Plan &p = plan(i);
    bool shares = std::any_of(p.stages.begin(), p.stages.end(),
                              [](const StagePlan &stage) { return stage.host >= 0; });
    if (!p.one_level || in_kernel(i) || shares || !is_keyed(i) ||
        !c_.chance(mode_ == Mode::GPU ? 4 : 40))  // kernels cannot read it
        return;
    if (c_.chance(60)) {
        source(i).func.memoize();
        say(source(i).name + ".memoize();");
    } else {
        source(i).func.memoize(EvictionKey(Expr(a_.param) / 2));
        say(source(i).name + ".memoize(EvictionKey(p / 2));");
    }
    p.memoized = p.alone = info_.memoizes = true;
}

}  // namespace Pipe::fuzz
