// Loads and stores.

#include <algorithm>
#include <cmath>

#include "predict/body.h"
#include "predict/footprint.h"
#include "predict/hash.h"
#include "predict/instructions.h"

namespace Pipe::predict {

using ir::ExprNode;

namespace {

constexpr double forwarding = 5;  ///< clocks from a store to a load of the same element

bool always(const Expr &predicate) {
    return !predicate.defined() || ir::is_const(predicate, 1);
}

}  // namespace

Value Body::load(const ExprNode &e) {
    const Form index = numbers_.of(e.element());
    const Array *found = arrays_.find(e.name);
    if (!always(e.predicate()))
        value(e.predicate());
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
    const bool accumulates = storing_ && storing_->name == e.name &&
                             stored_index_.terms.size() == index.terms.size() &&
                             stored_index_.value == index.value && !index.data;
    v.depth = std::max(index.depth(), array.produced && !accumulates ? inner_depth() : array.depth);
    Hash hash;
    hash.add(e.name).add(array.version).add(e.type);
    if (index.data || !index.even)
        hash.add(value(e.element()).id);
    else
        hash.add(index);
    v.id = hash.get();
    if (array.produced) {
        v.chain = 0, v.origin = v.id;
        reads_[v.id] = {e.name, index};
    }
    if (const Value *known = find(v.id))
        return *known;
    index_work(e.element(), index);
    Work work = load_of(e.type, index.lane_step, index.even, target_);
    work.loads *= 1 + crossing(index, e.type);
    charge(v.depth, work);
    access(array, index, e.type, false, v.depth);
    return add(v);
}

/// An element of an array in registers: what was stored there in this iteration, or before it.
Value Body::element(const ExprNode &e, const Form &index) {
    Level &level = levels_.back();
    const std::string place =
        e.name + "@" + std::to_string(index.value) + "x" + std::to_string(e.type.lanes());
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
    if (type.is_scalar() || std::abs(index.lane_step) != 1)
        return 0;
    const double bytes =
        std::min<double>(type.lanes() * type.bytes(), target_.natural_vector_size(UInt(8)));
    double offset = index.value * type.bytes();
    if (index.lane_step < 0)
        offset -= bytes - type.bytes();
    for (const Term &t : index.terms)
        if (std::fmod(std::abs(t.step) * type.bytes(), bytes) != 0)
            return (bytes - type.bytes()) / line_bytes;
    const double at = offset - line_bytes * std::floor(offset / line_bytes);
    return at + bytes > line_bytes ? 1 : 0;
}

void Body::access(const Array &array, const Form &index, Type type, bool store, int depth) {
    Level &level = levels_[static_cast<size_t>(hoisted(depth) + 1)];
    level.node->accesses.push_back(
        {array.number, stage(), index, type.bytes(), type.lanes(), store, level.chance});
}

/// What of an index is not a sum of multiples of loop variables has to be computed. Of evenly spaced lanes, only the
/// first is.
void Body::index_work(const Expr &index, const Form &form) {
    if (form.linear && form.even && !form.data)
        return;
    if (form.even && index.type().is_vector())
        first_lane(index);
    else
        value(index);
}

void Body::first_lane(const Expr &index) {
    const bool is_vector = index.type().is_vector();
    const bool is_sum = index->op == ir::Op::Add || index->op == ir::Op::Sub;
    if (is_vector && (index->op == ir::Op::Ramp || index->op == ir::Op::Broadcast))
        value(index->args[0]);
    else if (is_vector && is_sum)
        first_lane(index->a()), first_lane(index->b());
    else
        value(index);
}

void Body::store(const ir::StmtNode &s) {
    const Form index = numbers_.of(s.index());
    const Array *found = arrays_.find(s.name);
    storing_ = &s, stored_index_ = index;
    const Value v = value(s.value());
    use(v);
    storing_ = nullptr;
    const Expr &predicate = s.predicate();
    if (!always(predicate))
        value(predicate);
    if (!found)
        return;
    const Type type = s.value().type();
    Array *array = arrays_.find(s.name);
    if (array->in_registers) {
        Level &level = levels_.back();
        const std::string place =
            s.name + "@" + std::to_string(index.value) + "x" + std::to_string(type.lanes());
        level.elements[place] = v;
        level.kept[Hash().add(place).get()] = registers(type, target_);
        return;
    }
    index_work(s.index(), index);
    const bool accumulates = v.chain >= 0 && reads_.count(v.origin) &&
                             reads_[v.origin].buffer == s.name &&
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
