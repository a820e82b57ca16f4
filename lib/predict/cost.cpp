#include "predict/cost.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "autoschedule/group_model.h"
#include "predict/footprint.h"

namespace Pipe::predict {

using autoschedule::Machine;
using autoschedule::overlapped;

namespace {

// Of current server cores; what Machine has is there.
constexpr double vector_rate = 3;  ///< vector instructions per clock, all kinds
constexpr double shuffle_rate = 1.5;
constexpr double scalar_rate = 4;
constexpr double issue_rate = 6;    ///< instructions per clock
constexpr double usable = 0.75;     ///< of a cache; the rest is for data that streams through
constexpr double write_back = 0.3;  ///< cost of a byte written back, relative to one that is read
constexpr double tlb_pages = 2048;  ///< of the second level
constexpr double walk_clocks = 20;

/// Where a loop stands: how often, and on how many cores it is executed.
struct Place {
    double executions = 1;  ///< in one run
    double speedup = 1;     ///< elapsed time is that of one core divided by this
    double threads = 1;     ///< that execute it at a time
};

/// Where data, or the addresses of its pages, are kept.
enum Level { L1, L2, L3, TLB, levels };

struct Times {            // in clocks of elapsed time
    double units = 0;     ///< of the execution units, and chains of dependences
    double accesses = 0;  ///< of loads and stores that find their data in the L1 cache
    double overhead = 0, dram = 0, starts = 0;
    double bytes[levels] = {};  ///< transferred from beyond the level, divided by the speedup
};

class Cost {
  public:
    Cost(const Nest &nest, const Machine &machine, const Rates &rates)
        : nest_(nest), machine_(machine), rates_(rates), times_(nest.stages.size()) {}

    std::vector<Times> run() {
        const Loop root = make(nest_.root);
        code(root, {});
        for (int level = 0; level < levels; level++)
            transfers(root, {}, static_cast<Level>(level), 1);
        return times_;
    }

  private:
    struct Loop {
        const Node *node = nullptr;
        Groups own, all;  ///< of the body, without and with inner loops
        std::vector<Loop> inner;
        bool has_parallel = false;
        /// What one iteration touches: bytes, and for the TLB pages.
        double body[levels] = {};
    };
    struct Touched {
        const Group *group;
        Footprint footprint;  ///< weighted with the probability that any of it is accessed
    };

    const Nest &nest_;
    const Machine &machine_;
    const Rates &rates_;
    std::vector<Times> times_;

    Times &times(int stage) { return times_[static_cast<size_t>(stage)]; }
    double buffer_bytes(const Group &g) const {
        return nest_.buffers[static_cast<size_t>(g.buffer)].bytes;
    }
    bool streams(const Group &g) const {
        return g.store && nest_.buffers[static_cast<size_t>(g.buffer)].streams;
    }

    Loop make(const Node &node, std::vector<double> trips = {}) {
        Loop loop{&node, Groups(nest_.buffers), Groups(nest_.buffers), {}, node.parallel, {}};
        if (node.depth >= 0)
            trips.push_back(node.trips);
        for (const Access &a : node.accesses)
            loop.own.add(a, trips), loop.all.add(a, trips);
        for (const auto &inner : node.loops) {
            loop.inner.push_back(make(*inner, trips));
            loop.has_parallel |= loop.inner.back().has_parallel;
            loop.inner.back().all.for_each([&](Group g) {
                g.chance = std::min(1.0, g.chance * inner->entries * inner->trips);
                loop.all.add(g);
            });
        }
        double occupied = 0;
        for (const auto &[buffer, f] : per_buffer(touched(loop.all, node.depth + 1, 1), false)) {
            for (Level level : {L1, L2, L3})
                loop.body[level] += f.bytes;
            loop.body[TLB] += f.pages;
            occupied = std::max(occupied, f.occupied);
        }
        loop.body[L1] = std::max(loop.body[L1], occupied);
        loop.body[L2] = std::max(loop.body[L2], occupied);
        return loop;
    }

    /// What the loops of depth `from` and deeper touch. \param times  iterations of the loop of the groups
    std::vector<Touched> touched(const Groups &groups, int from, double times) const {
        std::vector<Touched> result;
        groups.for_each([&](const Group &g) {
            Footprint f = footprint(g, from, nest_.buffers[static_cast<size_t>(g.buffer)]);
            const double chance = std::min(1.0, times * g.chance);
            f.bytes *= chance, f.occupied *= chance, f.runs *= chance, f.pages *= chance;
            result.push_back({&g, f});
        });
        return result;
    }

    /// The union over the groups of each buffer.
    std::map<int, Footprint> per_buffer(const std::vector<Touched> &touched,
                                        bool stores_only) const {
        std::map<int, Footprint> result;
        for (const Touched &t : touched) {
            if (stores_only && !t.group->store)
                continue;
            Footprint &f = result[t.group->buffer];
            f = f.bytes == 0 ? t.footprint : united(f, t.footprint);
            if (double all = buffer_bytes(*t.group); all > 0)
                f.bytes = std::min(f.bytes, std::ceil(all / line_bytes) * line_bytes);
        }
        return result;
    }

    /// The place of the iterations of a loop.
    Place inside(const Node &node, Place place) const {
        place.executions *= node.entries * node.trips;
        if (!node.parallel)
            return place;
        const double free = std::max(1.0, machine_.cores / place.threads);
        const double threads = std::min(free, std::ceil(node.trips - 1e-6));
        const double rounds = std::ceil(node.trips / threads - 1e-6);
        constexpr double unequal = 0.1;  // of a task, for which one core waits in the end
        place.speedup *= node.trips / (rounds + (threads > 1 ? unequal : 0));
        place.threads *= threads;
        return place;
    }

    double accesses_of(const Work &w) const {
        return std::max(w.loads / machine_.load_rate, w.stores / machine_.store_rate);
    }

    double units_of(const Work &w) const {
        const double vectors = w.arithmetic + w.simple + w.shuffles;
        const double units =
            std::max({w.arithmetic / machine_.arithmetic_rate, vectors / vector_rate,
                      w.shuffles / shuffle_rate, w.scalar / scalar_rate});
        const double all = vectors + w.loads + w.stores + w.scalar;
        return std::max(units, all / issue_rate) + w.slow;
    }

    /// Values for which there is no register are loaded again; sums are also stored, and the next iteration waits for
    /// that.
    double spill_clocks(const Node &node) const {
        constexpr double of_value = 0.5, of_sum = 2;
        const double spilled = std::max(0.0, node.live - machine_.vector_registers);
        return node.live > 0 ? spilled * (of_value + (of_sum - of_value) * node.sums / node.live)
                             : 0;
    }

    /// Arithmetic and overhead.
    void code(const Loop &loop, const Place &outside) {
        const Node &node = *loop.node;
        const double entries = outside.executions * node.entries / outside.speedup;
        const Place place = inside(node, outside);
        const double iterations = place.executions / place.speedup;
        if (node.depth >= 0)
            times(node.stage).overhead += entries * machine_.row_overhead;
        if (node.parallel)
            times(node.stage).overhead += entries * parallel_overhead(node, outside, place);
        std::map<int, Work> work = node.work;
        if (node.depth >= 0)
            work[node.stage].scalar += 2;
        if (loop.inner.empty())
            work[node.stage].slow += spill_clocks(node);
        double all = 0;
        for (const auto &[stage, w] : work) {
            all += std::max(units_of(w), accesses_of(w));
            times(stage).units += iterations * units_of(w);
            times(stage).accesses += iterations * accesses_of(w);
        }
        times(node.stage).units += iterations * std::max(0.0, node.chain - all);
        for (const auto &[stage, clocks] : node.clocks)
            times(stage).overhead += iterations * clocks;
        for (const Loop &inner : loop.inner)
            code(inner, place);
    }

    /// Clocks of elapsed time for one run of a parallel loop: threads take ranges of iterations, smaller and smaller
    /// ones. A loop that has one thread is a call.
    double parallel_overhead(const Node &node, const Place &outside, const Place &place) const {
        constexpr double call = 50;
        const double threads = place.threads / outside.threads;
        if (threads <= 1)
            return call;
        const double shares = 4 * threads;  // the first range is this part of the iterations
        const double ranges =
            std::min(node.trips, shares * (1 + std::log(std::max(1.0, node.trips / shares))));
        const double wakes = outside.threads == 1 ? machine_.parallel_overhead : 0;
        return wakes + ranges / threads * machine_.task_overhead;
    }

    double capacity(Level level, const Place &place) const {
        switch (level) {
        case L1:
            return double(machine_.l1_bytes);
        case L2:
            return double(machine_.l2_bytes);
        case L3:
            return double(machine_.l3_bytes) / place.threads;
        default:
            return tlb_pages;
        }
    }

    /// The share of an iteration's data that the next iteration still finds in the cache: all if it is smaller than the
    /// usable part, nothing if it is larger than the whole.
    double kept(const Loop &loop, const Place &place, Level level) const {
        // Cores do not find in their own caches what others left in theirs.
        const bool is_shared =
            level != L3 && machine_.cores > 1 && loop.has_parallel && !loop.node->parallel;
        if (is_shared)
            return 0;
        const double filled = loop.body[level] / capacity(level, place);
        return std::clamp((1 - filled) / (1 - usable), 0.0, 1.0);
    }

    /// Between a cache and what is beyond it. \param weight  of the part that no loop around keeps
    void transfers(const Loop &loop, const Place &outside, Level level, double weight) {
        const Node &node = *loop.node;
        const Place place = inside(node, outside);
        const double whole = kept(loop, place, level);
        if (whole > 0 && node.depth >= 0) {  // a run finds what the previous run left
            Place entry = place;
            entry.executions = outside.executions * node.entries;
            add(loop, touched(loop.all, node.depth, node.trips), entry, level, weight * whole);
        }
        if (whole >= 1)
            return;
        add(loop, touched(loop.own, node.depth + 1, 1), place, level, weight * (1 - whole));
        for (const Loop &inner : loop.inner)
            transfers(inner, place, level, weight * (1 - whole));
    }

    void add(const Loop &loop, const std::vector<Touched> &touched, const Place &place, Level level,
             double weight) {
        const std::map<int, Footprint> all = per_buffer(touched, false),
                                       stored = per_buffer(touched, true);
        std::map<int, double> sums, stores;
        for (const Touched &t : touched) {
            const double bytes = std::max(1e-9, t.footprint.bytes);
            sums[t.group->buffer] += bytes;
            stores[t.group->buffer] += t.group->store ? bytes : 0;
        }
        for (const Touched &t : touched) {
            const int b = t.group->buffer;
            const double share = all.at(b).bytes / sums.at(b);
            double bytes = share * t.footprint.bytes;
            // A line is read before it is written; writing it back overlaps with reading.
            if (t.group->store)
                bytes += write_back * stored.at(b).bytes / stores.at(b) * t.footprint.bytes;
            if (streams(*t.group))
                bytes = level == L3 ? t.footprint.bytes : 0;
            Footprint f = t.footprint;
            f.bytes = bytes * weight;
            f.runs *= share * weight, f.pages *= share * weight;
            add(loop, *t.group, f, place, level);
        }
    }

    void add(const Loop &loop, const Group &group, const Footprint &f, const Place &place,
             Level level) {
        double executions = place.executions / place.speedup;
        // Each core has to read what all iterations of a parallel loop share.
        const bool varies =
            std::any_of(group.dims.begin(), group.dims.end(),
                        [&](const Group::Dim &d) { return d.loop == loop.node->depth; });
        if (loop.node->parallel && level != L3 && !varies)
            executions *= std::min(double(machine_.cores), loop.node->trips);
        Times &sum = times(group.stage);
        sum.bytes[level] += executions * f.bytes;
        const double starts = executions * std::max(0.0, f.runs - f.bytes / page_bytes);
        if (level == TLB)
            sum.starts += executions * f.pages * walk_clocks;
        if (level == L2)
            sum.starts += starts * machine_.stream_start_l3;
        if (level == L3) {
            const double alone = streams(group) ? rates_.streams : rates_.memory;
            const double rate = std::min(alone, rates_.memory_of_all / place.threads);
            sum.dram += executions * f.bytes / rate + starts * machine_.stream_start;
        }
    }
};

}  // namespace

/// Execution units work at the same time as loads and transfers; those wait for each other. (The execution-cache-memory
/// model: Treibig and Hager 2009.)
Prediction cost(const Nest &nest, const Machine &machine, const Rates &rates) {
    constexpr double serial = 0.1;  // of the shorter one
    const std::vector<Times> times = Cost(nest, machine, rates).run();
    Prediction result;
    result.notes = nest.notes;
    const double to_ms = 1e-6 / rates.ghz;
    for (size_t i = 0; i < times.size(); i++) {
        const Times &t = times[i];
        PredictedStage s;
        s.func = nest.stages[i];
        s.arithmetic = overlapped(t.units, t.accesses, serial) * to_ms;
        s.l2 = std::max(0.0, t.bytes[L1] - t.bytes[L2]) / rates.l2 * to_ms;
        s.l3 = (std::max(0.0, t.bytes[L2] - t.bytes[L3]) / rates.l3 + t.starts) * to_ms;
        s.dram = t.dram * to_ms;
        s.overhead = t.overhead * to_ms;
        s.milliseconds =
            overlapped(t.units * to_ms, t.accesses * to_ms + s.l2 + s.l3 + s.dram, serial) +
            s.overhead;
        result.milliseconds += s.milliseconds;
        result.stages.push_back(std::move(s));
    }
    // Outside of all Funcs is hardly anything to do.
    if (!result.stages.empty() && result.stages[0].milliseconds < 0.01 * result.milliseconds)
        result.stages.erase(result.stages.begin());
    return result;
}

}  // namespace Pipe::predict
