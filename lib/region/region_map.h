#pragma once
// RegionMap: the answer to "for one iteration of this loop, which box of each Func is needed?"
//
// Demand flows from consumers to producers. For a Func F and a loop level L around all its uses,
//
//   required(F, L) = hull over the stages C that read F of the box that C's accesses touch while the
//                    loops of C outside L are fixed and those inside run their whole range.
//
// Everything else is read off it: the domain of F's loops (required at the compute level, grown by what
// F's updates touch), its storage (the same at the store level), sliding windows (what of it is new since
// the last iteration) and the fold of a storage dimension (how many planes live at once).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "region/extern_query.h"
#include "region/loop_tree.h"
#include "region/touched.h"

namespace Pipe::region {

/// The range of one loop variable or pure variable: min and extent are int32 Exprs.
struct Range {
    Expr min, extent;
    Expr max() const { return ir::sub(ir::add(min, extent), ir::make_int(Int(32), 1)); }
};

/// The resolved tail of one split: Auto is decided, and a factor that divides needs none.
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

/// What a stage does with the points of its loops. Values: loads what it needs, because it stores what it makes
/// of that.
enum class Use : uint8_t { Loads, Stores, Values };
/// Whether the tail keeps this use inside the range, by a test or a mask.
inline bool guards(Tail t, Use use) {
    return t == Tail::Guard || (t == Tail::PredicateLoads && use != Use::Stores) ||
           (t == Tail::PredicateStores && use != Use::Loads);
}
/// Whether it lets this use go beyond the range, to a multiple of the factor.
inline bool goes_beyond(Tail t, Use use) {
    return t != Tail::None && !shifts(t) && !guards(t, use);
}

/// A storage dimension that is kept modulo `factor`.
struct Fold {
    int dim = 0;
    Expr factor;
};

/// Whether a definition has arms that are chosen from.
bool has_selects(const graph::Stage &stage);

class RegionMap {
  public:
    /// `any_size`: Auto tails are guarded instead of shifted inwards, so that no extent is too small.
    explicit RegionMap(const LoopTree &tree, bool any_size = false);

    const LoopTree &tree() const { return tree_; }

    /// What the loops of a stage iterate over at its compute level, per pure variable. For a Func whose
    /// window slides: only what is new. Names lets of the compute level.
    const Box &domain(FuncId func, int stage);
    /// What readers are given by one computation: the domain of the last stage, without what its tails
    /// compute beyond. Names lets of the compute level.
    Box asked(FuncId func);
    /// What is allocated at the store level.
    const Box &storage(FuncId func);
    /// Which iterations of the compute level compute the Func: undefined for all of them. Where the innermost
    /// loops inside of the store level need the same of it each time, only their first iteration does.
    Expr computing_iterations(FuncId func);
    /// Elements that the loops of a stage touch: the domain, or more where a tail rounds up.
    Box computed(FuncId func, int stage);
    /// The box of an input image that the whole pipeline reads; empty if it reads none of it.
    const Box &image(const std::string &name);
    /// What one stage reads of it, at root; null where it reads nothing.
    const Box *image_read_by(const StageNest &nest, const std::string &name);
    /// Dimensions of a Func's storage that fold, because its window slides or the user said so.
    const std::vector<Fold> &folds(FuncId func);
    /// Where in the memory of a Func its element at these coordinates lies: folded dimensions modulo
    /// their factor, hoisted storage from its min on, and the copy of a ring buffer.
    std::vector<Expr> place_in_storage(FuncId func, std::vector<Expr> coordinates);
    /// The extents that are allocated at the level that the Func's storage is hoisted to, as
    /// place_in_storage() counts.
    std::vector<Range> allocation(FuncId func);
    /// How many iterations of its compute level an async Func may be ahead of its readers, one of them
    /// on its way; undefined = any number.
    Expr slots(FuncId func);

    /// Ranges of every loop and of every intermediate variable of the stage's nest.
    std::map<std::string, Range> ranges(const StageNest &nest);
    /// How the splits of a stage end: one per Transform (None for those that are no split).
    std::vector<Tail> tails(const StageNest &nest);

    /// What one iteration of the stage's loop `at`, with what is computed inside of it, reads of a Func
    /// or image, `offset` iterations of the loop `from` later. Nothing if it reads none of it.
    std::optional<Box> read_later(const StageNest &nest, const std::string &source, const Level &at,
                                  const Level &from, const Expr &offset);

    /// The selects in a stage's definition of which only the arm that is chosen may be evaluated.
    const Choices &choices(const StageNest &nest);

    /// What readers need of a Func in the whole pipeline; empty without readers.
    Box demand(FuncId func);
    /// What readers and later definitions need of a definition, whatever its bounds say: in the whole
    /// pipeline, or of one computation (names lets of the compute level).
    Box needed(FuncId func, int stage, bool one_computation);
    /// How far the outer loop of a split moves the variable, for a split that shifts inwards: the variable
    /// that names min(outer * factor, extent - factor). build() binds it inside the outer loop.
    Expr shifted_offset(const StageNest &nest, const schedules::Transform &split) const;

    /// What is added to the number of a loop to have that of the stage's own variable: not 0 where
    /// compute_with aligns. build() binds the variable inside the loop.
    Expr shift(const StageNest &nest, const StageLoop &loop);
    /// The range of the loop of that name: with compute_with, of all stages that share it.
    Range loop_range(const Level &level);

    /// Names that must be bound just inside a level, in an order in which each uses earlier ones only.
    const std::vector<std::pair<std::string, Expr>> &lets(const Level &level);

    /// Largest value that an int32 expression over lets and loop variables can take, if that is a
    /// constant (lets are looked through; a min() takes its better operand).
    std::optional<int64_t> upper_bound(const Expr &e);

  private:
    enum class Seen : uint8_t { Full, Point, Part };
    /// A variable of a nest seen from a level: its whole range, one value, or part of the range.
    struct View {
        Seen seen = Seen::Full;
        Interval interval;
    };

    void find_values();
    /// Says in the scope what values the Funcs have that `func` reads.
    void add_values(const graph::FuncNode &func, IntervalScope &scope) const;
    Box required(FuncId func, const Level &level);
    Box needed_by_others(FuncId func, int stage, const Level &level);
    void keep_inside(FuncId func, int stage, const Level &level, Box &box);
    /// The pure loop domain of a stage for one iteration of `level`.
    const Box &domain_at(FuncId func, int stage, const Level &level);
    const Touched &touched(const StageNest &nest, const Level &level, Use use = Use::Loads);
    /// What a reader loads of the Func, for which use.
    Use use_by(const StageNest &reader, FuncId func) const;
    /// What the readers of a Func load beyond what they need: what is allocated has to hold that, too.
    void add_unused_loads(FuncId func, Box &storage);
    Box written(const StageNest &nest, const Level &level, const IntervalScope &loads);
    IntervalScope scope_of(const StageNest &nest, const Level &level, Use use = Use::Loads);
    std::map<std::string, Range> ranges_in(const StageNest &nest, const Box &domain);
    Expr fused_extent(const Expr &inner, const Expr &outer);
    /// What the loads, or the stores, of a stage see.
    std::map<std::string, View> views(const StageNest &nest, const Level &level, const Box &domain,
                                      Use use);
    View view_of_split(const StageNest &nest, const schedules::Transform &t, const Range &old,
                       const View &full, const View &outer, const View &inner, Use use);
    /// What a stage stores at the level. (Dimensions over which an update does not loop are said by
    /// what it writes.)
    Box stored_by(const StageNest &nest, const Box &domain, const Level &level);
    /// The domain at the level, and what tails load or store beyond it.
    Box reached(const StageNest &nest, const Box &domain, const Level &level, Use use);
    std::vector<Expr> most_beyond(const StageNest &nest, Use use) const;
    const Box &padded(const StageNest &nest);
    bool stores_beyond_reads(const StageNest &nest) const;
    std::map<std::string, Expr> spans(const StageNest &nest,
                                      const std::map<std::string, Range> &ranges, Use use);
    void align(FuncId func, int stage, const Level &level, Box &box);
    /// The greatest value that an expression of the level `inner` takes in the iterations of the loops
    /// from `outer` in to it. Undefined where that is not bounded.
    Expr greatest(const Expr &e, const Level &inner, const Level &outer);
    bool uses_lets_between(const Expr &e, const Level &inner, const Level &outer);
    /// The end of a box for several iterations of the compute level: at `last` or where the last of them ends,
    /// of which each ends at `once`, and none more than `beyond` behind `last`.
    Expr last_of_all(FuncId func, const Expr &last, const Expr &once, const Expr &beyond,
                     const Level &level);
    Expr extent_when_hoisted(FuncId func, const Expr &extent);
    /// A loop whose iterations take the copies of a ring buffer in turn.
    struct Turn {
        Range range;
        Level
            outer;  ///< the loop that is split together with it, in whose last iteration it may end early
        Expr factor;  ///< how many iterations it has in the others
        Expr both;    ///< and how many the two have together
    };
    const Expr &turn(FuncId func);
    Turn turn_of(FuncId func, const Level &level, const std::vector<Level> &levels);
    [[noreturn]] void reject_fold(FuncId func, const std::string &dim,
                                  const std::string &why) const;
    Box pad_for_tails(const StageNest &nest, Box domain, const Level &level);
    void pad_to_factor(const StageNest &nest, size_t dim, const Expr &factor, const Level &level,
                       Interval &interval);
    Expr position(const StageNest &nest, const StageLoop &loop, const Range &own);
    bool shares_loops(const StageNest &nest) const;
    bool may_have_nothing_new(const Interval &interval) const;
    bool may_be_empty(FuncId func, const Expr &extent);
    enum class Needed : uint8_t {
        Always,
        UnlessEmpty,      // an RDom that reads it, by itself or through others, may be empty
        UnderConditions,  // a where, a select or the guard of a split may hold nowhere
    };
    bool is_guarded_further_in(FuncId func);
    Needed needed_under_conditions(FuncId func);
    const std::vector<bool> &loose_dimensions(FuncId func);
    bool same_for_all(const Interval &interval, const Level &inner, const Level &outer) const;
    TailStrategy strategy(const StageNest &nest, const schedules::Transform &split) const;
    Tail tail_of(const StageNest &nest, const schedules::Transform &split,
                 const Expr &extent) const;
    bool shrinks(const StageNest &nest, size_t split) const;
    void slide(FuncId func, Box &domain);
    /// What stands in the way of sliding along the loop that moves these dimensions; empty: nothing. Sets the
    /// window's direction, and whether it `cannot` slide.
    std::string obstacle(FuncId func, const Level &loop, const std::vector<size_t> &moved,
                         const Box &needed);
    bool runs_once(const Level &loop);
    Expr first_iteration(FuncId func, const Level &loop);
    void keep_last(FuncId func, size_t dim, const Level &loop, const Expr &begin, Interval &window);
    /// The domain of an extern stage that has to compute `needed`; asks its C function.
    const Box &ask(FuncId func, const Level &level, const std::string &prefix, const Box &needed);
    Asked answer(const Level &level, const Query &query);
    bool ends_beyond(const StageNest &nest, size_t dim) const;
    /// Whether a parallel or vectorized loop stands between where the Func is stored and where it is computed.
    bool stored_for_many(FuncId func) const;
    void fold(FuncId func, Box needed);

    Expr bind(const Level &level, const std::string &name, const Expr &value);
    void define_let(const std::string &name, const Expr &value);
    Expr let_of(const Level &level, const std::string &name, const Expr &value);
    Box bind(const Level &level, const std::string &prefix, const graph::FuncNode &func,
             const Box &box);
    void require_bounded(const Box &box, const std::string &what, const graph::FuncNode *callee);
    /// With lets replaced by their values; in the steady state: windows that slide, past their first
    /// iteration.
    Expr expand(const Expr &e) const;
    Expr expand_steady(const Expr &e) const;
    /// With those lets replaced by their values behind which the loop stands.
    Expr expand_along(const Expr &e, const Level &loop) const;
    bool moves_with(const Expr &e, const Level &loop) const;

    const LoopTree &tree_;
    const graph::Graph &graph_;
    bool any_size_;
    /// Per Func and value: constant bounds that its definition promises; undefined where it has none.
    std::map<FuncId, Box> values_;
    std::map<std::tuple<FuncId, int, Level>, Box> domains_, needed_by_others_;
    std::map<std::pair<FuncId, int>, Box> unaligned_, unpadded_, padded_;  ///< at the compute level
    std::map<std::tuple<FuncId, int, Level, Use>, Touched> touched_;
    std::map<std::pair<FuncId, int>, Choices> choices_;
    std::map<FuncId, Needed> under_conditions_;
    std::map<FuncId, std::vector<bool>> loose_;
    std::map<std::string, Expr> shifts_;               ///< by the variable's name
    std::map<std::pair<FuncId, Level>, Asked> asked_;  ///< of extern stages
    std::vector<bool> whole_;  ///< per Func: a C function computes or reads it
    std::map<FuncId, Box> storages_;
    std::map<FuncId, Expr> turns_;
    std::map<std::string, Box> images_;
    std::map<FuncId, std::vector<Fold>> folds_;
    /// How far the window of a Func slides in any one iteration, where that is bounded; nothing where it
    /// does not slide.
    std::map<FuncId, std::optional<int64_t>> slides_;
    std::map<FuncId, int64_t> live_planes_;  ///< of a dimension that the user folds
    /// Of a Func that is stored further out than it is computed.
    struct Window {
        int dim = -1;  ///< along which it slides
        bool up = true;
        Interval needed;  ///< of that dimension, in one iteration
        Level loop;       ///< that moves it
        /// Where it begins in the first iteration of all. Defined only where each iteration is known to
        /// continue upwards exactly where the one before ended.
        Expr first;
        std::string stands;   ///< why it does not slide
        bool cannot = false;  ///< however the Func's own loops are split
    };
    std::map<FuncId, Window> windows_;
    /// Of such a Func: the innermost loops between the two levels in which its window stands still.
    std::map<FuncId, std::vector<Level>> still_;
    std::map<Level, std::vector<std::pair<std::string, Expr>>> lets_;
    std::map<Level, std::map<Expr, std::string, ir::ExprLess>> let_names_;
    std::map<std::string, std::pair<Expr, int>> let_values_;  ///< and how many there were before
    /// What is behind a let when all lets are replaced by their values. Kept, because to replace them for
    /// every question takes time that is quadratic in the length of a chain of stages.
    struct Behind {
        std::set<std::string> variables;
        bool slides = false;  ///< one of the lets has another value in the steady state
        bool asked = false;   ///< one of them is what a C function answered
    };
    Behind behind(const Expr &e) const;
    std::map<std::string, Behind> behind_let_;
    std::map<std::string, Expr> steady_values_;
};

}  // namespace Pipe::region
