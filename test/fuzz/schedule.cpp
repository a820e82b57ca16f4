#include "fuzz/schedule.h"

#include <algorithm>

#include "fuzz/rewrite.h"
#include "fuzz/scheduler.h"

namespace Pipe::fuzz {

Scheduler::Scheduler(Algorithm &algorithm, Mode mode, Rules rules, std::vector<Box> &sizes,
                     Choices &choices)
    : a_(algorithm), mode_(mode), rules_(rules), sizes_(sizes), c_(choices) {
    rewrite(a_, c_, info_.text);
    plans_.resize(a_.sources.size());
    for (const Source &s : a_.sources) {
        auto n = static_cast<size_t>(s.dimensions);
        info_.slack.emplace_back(n);
        info_.min_extent.emplace_back(n, 1);
        info_.multiple.emplace_back(n, 1);
        info_.slack.back()[0] = {s.rounding - 1, s.rounding - 1};
    }
}

ScheduleInfo Scheduler::run() {
    auto count = static_cast<int>(a_.sources.size());
    for (int i = count; i-- > 0;) {
        if (!source(i).is_image)
            schedule_func(i);
    }
    for (int i = 0; i < count && mode_ != Mode::Auto && mode_ != Mode::AutoGPU; i++) {
        for (size_t k = 0; k < plan(i).stages.size(); k++)
            prefetch(i, static_cast<int>(k));
    }
    for (const auto &directive : later_)
        directive();
    for (int left = rules_ == Rules::None ? c_.between(1, 2) : 0; left > 0; left--)
        any_directive();
    fit_sizes(a_, info_, sizes_);
    return std::move(info_);
}

/// The loops around the innermost statement of a stage. Those that it shares are its host's.
Path Scheduler::path_of(int i, size_t stage) const {
    Path path = plan(i).path;
    if (!plan(i).hosts)
        return path;
    const StagePlan &s = plan(i).stages[stage];
    size_t outside = path.size();
    if (s.host >= 0) {
        Path host = path_of(s.host, s.host_stage);
        path.assign(host.begin(), host.begin() + static_cast<long>(outside) + s.shared);
    }
    for (size_t l = s.loops.size() - (path.size() - outside); l-- > 0;)
        path.push_back({i, static_cast<int>(stage), s.loops[l]});
    return path;
}

std::vector<Path> Scheduler::uses_of(int i) const {
    std::vector<Path> result;
    for (int j = i + 1; j < static_cast<int>(plans_.size()); j++) {
        if (!plan(j).scheduled)
            continue;
        for (size_t k = 0; k < source(j).stages.size(); k++) {
            const auto &accesses = source(j).stages[k].accesses;
            bool reads = std::any_of(accesses.begin(), accesses.end(),
                                     [&](const Access &access) { return access.source == i; });
            if (!reads)
                continue;
            if (plan(j).inlined)
                result.insert(result.end(), plan(j).uses.begin(), plan(j).uses.end());
            else
                result.push_back(path_of(j, k));
        }
    }
    return result;
}

Path common_path(const std::vector<Path> &uses) {
    Path path = uses.at(0);
    for (const Path &use : uses) {
        auto end = std::mismatch(path.begin(), path.end(), use.begin(), use.end()).first;
        path.erase(end, path.end());
    }
    return path;
}

/// A C function gets all of it: it is computed.
bool Scheduler::read_as_whole(int i) const {
    return std::any_of(a_.sources.begin(), a_.sources.end(), [&](const Source &s) {
        return s.is_extern && s.stages[0].accesses[0].source == i;
    });
}

Stage Scheduler::stage_of(int func, int stage) const {
    const Func &f = source(func).func;
    return stage == 0 ? Stage(f) : f.update(stage - 1);
}

std::string Scheduler::name_of(int func, int stage) const {
    std::string update = stage == 0 ? "" : ".update(" + std::to_string(stage - 1) + ")";
    return source(func).name + update;
}

void Scheduler::begin(int i) {
    const Source &s = source(i);
    Plan &p = plan(i);
    p.scheduled = true;
    p.hosts = !c_.chance(20);
    p.alone = s.is_extern;
    for (const StageInfo &stage : s.stages) {
        p.stages.emplace_back();
        for (const LoopVar &loop : stage.loops) {
            auto name = std::find(s.vars.begin(), s.vars.end(), loop.loop.name);
            int dim = loop.reduction ? -1 : static_cast<int>(name - s.vars.begin());
            p.stages.back().loops.push_back({loop, LoopKind::Serial, dim});
        }
    }
}

void Scheduler::schedule_func(int i) {
    Source &s = source(i);
    Plan &p = plan(i);
    p.uses = s.output ? std::vector<Path>{Path()} : uses_of(i);
    if (p.uses.empty())
        return;  // nobody needs it
    begin(i);
    if (mode_ == Mode::Auto || mode_ == Mode::AutoGPU) {
        p.hosts = false;
        return;
    }
    bool shares = try_compute_with(i);
    if (!shares)
        choose_level(i);
    if (p.inlined || (mode_ == Mode::AutoWithDirectives && !c_.chance(40)))
        return;
    if (s.output && !shares)
        bound_dims(i);
    if (!s.output) {
        memory(i);
        memoize(i);
    }
    for (size_t k = 0; k < s.stages.size() && !s.is_extern; k++) {
        if (p.stages[k].host < 0)
            stage_directives(i, static_cast<int>(k));
    }
}

ScheduleInfo give_schedule(Algorithm &algorithm, Mode mode, Rules rules, std::vector<Box> &sizes,
                           Choices &choices) {
    return Scheduler(algorithm, mode, rules, sizes, choices).run();
}

void fit_sizes(const Algorithm &algorithm, const ScheduleInfo &info, std::vector<Box> &sizes) {
    std::vector<Box> before, needed;
    do {  // what is read of one output may grow with another
        before = sizes;
        required_boxes(algorithm, sizes, info.slack, &needed);
        for (size_t i = 0; i < sizes.size(); i++) {
            auto source = static_cast<size_t>(algorithm.outputs[i]);
            for (size_t d = 0; d < sizes[i].size(); d++) {
                Interval &range = sizes[i][d];
                range.include(needed[i][d]);
                int extent = std::max(range.extent(), info.min_extent[source][d]);
                int multiple = info.multiple[source][d];
                extent = (extent + multiple - 1) / multiple * multiple;
                range.high = range.low + extent - 1;
                int rounding = d == 0 ? algorithm.sources[source].rounding : 1;
                while ((range.high + 1) % rounding != 0)
                    range.high++;
            }
        }
    } while (before != sizes);
}

}  // namespace Pipe::fuzz
