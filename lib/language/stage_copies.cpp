#include "language/stage_copies.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "graph/names.h"
#include "graph/renumber.h"
#include "ir/visit.h"

namespace Pipe::language {
namespace {

using schedules::FuncSchedule;
using schedules::LoopLevel;
using schedules::StageSchedule;

/// Which stages read which Funcs.
struct Readers {
    std::vector<std::vector<std::pair<FuncId, int>>> of;  ///< of a Func: stages of others
    std::vector<int> reading_stages;  ///< how many of a Func's stages read others

    explicit Readers(const Graph &graph) : of(graph.funcs.size()), reading_stages(of.size()) {
        for (const FuncNode &f : graph.funcs)
            for (size_t s = 0; s < f.stages.size(); s++) {
                std::vector<FuncId> read = graph::funcs_read(f.stages[s], f.id);
                reading_stages[static_cast<size_t>(f.id)] += !read.empty();
                for (FuncId id : read)
                    of[static_cast<size_t>(id)].emplace_back(f.id, static_cast<int>(s));
            }
    }
};

/// For a Func g: the stage of g in which each Func is computed. -1: also elsewhere.
using Stages = std::set<int>;

/// Analyzes one Func g.
class Sites {
  public:
    Sites(const Frozen &frozen, const Readers &readers, FuncId g)
        : frozen_(frozen), readers_(readers), g_(g) {
        // Consumers first.
        stages_.resize(frozen.graph.funcs.size());
        for (size_t i = frozen.graph.funcs.size(); i-- > 0;)
            stages_[i] = find(static_cast<FuncId>(i));
    }

    const Stages &operator[](FuncId id) const { return stages_[static_cast<size_t>(id)]; }

  private:
    const Frozen &frozen_;
    const Readers &readers_;
    const FuncId g_;
    std::vector<Stages> stages_;

    Stages find(FuncId id) const {
        const LoopLevel &level = frozen_.schedule[id].compute;
        if (frozen_.graph[id].is_output || level.root())
            return {-1};
        bool where_read = level.inlined() || (level.func == g_ && !level.loops.empty());
        if (!where_read)
            return of_stage(level.func, level.stage);
        Stages all;
        for (const auto &[reader, stage] : readers_.of[static_cast<size_t>(id)])
            all.merge(of_stage(reader, stage));
        return all;
    }

    Stages of_stage(FuncId id, int stage) const {
        return id == g_ ? Stages{stage} : stages_[static_cast<size_t>(id)];
    }
};

/// Creates the copies for the stages of one Func g.
class Copier {
  public:
    Copier(Frozen &frozen, FuncId g, const Sites &sites) : frozen_(frozen), g_(g) {
        Graph &graph = frozen.graph;
        for (const FuncNode &f : graph.funcs)
            taken_.insert(f.name);
        for (const Image &image : graph.images)
            taken_.insert(image.name);
        for (const Scalar &scalar : graph.scalars)
            taken_.insert(scalar.name);
        const size_t originals = graph.funcs.size();
        for (size_t i = 0; i < originals; i++) {
            order_.push_back(i);
            auto id = static_cast<FuncId>(i);
            if (id == g || sites[id].empty() || sites[id].count(-1))
                continue;
            for (int stage : sites[id])
                instances_[{id, stage}] = stage == *sites[id].begin() ? id : copy(id);
        }
    }

    void run() {
        Graph &graph = frozen_.graph;
        const std::vector<FuncNode> funcs = graph.funcs;
        const std::vector<FuncSchedule> schedules = frozen_.schedule.funcs;
        for (const auto &[from, to] : instances_) {
            const auto &[id, stage] = from;
            auto i = static_cast<size_t>(id), k = static_cast<size_t>(to);
            for (size_t s = 0; s < funcs[i].stages.size(); s++) {
                graph.funcs[k].stages[s] = funcs[i].stages[s];
                rewrite(graph.funcs[k].stages[s], stage);
            }
            frozen_.schedule.funcs[k] = schedules[i];
            place(frozen_.schedule.funcs[k], stage);
        }
        auto g = static_cast<size_t>(g_);
        for (size_t s = 0; s < graph.funcs[g].stages.size(); s++) {
            rewrite(graph.funcs[g].stages[s], static_cast<int>(s));
            prefetches(frozen_.schedule.funcs[g].stages[s], static_cast<int>(s));
        }
        graph::renumber(graph, frozen_.schedule, order_);
        graph::connect(graph, [](const FuncNode &) { return true; });
    }

  private:
    Frozen &frozen_;
    const FuncId g_;
    std::set<std::string> taken_;
    std::map<std::pair<FuncId, int>, FuncId> instances_;  ///< for a Func and a stage
    std::vector<size_t> order_;

    FuncId copy(FuncId id) {
        Graph &graph = frozen_.graph;
        FuncNode node = graph[id];
        node.name = graph::unique_name(node.name, taken_);
        node.is_copy = true;
        order_.push_back(graph.funcs.size());
        graph.funcs.push_back(std::move(node));
        frozen_.schedule.funcs.push_back(FuncSchedule());
        return static_cast<FuncId>(graph.funcs.size() - 1);
    }

    FuncId instance(FuncId id, int stage) const {
        auto found = instances_.find({id, stage});
        return found == instances_.end() ? id : found->second;
    }

    /// Redirects the stage's calls to its copies.
    void rewrite(Stage &definition, int stage) const {
        struct Calls : ir::GraphMutator {
            const Copier &copier;
            int stage;
            Calls(const Copier &c, int s) : copier(c), stage(s) {}
            using GraphMutator::mutate;
            Expr rewrite(const Expr &e) override {
                Expr now = GraphMutator::rewrite(e);
                if (now->op != ir::Op::Call || now->call_kind != ir::CallKind::Func)
                    return now;
                auto id = static_cast<FuncId>(now->int_value);
                FuncId other = copier.instance(id, stage);
                if (other == id)
                    return now;
                auto *node = new ir::ExprNode(ir::Op::Call, now.type());
                node->call_kind = ir::CallKind::Func;
                node->index = now->index;
                node->int_value = static_cast<int64_t>(other);
                node->args = now->args;
                node->name = copier.frozen_.graph[other].name;
                return Expr(node);
            }
        } calls(*this, stage);
        graph::for_each_expr(definition, [&](Expr &e) { e = calls.mutate(e); });
    }

    void place(FuncSchedule &s, int stage) const {
        for (LoopLevel *level : {&s.compute, &s.store, &s.hoist})
            place(*level, stage);
        for (StageSchedule &loops : s.stages)
            place(loops, stage);
    }

    void place(StageSchedule &s, int stage) const {
        place(s.fuse_level, stage);
        prefetches(s, stage);
        for (schedules::Specialization &special : s.specializations)
            place(special.schedule, stage);
    }

    void place(LoopLevel &level, int stage) const {
        if (!level.at())
            return;
        if (level.func == g_ && !level.loops.empty()) {
            level.stage = stage;
            level.var = level.loops[static_cast<size_t>(stage)];
        }
        level.func = instance(level.func, stage);
    }

    void prefetches(StageSchedule &s, int stage) const {
        for (schedules::Prefetch &p : s.prefetches)
            for (const FuncNode &f : frozen_.graph.funcs)
                if (f.name == p.source && instance(f.id, stage) != f.id) {
                    p.source = frozen_.graph[instance(f.id, stage)].name;
                    break;
                }
    }
};

bool names_every_stage(const LoopLevel &level) {
    return level.at() && level.loops.size() > 1;
}

/// A Func at whose loops others are computed in several stages.
bool needs_copies(const Frozen &frozen, FuncId g, const Sites &sites) {
    bool several = false;
    for (const FuncNode &f : frozen.graph.funcs) {
        const FuncSchedule &s = frozen.schedule[f.id];
        if (!names_every_stage(s.compute) || s.compute.func != g || sites[f.id].count(-1))
            continue;
        for (const LoopLevel *level : {&s.compute, &s.store, &s.hoist})
            for (int stage : sites[f.id])
                if (level->at() && level->func == g && !level->loops.empty() &&
                    level->loops[static_cast<size_t>(stage)].empty())
                    return false;
        several |= sites[f.id].size() > 1;
    }
    return several;
}

}  // namespace

void copy_for_stages(Frozen &frozen) {
    std::set<std::string> done;
    std::optional<Readers> readers;
    while (true) {
        // Consumers first: their copies have their own loops.
        FuncId g = FuncId::None;
        for (const FuncSchedule &s : frozen.schedule.funcs)
            if (names_every_stage(s.compute) && !done.count(frozen.graph[s.compute.func].name))
                g = std::max(g, s.compute.func);
        if (g == FuncId::None)
            return;
        done.insert(frozen.graph[g].name);
        if (!readers)
            readers.emplace(frozen.graph);
        if (readers->reading_stages[static_cast<size_t>(g)] < 2)
            continue;
        Sites sites(frozen, *readers, g);
        if (needs_copies(frozen, g, sites)) {
            Copier(frozen, g, sites).run();
            readers.reset();
        }
    }
}

}  // namespace Pipe::language
