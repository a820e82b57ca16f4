#include <pipe/loop_level.h>

#include <fmt/format.h>

#include "language/contents.h"
#include <pipe/func.h>

namespace Pipe {

using Kind = schedules::LoopLevel::Kind;

LoopLevel::LoopLevel() : contents_(std::make_shared<Contents>()) {}

LoopLevel::LoopLevel(const schedules::LoopLevel &level) : LoopLevel() {
    contents_->level = level;
    contents_->defined = true;
}

LoopLevel::LoopLevel(const Func &func, const VarOrRVar &var, int stage_index)
    : LoopLevel(schedules::LoopLevel{Kind::At, FuncId::None, stage_index, var.name,
                                     func.contents()->identity->number,
                                     func.contents()->identity->name}) {}

LoopLevel LoopLevel::inlined() {
    return LoopLevel(schedules::LoopLevel());
}

LoopLevel LoopLevel::root() {
    return LoopLevel(schedules::LoopLevel{Kind::Root});
}

void LoopLevel::set(const LoopLevel &other) {
    if (contents_->locked)
        throw CompileError(
            fmt::format("LoopLevel::set({}): the level is locked, because a pipeline that uses "
                        "it has been compiled. Set it before compiling.",
                        other.to_string()));
    contents_->level = other.contents_->level;
    contents_->defined = other.contents_->defined;
}

LoopLevel &LoopLevel::lock() {
    contents_->locked = true;
    return *this;
}

bool LoopLevel::defined() const {
    return contents_->defined;
}
bool LoopLevel::locked() const {
    return contents_->locked;
}
bool LoopLevel::is_inlined() const {
    return defined() && contents_->level.inlined();
}
bool LoopLevel::is_root() const {
    return defined() && contents_->level.root();
}

const schedules::LoopLevel &LoopLevel::loop(const char *what) const {
    if (!defined() || !contents_->level.at())
        throw CompileError(fmt::format("LoopLevel::{}: the level is {}, so it names no loop.", what,
                                       defined() ? to_string() : "undefined"));
    return contents_->level;
}

std::string LoopLevel::func() const {
    return loop("func").func_name;
}
VarOrRVar LoopLevel::var() const {
    return loop("var").var;
}
int LoopLevel::stage_index() const {
    return loop("stage_index").stage;
}

std::string LoopLevel::to_string() const {
    if (!defined())
        return "undefined";
    return is_root() ? "root" : is_inlined() ? "inlined" : func() + "." + var().name;
}

bool LoopLevel::operator==(const LoopLevel &other) const {
    return defined() == other.defined() && contents_->level == other.contents_->level &&
           contents_->level.func_number == other.contents_->level.func_number;
}

}  // namespace Pipe
