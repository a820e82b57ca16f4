#pragma once
// The stage graph: the properties of Funcs that the search needs.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autoschedule/operation_cost.h"
#include "autoschedule/roles.h"
#include "graph/graph.h"
#include "poly/model.h"
#include <pipe/schedule.h>

namespace Pipe::autoschedule {

/// A part of a value of a substituted Func: what it takes, and which one it is, in the dimensions of the reader. The
/// value at another place has the same part where that depends on other dimensions of the Func only.
struct Evaluated {
    Arithmetic arithmetic;
    uint64_t variables = 0;  ///< the dimensions of the Func that it depends on, as bits
    poly::Access at;         ///< 0 in the others
    bool same_part(const Evaluated &other) const {
        return variables == other.variables && at.same_element(other.at);
    }
};

/// Iterations of an RVar of a scatter, so many at a time, that store to coordinates to which no others store:
/// r.x in h(r.x / 8).
struct Cells {
    std::string rvar;
    int64_t size = 1;
    double count = 1;
};

/// What the threads of a kernel run over.
enum class Threads : uint8_t {
    Points,  ///< the pure loops
    Cells,   ///< of a scatter; and the pure loops
    Parts,   ///< RVars of a long reduction, whose parts are combined (gpu/reduction_threads.h); and the pure loops
    Atomic,  ///< all RVars: they update the same elements by atomic operations
};

/// Costs of one stage, per iteration of its loops.
struct StageCost {
    Arithmetic arithmetic;       ///< of its own expressions and of what was substituted
    Arithmetic own;              ///< of its own expressions alone
    std::vector<Work> own_work;  ///< the same, by the dimensions of the Func that it depends on
    std::vector<Evaluated> evaluated;  ///< what was substituted, each part once
    /// Instructions of the expressions as written: of what was substituted, each call by itself, though
    /// several may be of one element (clamp(x, 0, 0) and clamp(x + 1, 0, 0)).
    double written = 0;
    std::map<FuncId, double> calls;  ///< of other Funcs, as written
    double repeats =
        1;  ///< iterations of the RVars that where() leaves, per point of the pure loops
    std::vector<int64_t> rvars;  ///< extents, innermost first
    size_t constant_rvars = 0;   ///< of these, the innermost ones whose extents are constants
    /// Its iterations may be added up in another order, with FastMath or without.
    bool regroups_fast = false, regroups = false;
    bool in_order = false;            ///< its parts may, the iterations of each may not
    /// Terms of its sum that one instruction adds up: 8 of bytes, 2 of int16 (ir/narrow_term.h); else 1.
    int terms_per_sum = 1;
    std::vector<Work> narrow_work;    ///< as own_work, of what such an instruction takes
    std::vector<poly::Access> loads;  ///< coordinates in the Func's dimensions; each element once
    std::vector<bool> loops_over;  ///< per dimension of the Func: the stage has a pure loop over it
    std::vector<double> busiest;   ///< per dimension: Selected::busiest of where()
    /// It computes running sums, minima or maxima along dimension 0, as vectors (lower/prefix_loops.h): with
    /// FastMath or without.
    bool is_prefix_fast = false, is_prefix = false;
    /// It reads its own Func, and stores at coordinates of RVars that are formulas: one point after another.
    bool is_scan = false;
    bool scatters = false;              ///< it stores at elements that its data name
    Threads threads = Threads::Points;  ///< where it is computed in a kernel of its own
    std::vector<Cells> cells;           ///< of a scatter (cells.h)

    /// Whether there is a pure loop over every dimension: neither a scan nor a scatter.
    bool loops_over_all() const {
        return std::find(loops_over.begin(), loops_over.end(), false) == loops_over.end();
    }
    /// `work` in its loops. Sums have too many tests for partitioning: one per element of a window.
    Arithmetic in_loops(const Arithmetic &work) const {
        return rvars.empty() ? work : work.with_tests();
    }
    /// Whether it has vectors along dimension 0. The lanes of a scatter are stored one by one: that pays where there
    /// is much to compute before.
    bool has_vectors() const {
        constexpr double much = 16;
        return !loops_over.empty() && loops_over[0] && !(scatters && arithmetic.count < much);
    }
};

/// Where the lanes of a vector along dimension 0 find their elements.
enum class Lanes : uint8_t {
    Same,   ///< uniform: all lanes read one element (broadcast)
    Steps,  ///< strided along dimension 0 of the buffer; stride = the coordinate's rate
    Apart,  ///< arbitrary addresses (gather)
};

/// Of vectors of so many lanes. Of i % 32 and i / 32, vectors of 16 lanes do not cross the periods.
Lanes lanes_of(const poly::Access &load, double lanes);
/// Whether that holds for vectors only that begin at multiples of their lanes.
bool needs_aligned_vectors(const poly::Access &load, double lanes);

/// Everything that one Func reads of one buffer.
struct Reads {
    poly::Access hull;  ///< over all loads; coordinates with different rates have unknown distance
    double rows = 1;    ///< distinct rows that one iteration touches
    /// The same per dimension of the reader, where rows that differ along it alone count once: after a step along
    /// it, so many rows are new.
    std::vector<double> rows_besides;
};

struct Node {
    FuncId id = FuncId::None;
    std::string name;
    std::vector<std::string> args;  ///< of the Func
    std::vector<int64_t> mins;      ///< of the needed region; 0 where unknown
    std::vector<int64_t> extents;   ///< of the needed region; `assumed_extent` where unknown
    int bytes = 1;                  ///< of one point, all tuple elements together
    int widest = 1;                 ///< bytes of the widest tuple element: the lanes of its vectors
    std::vector<StageCost> stages;
    std::vector<Reads> reads;  ///< one per buffer, from the loads of all stages
    Role role = Role::Free;
    bool is_output = false;
    bool is_operand = false;  ///< a copy in another order (operand_copies.h)
    /// Of an output: a dimension > 0 whose elements are adjacent in memory, as the channels of interleaved images; -1:
    /// none.
    int channels = -1;
    /// The first update may take over the pure definition (lower/register_sums.h).
    bool starts_from_formula = false;
    /// Almost all of the pure definition is never read, so never computed (graph/overwritten.h).
    bool is_overwritten = false;
    /// The node after unroll_updates() of its Func; null where that is no choice.
    std::shared_ptr<const Node> unrolled = nullptr;
    bool is_unrolled = false;               ///< it is that node
    bool on_host = false;                   ///< it cannot be computed in a kernel
    bool inlined = false;                   ///< inlined: not a node of the search
    uint64_t version = 0;                   ///< changes when other Funcs are inlined into it
    std::vector<int> producers, consumers;  ///< nodes, ascending, unique

    bool has_updates() const { return stages.size() > 1; }
    int dims() const { return static_cast<int>(extents.size()); }
    poly::Range range(size_t d) const { return {mins[d], mins[d] + extents[d] - 1}; }
    double points() const;
    /// Of the pure loops of one of its stages.
    double looped_points(const StageCost &stage) const;
    /// Iterations of all loops of one of its stages, over the needed region.
    double iterations(const StageCost &stage) const;
};

struct StageGraph {
    std::vector<Node> nodes;          ///< indexed by FuncId; producers before consumers
    std::vector<double> image_bytes;  ///< of the region that is read, indexed like Graph::images
    double bytes_at_root() const;     ///< images and everything not inlined
};

constexpr int64_t assumed_extent = 1024;
/// A large reduction to so few points is parallel over its RVars.
constexpr double few_points = 8;

/// `names`: the sizes and scalars that `model` was made for.
StageGraph build_stage_graph(const graph::Graph &graph, const poly::Model &model,
                             const poly::Environment &names, const schedules::Schedule &user);

/// Sets the edges between the nodes that are not inlined, from their loads.
void connect(StageGraph &graph);
/// Sets Node::reads, from the loads of all stages.
void summarize_reads(Node &node);

}  // namespace Pipe::autoschedule
