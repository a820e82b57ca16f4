// Stage: the schedule of one definition of a Func.

#include <fmt/format.h>

#include "language/contents.h"
#include "language/nest.h"
#include <pipe/func.h>

namespace Pipe {

using language::FuncContents;
using schedules::Dim;
using schedules::StageSchedule;

Stage::Stage(std::shared_ptr<FuncContents> func, int stage, std::vector<size_t> specialization)
    : func_(std::move(func)), stage_(stage), specialization_(std::move(specialization)) {}

std::string Stage::name() const {
    return stage_ == 0 ? func_->name() : fmt::format("{}.update({})", func_->name(), stage_ - 1);
}

std::vector<VarOrRVar> Stage::loops() const {
    std::vector<VarOrRVar> result;
    for (const Dim &d : schedule().dims) {
        result.emplace_back(d.name);
        result.back().is_rvar = d.is_reduction;
    }
    return result;
}

std::vector<VarOrRVar> Stage::split_vars() const {
    std::vector<VarOrRVar> result = loops();
    result.emplace_back(Var::outermost());
    return result;
}

std::vector<Var> Func::split_vars() const {
    std::vector<Var> result;
    for (const VarOrRVar &v : Stage(*this).split_vars())
        result.emplace_back(v.name);
    return result;
}

StageSchedule &Stage::schedule() const {
    if (!func_->defined())
        throw CompileError(
            fmt::format("{} is scheduled before it is defined. Write its definition before its "
                        "schedule.",
                        func_->description()));
    StageSchedule *s = &func_->schedule.stages[static_cast<size_t>(stage_)];
    for (size_t i : specialization_)
        s = &s->specializations[i].schedule;
    return *s;
}

void Stage::unscheduled() {
    language::Nest nest(*this, "unscheduled");
    if (nest.schedule().touched)
        nest.fail("it already has directives. Remove them, or unscheduled().");
    nest.done();
}

}  // namespace Pipe
