#include "predict/body.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/fold.h"
#include "ir/intrinsics.h"
#include "ir/shared.h"
#include "predict/instructions.h"

namespace Pipe::predict {

using ir::ExprNode;
using ir::Op;

namespace {

constexpr double forwarding = 5;  ///< clocks from a store to a load of the same element

class Hash {
  public:
    Hash &add(uint64_t x) {
        h_ = (h_ ^ x) * 0x9e3779b97f4a7c15;
        h_ ^= h_ >> 29;
        return *this;
    }
    Hash &add(double x) { return add(std::bit_cast<uint64_t>(x)); }
    Hash &add(const std::string &s) { return add(std::hash<std::string>()(s)); }
    Hash &add(Type t) { return add(uint64_t(t.code()) << 32 | uint64_t(t.bits()) << 16 | uint64_t(t.lanes())); }
    Hash &add(const Form &f) {
        add(f.value).add(f.mean).add(f.lane_step);
        for (const Term &t : f.terms)
            add(uint64_t(t.loop)).add(t.step).add(t.distinct);
        return *this;
    }
    uint64_t get() const { return h_; }

  private:
    uint64_t h_ = 0x2545f4914f6cdd1d;
};

/// Index arithmetic that address computations and strength reduction make free.
bool is_index_type(Type type) {
    return type.is_int() && type.bits() >= 32;
}

bool always(const Expr &predicate) {
    return !predicate.defined() || ir::is_const(predicate, 1);
}

}  // namespace

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
    arrays_.push(buffer.name, {static_cast<int>(nest_.buffers.size()), in_registers, inner_depth(), false, ++versions_});
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

// ---- values

Value Body::value(const Expr &e) {
    if (!ir::is_shared(e))
        return compute(e);
    if (auto found = shared_.find(e.get()); found != shared_.end())
        return found->second.second;
    Value v = compute(e);
    shared_.emplace(e.get(), std::pair{e, v});
    return v;
}

Value Body::compute(const Expr &e) {
    switch (e->op) {
    case Op::IntImm:
    case Op::UIntImm:
        return {Hash().add(e.type()).add(e->uint_value).get(), -1, 0};
    case Op::FloatImm:
        return {Hash().add(e.type()).add(e->float_value).get(), -1, 0};
    case Op::StringImm:
        return {Hash().add(e->name).get(), -1, 0};
    case Op::Variable:
        return variable(*e.get());
    case Op::Let:
        return let(*e.get());
    case Op::Load:
        return load(*e.get());
    case Op::Broadcast:
        return broadcast(e);
    case Op::Call:
        if (ir::is_intrinsic(*e.get(), ir::intrinsic::if_then_else))
            return conditional(e);
        break;
    default:
        break;
    }
    const bool may_be_free = is_index_type(e.type()) && e.type().is_scalar();
    return may_be_free ? number(e) : operation(e);
}

Value Body::variable(const ExprNode &e) {
    if (Definition *d = definitions_.find(e.name)) {
        if (!d->known) {
            Value v = value(d->value);
            definitions_.find(e.name)->known = v;
            return v;
        }
        return *d->known;
    }
    const Form *form = numbers_.find(e.name);
    const double regs = e.type.is_float() ? 1 : 0;
    return {Hash().add(e.name).get(), form ? form->depth() : -1, regs};
}

/// An integer scalar: a sum of multiples of loop variables costs nothing.
Value Body::number(const Expr &e) {
    const Form f = numbers_.of(e);
    if (!f.linear || f.data)
        return operation(e);
    return {Hash().add(f).get(), f.depth(), 0};
}

Value Body::let(const ExprNode &e) {
    numbers_.bind(e.name, numbers_.of(e.args[0]));
    bind(e.name, e.args[0]);
    Value v = value(e.args[1]);
    unbind(e.name);
    numbers_.unbind(e.name);
    return v;
}

/// Constants are broadcast outside of all loops, and loads broadcast what they load.
Value Body::broadcast(const Expr &e) {
    Value v = value(e->args[0]);
    if (v.regs == 0 && v.depth < 0)
        return {Hash().add(v.id).add(e.type()).get(), -1, 1};
    v.id = Hash().add(v.id).add(e.type()).get();
    v.regs = 1;
    if (find(v.id))
        return *find(v.id);
    if (e->args[0]->op != Op::Load)
        charge(v.depth, instructions_of(*e.get(), target_));
    return add(v);
}

Value Body::conditional(const Expr &e) {
    const Value condition = value(e->args[0]);
    const double chance = numbers_.chance(e->args[0]);
    enter_branch(chance, condition.id);
    Value v = value(e->args[1]);
    leave_branch();
    enter_branch(1 - chance, ~condition.id);
    const Value other = value(e->args[2]);
    leave_branch();
    v.id = Hash().add(condition.id).add(v.id).add(other.id).get();
    v.depth = std::max({v.depth, other.depth, condition.depth});
    v.chain = std::max(v.chain, other.chain);
    return add(v);
}

Value Body::operation(const Expr &e) {
    Value result;
    Hash hash;
    hash.add(uint64_t(e->op)).add(e.type()).add(e->name).add(uint64_t(e->index)).add(e->uint_value);
    std::optional<uint64_t> multiplied;
    for (const Expr &arg : e->args) {
        if (!arg.defined())
            continue;
        const Value v = value(arg);
        use(v);
        hash.add(v.id);
        result.depth = std::max(result.depth, v.depth);
        if (v.chain > result.chain)
            result.chain = v.chain, result.origin = v.origin;
        if (arg->op == Op::Mul && arg.type().is_float() && v.depth == result.depth)
            multiplied = v.id;
    }
    if (ir::is_binary(e->op) && ir::is_commutative(e->op)) {
        hash = Hash();
        hash.add(uint64_t(e->op)).add(e.type());
        hash.add(value(e->args[0]).id + value(e->args[1]).id);
    }
    result.id = hash.get();
    if (const Value *known = find(result.id))
        return *known;
    result.regs = registers(e.type(), target_);
    if (e.type().is_scalar() && !e.type().is_float())
        result.regs = 0;
    const bool fused = multiplied && e.type().is_float() && (e->op == Op::Add || e->op == Op::Sub);
    if (result.chain >= 0)
        result.chain += latency_of(*e.get());
    if (fused)  // the product is in no register
        levels_.back().live.erase(*multiplied);
    else
        charge(result.depth, instructions_of(*e.get(), target_));
    return add(result);
}

// ---- memory

Value Body::load(const ExprNode &e) {
    const Form index = numbers_.of(e.args[0]);
    const Array *found = arrays_.find(e.name);
    if (!always(e.args[1]))
        value(e.args[1]);
    if (!found)
        return {Hash().add(e.name).add(index).get(), inner_depth(), 1};
    const Array array = *found;
    if (array.in_registers)
        return element(e, index);
    Value v;
    v.regs = registers(e.type, target_);
    if (e.type.is_scalar() && !e.type.is_float())
        v.regs = 0;
    // What is stored in the same loops changes with them, unless it stays in a register meanwhile.
    const bool accumulates = storing_ && storing_->name == e.name && stored_index_.terms.size() == index.terms.size() &&
                             stored_index_.value == index.value && !index.data;
    v.depth = std::max(index.depth(), array.produced && !accumulates ? inner_depth() : array.depth);
    Hash hash;
    hash.add(e.name).add(array.version).add(e.type);
    if (index.data || !index.even)
        hash.add(value(e.args[0]).id);
    else
        hash.add(index);
    v.id = hash.get();
    if (array.produced) {
        v.chain = 0, v.origin = v.id;
        reads_[v.id] = {e.name, index};
    }
    if (const Value *known = find(v.id))
        return *known;
    index_work(e.args[0], index);
    Work work = load_of(e.type, index.lane_step, index.even, target_);
    work.loads *= 1 + crossing(index, e.type);
    charge(v.depth, work);
    access(array, index, e.type, false, v.depth);
    return add(v);
}

/// An element of an array in registers: what was stored there in this iteration, or before it.
Value Body::element(const ExprNode &e, const Form &index) {
    Level &level = levels_.back();
    const std::string place = e.name + "@" + std::to_string(index.value) + "x" + std::to_string(e.type.lanes());
    for (size_t i = levels_.size(); i-- > 0;)
        if (auto found = levels_[i].elements.find(place); found != levels_[i].elements.end()) {
            if (i + 1 == levels_.size())
                return found->second;
            break;
        }
    Value v{Hash().add(place).add(++versions_).get(), inner_depth(), 0, 0};
    v.origin = v.id;
    level.kept[Hash().add(place).get()] = registers(e.type, target_);
    return v;
}

/// Accesses of a whole register that touch two cache lines, as a share.
double Body::crossing(const Form &index, Type type) const {
    constexpr double line = 64;
    if (type.is_scalar() || std::abs(index.lane_step) != 1)
        return 0;
    const double bytes = std::min<double>(type.lanes() * type.bytes(), target_.natural_vector_size(UInt(8)));
    double offset = index.value * type.bytes();
    if (index.lane_step < 0)
        offset -= bytes - type.bytes();
    for (const Term &t : index.terms)
        if (std::fmod(std::abs(t.step) * type.bytes(), bytes) != 0)
            return (bytes - type.bytes()) / line;
    const double at = offset - line * std::floor(offset / line);
    return at + bytes > line ? 1 : 0;
}

void Body::access(const Array &array, const Form &index, Type type, bool store, int depth) {
    Level &level = levels_[static_cast<size_t>(hoisted(depth) + 1)];
    level.node->accesses.push_back(
        {array.number, stage(), index, type.bytes(), type.lanes(), store, level.chance});
}

/// What of an index is not a sum of multiples of loop variables has to be computed.
void Body::index_work(const Expr &index, const Form &form) {
    if (!form.linear || !form.even || form.data)
        value(index);
}

void Body::store(const ir::StmtNode &s) {
    const Form index = numbers_.of(s.exprs[1]);
    const Array *found = arrays_.find(s.name);
    storing_ = &s, stored_index_ = index;
    const Value v = value(s.exprs[0]);
    use(v);
    storing_ = nullptr;
    const Expr &predicate = s.exprs[2];
    if (!always(predicate))
        value(predicate);
    if (!found)
        return;
    const Type type = s.exprs[0].type();
    Array *array = arrays_.find(s.name);
    if (array->in_registers) {
        Level &level = levels_.back();
        const std::string place =
            s.name + "@" + std::to_string(index.value) + "x" + std::to_string(type.lanes());
        level.elements[place] = v;
        level.kept[Hash().add(place).get()] = registers(type, target_);
        return;
    }
    index_work(s.exprs[1], index);
    const bool accumulates = v.chain >= 0 && reads_.count(v.origin) && reads_[v.origin].buffer == s.name &&
                             reads_[v.origin].index.value == index.value && !index.data;
    const int depth = accumulates ? std::max(index.depth(), array->depth) : inner_depth();
    Work work = store_of(type, index.lane_step, index.even, target_);
    work.stores *= 1 + crossing(index, type);
    if (s.atomic)
        work.slow += 20 * type.lanes();
    charge(depth, work);
    access(*array, index, type, true, depth);
    end_chain(s.name, index, v);
    array->version = ++versions_;
    shared_.clear();
}

/// Iterations that wait for the previous one: sums, and scans in memory.
void Body::end_chain(const std::string &buffer, const Form &index, const Value &v) {
    auto read = reads_.find(v.origin);
    if (v.chain < 0 || read == reads_.end() || read->second.buffer != buffer || inner_depth() < 0)
        return;
    const Form &from = read->second.index;
    if (index.data || from.data)
        return;
    const Term *t = index.find(inner_depth());
    double &chain = loop().chain;
    if (!t) {
        if (from.value == index.value)
            chain = std::max(chain, v.chain);
        return;
    }
    const double distance = (index.value - from.value) / t->step;
    if (distance >= 1 && distance <= 4 && distance == std::floor(distance))
        chain = std::max(chain, (v.chain + forwarding) / distance);
}

}  // namespace Pipe::predict
