#include "schedule/specialize.h"

#include <algorithm>

#include "ir/equal.h"

namespace Pipe::schedules {

namespace {

bool is_for(const Specialization &s, const Expr &condition) {
    return s.condition.defined() && ir::equal(s.condition, condition);
}

/// The stage if the condition holds: its specialized schedule, after the conditions that come
/// before.
void decide_true(StageSchedule &stage, const Expr &condition) {
    for (;;) {
        auto &specials = stage.specializations;
        auto found = std::find_if(specials.begin(), specials.end(),
                                  [&](const auto &s) { return is_for(s, condition); });
        if (found == specials.end())
            return;
        StageSchedule now = found->schedule;
        now.specializations.insert(now.specializations.begin(),
                                   std::make_move_iterator(specials.begin()),
                                   std::make_move_iterator(found));
        stage = std::move(now);
    }
}

void decide_false(StageSchedule &stage, const Expr &condition) {
    auto &specials = stage.specializations;
    specials.erase(std::remove_if(specials.begin(), specials.end(),
                                  [&](const auto &s) { return is_for(s, condition); }),
                   specials.end());
    for (Specialization &s : specials)
        decide_false(s.schedule, condition);
}

}  // namespace

std::optional<Branch> branch(const schedules::Schedule &schedule) {
    for (size_t f = 0; f < schedule.funcs.size(); f++)
        for (const StageSchedule &stage : schedule.funcs[f].stages) {
            if (stage.specializations.empty())
                continue;
            const Specialization &first = stage.specializations.front();
            Branch b{first.condition, first.failure, static_cast<FuncId>(f), {}, {}};
            if (!first.condition.defined())
                return b;
            b.holds = b.otherwise = schedule;
            for (FuncSchedule &func : b.holds.funcs)
                for (StageSchedule &s : func.stages)
                    decide_true(s, first.condition);
            for (FuncSchedule &func : b.otherwise.funcs)
                for (StageSchedule &s : func.stages)
                    decide_false(s, first.condition);
            return b;
        }
    return std::nullopt;
}

}  // namespace Pipe::schedules
