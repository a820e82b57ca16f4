#include "autoschedule/block_cache.h"

#include <algorithm>
#include <bit>

namespace Pipe::autoschedule {

using poly::Access;
using poly::Coordinate;

namespace {

class FormWriter {
  public:
    std::vector<int64_t> form;

    void add(int64_t value) { form.push_back(value); }
    void add(uint64_t bits) { form.push_back(static_cast<int64_t>(bits)); }
    void add(int value) { form.push_back(value); }
    void add(bool value) { form.push_back(value); }
    void add(double value) { form.push_back(std::bit_cast<int64_t>(value)); }
    void add(const poly::Range &r) { add(r.min), add(r.max); }

    void add(const Arithmetic &a) {
        add(a.sums), add(a.products), add(a.other), add(a.tests), add(a.divisions);
        add(a.count), add(a.widest);
    }

    void add(const Coordinate &c) {
        add(c.iterator), add(c.num), add(c.den);
        add(c.distance), add(c.steady), add(c.range);
        add(c.constant), add(c.may_use), add(c.period), add(c.reductions), add(c.follows);
    }

    void add(const Access &a) {
        add(a.bytes), add(a.replaceable);
        add_all(a.coords);
    }

    void add(const Work &w) { add(w.variables), add(w.arithmetic); }
    void add(const Evaluated &e) { add(e.arithmetic), add(e.variables), add(e.at); }

    template <typename List> void add_all(const List &list) {
        add(list.size());
        for (const auto &element : list)
            add(element);
    }
};

/// Of all stages of the node.
int64_t loads_of_buffer(const Node &node, const Access &buffer) {
    int64_t count = 0;
    for (const StageCost &stage : node.stages)
        count += std::count_if(stage.loads.begin(), stage.loads.end(),
                               [&](const Access &load) { return load.same_buffer(buffer); });
    return count;
}

}  // namespace

BlockCache::Form BlockCache::form_of(const Node &node, size_t stage) {
    FormWriter w;
    w.add(stage == 0), w.add(node.bytes), w.add(node.widest), w.add(node.dims());
    w.add(node.points() > few_points);
    const StageCost &cost = node.stages[stage];
    w.add(cost.arithmetic), w.add_all(cost.own_work), w.add_all(cost.evaluated);
    w.add(cost.repeats), w.add_all(cost.rvars), w.add(cost.constant_rvars);
    w.add(cost.regroups_fast), w.add(cost.regroups), w.add(cost.in_order);
    w.add(cost.terms_per_sum), w.add_all(cost.narrow_work);
    w.add(cost.scatters), w.add(cost.is_scan);
    w.add_all(cost.loops_over), w.add_all(cost.busiest);
    for (const Access &load : cost.loads)
        w.add(load), w.add(load.func == node.id), w.add(loads_of_buffer(node, load));
    return std::move(w.form);
}

int BlockCache::form(const Node &node, size_t stage) {
    auto [at, is_new] = known_.try_emplace({node.id, node.version, stage});
    if (is_new)
        at->second =
            forms_.try_emplace(form_of(node, stage), static_cast<int>(forms_.size())).first->second;
    return at->second;
}

const std::optional<RegisterBlock> &BlockCache::block(const Node &node, size_t stage,
                                                      const std::vector<int64_t> &extents,
                                                      const Machine &machine, int cores) {
    auto [at, is_new] =
        blocks_.try_emplace({form(node, stage), extents, machine.vector_registers, cores});
    if (is_new)
        at->second = reduction_block(node, stage, extents, machine, cores);
    return at->second;
}

}  // namespace Pipe::autoschedule
