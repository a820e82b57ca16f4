#include "autoschedule/new_loops.h"

#include <algorithm>

#include "ir/int32.h"

namespace Pipe::autoschedule {

using schedules::Transform;

NewLoops::NewLoops(schedules::StageSchedule &stage, const graph::FuncNode &func)
    : stage_(stage), taken_(func.args) {
    for (const schedules::Dim &d : stage.dims)
        taken_.push_back(d.name);
}

std::pair<std::string, std::string> NewLoops::split(const std::string &old, const char *outer,
                                                    const char *inner, int64_t factor,
                                                    TailStrategy tail) {
    Transform t;
    t.kind = Transform::Kind::Split;
    t.old_name = old;
    t.outer = fresh(old + outer);
    t.inner = fresh(old + inner);
    t.factor = ir::int32(factor);
    t.tail = tail;
    stage_.transforms.push_back(t);
    return {t.outer, t.inner};
}

std::string NewLoops::fuse(const std::string &inner, const std::string &outer) {
    Transform t;
    t.kind = Transform::Kind::Fuse;
    t.inner = inner;
    t.outer = outer;
    t.old_name = fresh(inner + "_" + outer);
    stage_.transforms.push_back(t);
    return t.old_name;
}

std::string NewLoops::fresh(const std::string &wish) {
    std::string name = wish;
    for (int i = 2; std::find(taken_.begin(), taken_.end(), name) != taken_.end(); i++)
        name = wish + std::to_string(i);
    taken_.push_back(name);
    return name;
}

}  // namespace Pipe::autoschedule
