#include "predict/body.h"

#include <algorithm>

namespace Pipe::predict {

Body::Body(Nest &nest, Numbers &numbers, const Target &target)
    : nest_(nest), numbers_(numbers), target_(target) {
    levels_.emplace_back(&nest.root);
}

void Body::enter(Node &loop) {
    levels_.emplace_back(&loop);
    levels_.back().mark = log_.size();
    shared_.clear();
}

void Body::leave() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    end_of_body(level);
    for (const std::string &name : level.produced)
        if (Array *array = arrays_.find(name)) {
            array->depth = std::min(array->depth, inner_depth());
            levels_.back().produced.push_back(name);
        }
    forget_since(level.mark);
}

void Body::enter_branch(double chance, uint64_t condition) {
    Level &level = levels_.back();
    level.branches.push_back({level.chance, log_.size(), condition});
    level.chance *= chance;
    shared_.clear();
    for (const Value &v : level.known_in[condition])
        if (known_.try_emplace(v.id, v).second)
            log_.push_back(v.id);
}

void Body::leave_branch() {
    Level &level = levels_.back();
    const Level::Branch branch = level.branches.back();
    level.branches.pop_back();
    level.chance = branch.chance;
    std::vector<Value> &known = level.known_in[branch.condition];
    known.clear();
    for (size_t i = branch.mark; i < log_.size(); i++)
        known.push_back(known_.at(log_[i]));
    forget_since(branch.mark);
}

void Body::bind(const std::string &name, const Expr &value) {
    definitions_.push(name, {value, std::nullopt});
    shared_.clear();
}

void Body::unbind(const std::string &name) {
    definitions_.pop(name);
    shared_.clear();
}

void Body::allocate(const BufferInfo &buffer, bool in_registers) {
    arrays_.push(buffer.name, {static_cast<int>(nest_.buffers.size()), in_registers, inner_depth(),
                               false, ++versions_});
    nest_.buffers.push_back(buffer);
}

void Body::free(const std::string &name) {
    arrays_.pop(name);
    shared_.clear();
}

/// The values of a Func lie in arrays "f", or "f.0", "f.1", .. of a tuple.
void Body::begin_production(const std::string &func, int stage) {
    stages_.push_back(stage);
    for (int i = -1; i < 8; i++)
        if (Array *array = arrays_.find(i < 0 ? func : func + "." + std::to_string(i))) {
            array->depth = inner_depth();
            array->produced = true;
            levels_.back().produced.push_back(i < 0 ? func : func + "." + std::to_string(i));
        }
}

void Body::end_production(const std::string &func) {
    stages_.pop_back();
    for (int i = -1; i < 8; i++)
        if (Array *array = arrays_.find(i < 0 ? func : func + "." + std::to_string(i)))
            array->produced = false;
}

void Body::evaluate(const Expr &e) {
    if (e.defined())
        value(e);
}

/// Processors foresee most outcomes that depend on data, and all of a condition that was decided just before.
uint64_t Body::decide(const Expr &condition, const Form &form) {
    constexpr double misprediction = 15, unforeseen = 0.3;
    const Value v = value(condition);
    const double chance = std::clamp(form.mean, 0.0, 1.0);
    if (form.data && levels_.back().decided.insert(v.id).second)
        spend(2 * std::min(chance, 1 - chance) * unforeseen * misprediction);
    return v.id;
}

void Body::spend(double clocks) {
    loop().clocks[stage()] += clocks * chance();
}

/// A value that changes in loops up to this depth is computed there; nothing is moved out of a parallel
/// loop, whose body is a function of its own.
int Body::hoisted(int depth) const {
    for (size_t i = levels_.size(); i-- > 1;)
        if (levels_[i].node->parallel)
            return std::max(depth, levels_[i].node->depth);
    return depth;
}

void Body::charge(int depth, const Work &work) {
    Level &level = levels_[static_cast<size_t>(hoisted(depth) + 1)];
    level.node->work[stage()] += work * level.chance;
}

const Value *Body::find(uint64_t id) const {
    auto found = known_.find(id);
    return found == known_.end() ? nullptr : &found->second;
}

const Value &Body::add(Value v) {
    auto [at, is_new] = known_.insert_or_assign(v.id, v);
    if (is_new)
        log_.push_back(v.id);
    Level &level = levels_[static_cast<size_t>(hoisted(v.depth) + 1)];
    level.live[v.id] = {level.clock, level.clock, v.regs};
    level.clock++;
    return at->second;
}

void Body::use(const Value &v) {
    if (v.regs == 0)
        return;
    Level &inner = levels_.back();
    if (auto found = inner.live.find(v.id); found != inner.live.end())
        found->second.last = ++inner.clock;
    else if (v.depth < inner_depth())
        inner.invariants[v.id] = v.regs;
}

void Body::forget_since(size_t mark) {
    for (size_t i = mark; i < log_.size(); i++)
        known_.erase(log_[i]);
    log_.resize(mark);
    shared_.clear();
}

/// The largest number of registers in use at a time, and the longest chain through arrays in registers.
void Body::end_of_body(Level &level) {
    std::vector<std::pair<int, double>> events;
    for (const auto &[id, i] : level.live) {
        events.emplace_back(2 * i.first + 1, i.regs);
        events.emplace_back(2 * i.last + 2, -i.regs);
    }
    std::sort(events.begin(), events.end());
    double live = 0, most = 0;
    for (const auto &[time, regs] : events)
        most = std::max(most, live += regs);
    for (const auto &[id, regs] : level.kept)
        most += regs, level.node->sums += regs;
    for (const auto &[id, regs] : level.invariants)
        most += regs;
    level.node->live = most;
    for (const auto &[name, v] : level.elements)
        level.node->chain = std::max(level.node->chain, v.chain);
}

}  // namespace Pipe::predict
