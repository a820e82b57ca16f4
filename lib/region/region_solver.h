#pragma once
// RegionSolver: the box of each Func that is needed in one iteration of a given loop. Regions depend on each
// other in both directions between levels (what a window keeps, how tails are padded), so they are solved
// on demand and remembered; plan.h has the finished values.
//
// Bounds inference, from consumers to producers. For a Func F and a loop level L around all its uses,
//
//   required(F, L) = bounding box, over all stages C that read F, of C's accesses in one iteration of L:
//                    loops of C outside L have one value, loops inside take all values.
//
// Derived from it are: the domain of F's loops (required at the compute level, expanded by the
// accesses of F's updates), its storage (the same at the store level), sliding windows (the part
// that is new since the last iteration) and the folding of a storage dimension (the number of
// planes that are live at a time).

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/equal.h"
#include "region/demand.h"
#include "region/extern_query.h"
#include "region/loop_bounds.h"
#include "region/loop_tree.h"
#include "region/names.h"
#include "region/storage_plan.h"
#include "region/tail_rules.h"
#include "region/touched.h"

namespace Pipe::region {

/// Whether a definition contains selects of which only one arm may be evaluated.
bool has_selects(const graph::Stage &stage);

class RegionSolver {
  public:
    /// `any_size`: Auto tails are guarded instead of shifted inwards, so that no extent is too
    /// small.
    explicit RegionSolver(const LoopTree &tree, bool any_size = false);
    RegionSolver(const RegionSolver &) = delete;

    /// The domain of a stage's loops at its compute level, per pure variable. For a sliding window:
    /// only the new part. Refers to lets of the compute level.
    const Box &domain(FuncId func, int stage);
    /// Records the region that one computation of a memoized Func provides (FuncStorage::provided).
    void provide(FuncId func);
    /// The region allocated at the store level.
    const Box &storage(FuncId func);
    /// Elements that the loops of a stage access: the domain, or more if a tail rounds up.
    Box computed(FuncId func, int stage);
    /// The box of an input image that the whole pipeline reads; empty if it reads none of it.
    const Box &image(const std::string &name);
    /// The part that one stage reads, at root; null if it reads nothing.
    const Box *image_read_by(const StageNest &nest, const std::string &name);
    /// How a Func is kept: its window, folds, and the region if coordinates are relative to it.
    const FuncStorage &place(FuncId func);
    /// The same for all Funcs that were asked for.
    const std::vector<FuncStorage> &kept() const { return kept_; }

    /// Ranges of every loop and of every intermediate variable of the stage's nest.
    std::map<std::string, Range> ranges(const StageNest &nest);

    /// The region that the loop of a prefetch directive prefetches: what one iteration of the stage's loop
    /// `at`, including everything computed inside, reads of the source some iterations later.
    Box prefetched(const StageNest &nest, const schedules::Prefetch &directive, const Level &at);

    /// The selects in a stage's definition of which only the chosen arm may be evaluated.
    const Choices &choices(const StageNest &nest);

    /// The region of a Func that readers need in the whole pipeline; empty without readers.
    Box demand(FuncId func);
    /// The region of a definition that readers and later definitions need, regardless of its
    /// bounds: in the whole pipeline, or for one computation (refers to lets of the compute level).
    Box needed(FuncId func, int stage, bool one_computation);
    /// The difference between the stage's own variable and the loop's: nonzero if compute_with
    /// aligns. The loops bind the variable inside the loop.
    Expr shift(const StageNest &nest, const StageLoop &loop);
    /// The range of the loop of that name: with compute_with, over all stages that share it.
    Range loop_range(const Level &level);

    const LetTable &lets() const { return lets_; }
    const TailRules &tail_rules() const { return tails_; }
    /// The lets of all levels and the shifts.
    Names names() const { return {lets_.lets(), shifts_}; }

  private:
    std::optional<Box> read_later(const StageNest &nest, const std::string &source, const Level &at,
                                  const Level &from, const Expr &offset);
    FuncStorage &kept(FuncId func) { return kept_[static_cast<size_t>(func)]; }
    std::optional<int64_t> upper_bound(const Expr &e) const { return bounds_.upper_bound(e); }
    enum class Coverage : uint8_t { Full, Point, Part };
    /// A variable of a nest seen from a level: its whole range, a single value, or part of the
    /// range.
    struct View {
        Coverage seen = Coverage::Full;
        Interval interval;
    };

    void find_values();
    /// Adds to the scope the ranges of the values of the Funcs that `func` reads.
    void add_values(const graph::FuncNode &func, IntervalScope &scope) const;
    Box required(FuncId func, const Level &level);
    Box needed_by_others(FuncId func, int stage, const Level &level);
    void keep_inside(FuncId func, int stage, const Level &level, Box &box);
    /// The pure loop domain of a stage for one iteration of `level`.
    const Box &domain_at(FuncId func, int stage, const Level &level);
    const Touched &touched(const StageNest &nest, const Level &level, Use use = Use::Loads);
    /// The kind of access by which a reader loads the Func.
    Use use_by(const StageNest &reader, FuncId func) const;
    /// Regions that readers load but do not use must be allocated, too.
    void add_unused_loads(FuncId func, Box &storage);
    Box written(const StageNest &nest, const Level &level, const IntervalScope &loads);
    IntervalScope scope_of(const StageNest &nest, const Level &level, Use use = Use::Loads);
    std::map<std::string, Range> ranges_in(const StageNest &nest, const Box &domain);
    void define_from_loops(const StageNest &nest, const std::string &name,
                           const std::map<std::string, Range> &ranges);
    Expr fused_extent(const Expr &inner, const Expr &outer);
    /// The ranges of the variables as seen by the loads, or the stores, of a stage.
    std::map<std::string, View> views(const StageNest &nest, const Level &level, const Box &domain,
                                      Use use);
    View view_of_split(const StageNest &nest, const schedules::Transform &t, const Range &old,
                       const View &full, const View &outer, const View &inner, Use use);
    /// The region that a stage stores at the level. (In dimensions over which an update does not
    /// loop, it follows from the written coordinates.)
    Box stored_by(const StageNest &nest, const Box &domain, const Level &level);
    /// The domain at the level, expanded by the loads or stores of tails.
    Box reached(const StageNest &nest, const Box &domain, const Level &level, Use use);
    bool starts_at(const Interval &once, const Interval &box) const;
    const Box &padded(const StageNest &nest);
    void align(FuncId func, int stage, const Level &level, Box &box);
    /// The end of a box for several iterations of the compute level: `last`, or the end of the last
    /// iteration, where each ends at `once`, and none more than `beyond` after `last`.
    Expr last_of_all(FuncId func, const Expr &last, const Expr &once, const Expr &beyond,
                     const Level &level);
    [[noreturn]] void reject_fold(FuncId func, const std::string &dim,
                                  const std::string &why) const;
    Box pad_for_tails(const StageNest &nest, Box domain, const Level &level);
    void pad_to_factor(const StageNest &nest, size_t dim, const Expr &factor, const Level &level,
                       Interval &interval);
    Expr position(const StageNest &nest, const StageLoop &loop, const Range &own);
    bool shares_loops(const StageNest &nest) const;
    bool may_have_nothing_new(const Interval &interval) const;
    bool may_be_empty(FuncId func, const Expr &extent);
    enum class Need : uint8_t {
        Always,
        UnlessEmpty,      // an RDom that reads it, directly or through other Funcs, may be empty
        UnderConditions,  // the condition of a where, a select or a guard may never be true
    };
    StageTails stage_tails(const StageNest &nest) { return tails_.stage_tails(nest, ranges(nest)); }
    bool is_guarded_further_in(FuncId func);
    Need needed_under_conditions(FuncId func);
    bool rounds_what_shifts(const StageNest &nest);
    const std::vector<bool> &loose_dimensions(FuncId func);
    bool same_for_all(const Interval &interval, const Level &inner, const Level &outer) const;
    void slide(FuncId func, Box &domain);
    /// The reason why the window cannot slide along the loop that moves these dimensions; empty if
    /// it can. Sets the window's direction, and `cannot` if no schedule of the Func's own loops
    /// would change that.
    std::string obstacle(FuncId func, const Level &loop, const std::vector<size_t> &moved,
                         const Box &needed);
    void find_reach(FuncId id, size_t dim);
    bool runs_once(const Level &loop);
    Expr first_iteration(FuncId func, const Level &loop);
    void keep_last(FuncId func, size_t dim, const Level &loop, const Expr &begin, Interval &window);
    /// The domain of an extern stage that must compute `needed`; queries its C function.
    const Box &ask(FuncId func, const Level &level, const std::string &prefix, const Box &needed);
    ExternRegions answer(const Level &level, const Query &query);
    /// Whether a parallel or vectorized loop lies between the store level and the compute level.
    bool stored_for_many(FuncId func) const;
    void fold(FuncId func, Box needed);
    /// Folds the dimension along which the window slides, of which `live` planes are needed at a time
    /// (nothing: not known), or notes why it does not.
    void fold_window(FuncId func, size_t dim, std::optional<int64_t> live);
    /// Refuses a fold_storage of the user that would lose values.
    void check_fold(FuncId func, size_t dim, const schedules::FoldedDim &requested,
                    const Interval &needed, std::optional<int64_t> live) const;
    /// The number of planes that one computation stores, per dimension and loop variable.
    std::map<std::string, Expr> planes(FuncId func, const Box &needed);

    Box bind(const Level &level, const std::string &prefix, const graph::FuncNode &func,
             const Box &box);
    void require_bounded(const Box &box, const std::string &what, const graph::FuncNode *callee);

    const LoopTree &tree_;
    const graph::Graph &graph_;
    TailRules tails_;
    /// Per Func and value: constant bounds given by its definition; undefined if there are none.
    std::map<FuncId, Box> values_;
    std::map<std::tuple<FuncId, int, Level>, Box> domains_, needed_by_others_;
    std::map<std::pair<FuncId, int>, Box> unaligned_, unpadded_, padded_;  ///< at the compute level
    std::map<std::tuple<FuncId, int, Level, Use>, Touched> touched_;
    std::map<std::pair<FuncId, int>, Choices> choices_;
    std::map<FuncId, Need> under_conditions_;
    std::map<FuncId, std::vector<bool>> loose_;
    std::map<std::string, Expr> shifts_;                                ///< by the variable's name
    std::map<std::pair<FuncId, Level>, ExternRegions> extern_regions_;  ///< of extern stages
    std::vector<bool> whole_;  ///< per Func: whether a C function computes or reads it
    std::map<std::string, Box> images_;
    std::vector<FuncStorage> kept_;  ///< by Func: regions, windows and folds
    LetTable lets_;
    LoopBounds bounds_;
};

}  // namespace Pipe::region
