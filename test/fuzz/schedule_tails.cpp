// Splits, and what their ends ask of the Func's own range.
#include <algorithm>
#include <numeric>

#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

const std::vector<Tail> tails = {
    {TailStrategy::Auto, "Auto"},
    {TailStrategy::GuardWithIf, "GuardWithIf"},
    {TailStrategy::ShiftInwards, "ShiftInwards"},
    {TailStrategy::RoundUp, "RoundUp"},
    {TailStrategy::Predicate, "Predicate"},
    {TailStrategy::PredicateStores, "PredicateStores"},
    {TailStrategy::PredicateLoads, "PredicateLoads"},
    {TailStrategy::ShiftInwardsAndBlend, "ShiftInwardsAndBlend"},
    {TailStrategy::RoundUpAndBlend, "RoundUpAndBlend"},
};

namespace {

bool blends(TailStrategy tail) {
    return tail == TailStrategy::ShiftInwardsAndBlend || tail == TailStrategy::RoundUpAndBlend;
}
bool masks(TailStrategy tail) {
    return tail == TailStrategy::PredicateLoads || tail == TailStrategy::PredicateStores;
}
/// May ask for a larger output: a multiple of the factor. (An update reads what it goes beyond.)
bool rounds_up(TailStrategy tail, int stage) {
    return tail == TailStrategy::RoundUp || tail == TailStrategy::RoundUpAndBlend ||
           tail == TailStrategy::PredicateLoads ||
           (tail == TailStrategy::PredicateStores && stage > 0);
}
/// May ask for a larger output: at least the factor.
bool shifts_back(TailStrategy tail, int stage) {
    return tail == TailStrategy::ShiftInwards || tail == TailStrategy::ShiftInwardsAndBlend ||
           (tail == TailStrategy::Auto && stage == 0);
}

}  // namespace

/// Whether the strategy keeps the algorithm's meaning here and the output's buffer can be made to
/// fit.
bool Scheduler::tail_is_legal(const Loop &loop, int factor, TailStrategy tail) const {
    bool update = stage_ > 0, output = source(func_).output;
    bool divides = loop.extent > 0 && loop.extent % factor == 0;
    bool shifts = shifts_back(tail, stage_), rounds = rounds_up(tail, stage_);
    if (loop.var.reduction)
        return tail == TailStrategy::Auto || tail == TailStrategy::GuardWithIf ||
               tail == TailStrategy::Predicate;
    if (loop.masked)
        return false;
    bool loads_no_more = tail == TailStrategy::GuardWithIf || tail == TailStrategy::Predicate ||
                         tail == TailStrategy::PredicateLoads;
    if (source(func_).exact && !loads_no_more)
        return false;
    // They read elements that nobody computes, and do not use them: the emulator reports that.
    if (mode_ == Mode::GPU && (blends(tail) || tail == TailStrategy::PredicateStores))
        return false;
    if (blends(tail) && parallel_)
        return false;
    if (update && tail == TailStrategy::ShiftInwards)
        return false;
    if (loop.dim < 0)
        return !rounds && !(output && shifts && loop.extent && loop.extent < factor);
    if (!output)
        return true;
    if (shifts)
        return loop.extent == 0 || loop.extent >= factor;
    if (rounds)
        return divides || (loop.whole && loop.extent == 0);
    return true;
}

/// nullptr where none is legal.
const Tail *Scheduler::pick_tail(const Loop &loop, int factor) {
    std::vector<const Tail *> legal;
    for (const Tail &tail : tails) {
        if (tail_is_legal(loop, factor, tail.strategy))
            legal.push_back(&tail);
    }
    if (legal.empty())
        return nullptr;
    return c_.chance(50) ? c_.of(legal) : legal[0];
}

/// False where no strategy is legal. The inner loop takes the place of the old one, the outer one
/// the place around it.
bool Scheduler::split(size_t index, int factor) {
    Loop old = (*loops_)[index];
    const Tail *tail = pick_tail(old, factor);
    if (!tail)
        return false;
    Loop outer{new_loop(fresh(), old.var.reduction),
               LoopKind::Serial,
               old.dim,
               old.extent > 0 ? (old.extent + factor - 1) / factor : 0,
               old.covers * factor,
               false,
               masks(tail->strategy)};
    Loop inner{new_loop(fresh(), old.var.reduction),
               LoopKind::Serial,
               old.dim,
               factor,
               old.covers,
               false,
               masks(tail->strategy)};
    note_needs(old, factor, tail->strategy);
    std::string text = ".split(" + old.var.text + ", " + outer.var.text + ", " + inner.var.text +
                       ", " + std::to_string(factor) + ", TailStrategy::" + tail->name + ");";
    apply([this, text, old, outer, inner, factor, tail](Stage s, const std::string &n) {
        say(n + text);
        s.split(old.var.loop, outer.var.loop, inner.var.loop, factor, tail->strategy);
    });
    (*loops_)[index] = inner;
    loops_->insert(loops_->begin() + static_cast<long>(index) + 1, outer);
    return true;
}

void Scheduler::note_needs(const Loop &loop, int factor, TailStrategy tail) {
    auto f = static_cast<size_t>(func_);
    blended_ |= blends(tail);
    int reach = loop.covers * factor;
    // What is made to combine iterations over an RVar has the stage's splits too, and goes beyond again.
    // (Two loops of each RVar may be combined so, a parallel and a vectorized one.)
    int again = stage_info().combines ? 2 * static_cast<int>(stage_info().rvars.size()) : 0;
    int beyond = reach * (1 + again);
    if (loop.dim < 0) {
        if (loop.var.reduction)
            return;
        for (size_t d = 0; d < info_.slack[f].size(); d++) {  // fused: of any of its parts
            info_.slack[f][d].above += beyond;
            info_.min_extent[f][d] = std::max(info_.min_extent[f][d], factor);
        }
        return;
    }
    auto d = static_cast<size_t>(loop.dim);
    info_.slack[f][d].above += beyond;
    if (loop.extent > 0)
        return;  // tail_is_legal has seen to it
    if (shifts_back(tail, stage_))
        info_.min_extent[f][d] = std::max(info_.min_extent[f][d], reach);
    if (rounds_up(tail, stage_))
        info_.multiple[f][d] = std::lcm(info_.multiple[f][d], reach);
}

}  // namespace Pipe::fuzz
