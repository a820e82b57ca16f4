#pragma once
// The storage plan: where the values of each Func are kept, what is kept from one iteration to the next,
// and what is allocated.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "region/interval.h"
#include "region/loop_tree.h"

namespace Pipe::region {

/// A storage dimension with indices modulo `factor`.
struct Fold {
    int dim = 0;
    Expr factor;
    int64_t live = 0;  ///< the number of planes that are needed at a time: at most the factor
};

/// The sliding window of a Func that is stored further out than it is computed.
struct Window {
    int dim = -1;  ///< the dimension along which it slides; -1: it does not
    bool up = true;
    Interval needed;  ///< needed interval of that dimension, in one iteration
    /// Holds what any iteration needs of it, in terms of the loop alone and of what is the same for all iterations,
    /// even if it leaves the region that is stored. Not known for all Funcs.
    Interval reach;
    Level loop;  ///< the loop that moves it
    /// Its begin in the very first iteration. Defined only if each iteration provably continues
    /// upwards exactly where the previous one ended.
    Expr first;
    /// The maximum distance by which it slides in one iteration, if that is bounded.
    std::optional<int64_t> step;
    /// The innermost loops between the two levels in which it does not move.
    std::vector<Level> still;
    std::string not_sliding_because;  ///< why it does not slide
    bool cannot = false;              ///< regardless of how the Func's own loops are split
};

/// The storage of one Func.
struct FuncStorage {
    /// The region allocated at the store level; empty for outputs, whose memory is the caller's.
    Box region;
    Window window;  ///< only if it is stored further out than it is computed
    /// Dimensions that are folded, because the window slides or the user requested it.
    std::vector<Fold> folds;
    std::string not_folded_because;  ///< of the dimension along which the window slides
    /// Whether coordinates are relative to the region's min: the memory is hoisted out of the store level.
    bool relative = false;
    Expr copy;  ///< the copy of a ring buffer that an iteration uses; undefined without ring_buffer
    /// The ranges to allocate at the hoist level, in the coordinates of place().
    std::vector<Range> allocation;
    /// The region that one computation provides to readers: the domain of the last stage, without what
    /// its tails compute in addition. Given for memoized Funcs.
    Box provided;
    /// The number of iterations of its compute level by which an async Func may run ahead of its
    /// readers, including the one in progress; undefined = unlimited.
    Expr slots;
    /// The iterations of the compute level in which the Func is computed; undefined: all. If the
    /// innermost loops inside the store level need the same region each time, only their first
    /// iteration computes it.
    Expr computing_iterations;

    /// The coordinates in memory of an element: modulo the factor in folded dimensions, relative to the
    /// min in hoisted storage, with the copy of a ring buffer.
    std::vector<Expr> place(std::vector<Expr> coordinates) const;
};

struct StoragePlan {
    std::vector<FuncStorage> funcs;  ///< by Func; inlined Funcs have none

    const FuncStorage &of(FuncId func) const { return funcs[static_cast<size_t>(func)]; }
};

}  // namespace Pipe::region
