#pragma once
// The tail plan: how the end of each split is handled, where its factor need not divide the extent.

#include <cstdint>
#include <string>
#include <vector>

#include "region/loop_tree.h"

namespace Pipe::region {

/// The resolved tail strategy of a split: Auto is decided, and a factor that divides needs none.
enum class Tail : uint8_t {
    None,
    RoundUp,
    Guard,
    ShiftInwards,
    PredicateLoads,
    PredicateStores,
    ShiftInwardsAndBlend,
    RoundUpAndBlend,
};
inline bool shifts(Tail t) {
    return t == Tail::ShiftInwards || t == Tail::ShiftInwardsAndBlend;
}

/// The accesses that a tail strategy affects. Values: loads of values that only flow into the
/// stage's own stores.
enum class Use : uint8_t { Loads, Stores, Values };
/// Whether the tail keeps this access inside the range, by a test or a mask.
inline bool guards(Tail t, Use use) {
    return t == Tail::Guard || (t == Tail::PredicateLoads && use != Use::Stores) ||
           (t == Tail::PredicateStores && use != Use::Loads);
}
/// Whether the tail extends this access beyond the range, to a multiple of the factor.
inline bool goes_beyond(Tail t, Use use) {
    return t != Tail::None && !shifts(t) && !guards(t, use);
}

/// The tails of one stage, one per Transform.
struct StageTails {
    std::vector<Tail> tails;           ///< None for transforms that are not splits
    std::vector<std::string> because;  ///< why each split ends that way
    /// Of the loops (TailRules::kind); empty in a plan of the root alone.
    std::vector<LoopKind> kinds;
};

struct TailPlan {
    std::vector<std::vector<StageTails>> stages;  ///< by Func and stage

    const StageTails &of(const StageNest &nest) const {
        return stages[static_cast<size_t>(nest.func)][static_cast<size_t>(nest.stage)];
    }
};

}  // namespace Pipe::region
