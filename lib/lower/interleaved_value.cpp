#include "lower/interleaved_value.h"

#include <algorithm>

#include "ir/equal.h"
#include "ir/intrinsics.h"
#include "ir/linear.h"
#include "lower/strided.h"

namespace Pipe::lower {

using namespace ir;

namespace {

using Channels = InterleavedValue::Channels;

constexpr int64_t max_cost = 1 << 20;

std::vector<const ExprNode *> key_of(const Channels &channels) {
    std::vector<const ExprNode *> key;
    for (const Expr &e : channels)
        key.push_back(e.get());
    return key;
}

bool are_equal(const Channels &channels) {
    return std::all_of(channels.begin() + 1, channels.end(),
                       [&](const Expr &e) { return equal(e, channels[0]); });
}

bool are_broadcasts(const Channels &channels) {
    return std::all_of(channels.begin(), channels.end(),
                       [](const Expr &e) { return e->op == Op::Broadcast; });
}

bool are_constants(const Channels &channels) {
    int64_t value = 0;
    return std::all_of(channels.begin(), channels.end(), [&](const Expr &e) {
        return as_const_int(e, &value) ||
               (e->op == Op::Broadcast && e->value()->op == Op::FloatImm);
    });
}

/// Loads of the elements b, b + k, ...; b + 1, b + k + 1, ...; and so on.
bool are_neighboring_loads(const Channels &channels) {
    const Expr &first = channels[0];
    if (first->op != Op::Load || !has_channel_stride(first->element()))
        return false;
    auto start = strided(first->element());
    if (start->stride != static_cast<int64_t>(channels.size()))
        return false;
    for (size_t c = 1; c < channels.size(); c++) {
        const Expr &e = channels[c];
        if (e->op != Op::Load || e->name != first->name || e.type() != first.type() ||
            !same_predicate(e->predicate(), first->predicate()))
            return false;
        auto here = strided(e->element());
        if (!here || here->stride != start->stride ||
            constant_difference(here->base, start->base) != static_cast<int64_t>(c))
            return false;
    }
    return true;
}

/// Whether each lane of the result depends on the same lane of the operands only.
bool is_lanewise(const ExprNode &e) {
    switch (e.op) {
    case Op::Cast:
    case Op::Not:
    case Op::Select:
        return true;
    case Op::Reinterpret:
        return e.type.lanes() == e.value().type().lanes();
    case Op::Call:
        return !e.args.empty() && e.name != intrinsic::if_then_else &&
               e.name != intrinsic::address_of &&
               (e.call_kind == CallKind::Intrinsic || e.call_kind == CallKind::PureExtern);
    default:
        return is_binary(e.op);
    }
}

/// The same lanewise operation, on operands with the lanes of the result.
bool are_same_operation(const Channels &channels) {
    const Expr &first = channels[0];
    if (!is_lanewise(*first.get()))
        return false;
    return std::all_of(channels.begin(), channels.end(), [&](const Expr &e) {
        return same_head(e, first) &&
               std::all_of(e->args.begin(), e->args.end(),
                           [&](const Expr &arg) { return arg.type().lanes() == e.type().lanes(); });
    });
}

Channels operands(const Channels &channels, size_t i) {
    Channels result;
    for (const Expr &e : channels)
        result.push_back(e->args[i]);
    return result;
}

}  // namespace

std::vector<Expr> InterleavedValue::parts_of(const Channels &channels) {
    auto key = key_of(channels);
    if (auto found = built_.find(key); found != built_.end())
        return found->second;
    std::vector<Expr> parts = build(channels);
    built_.emplace(std::move(key), parts);
    return parts;
}

const InterleavedValue::Plan &InterleavedValue::plan(const Channels &channels) {
    auto key = key_of(channels);
    if (auto found = plans_.find(key); found != plans_.end())
        return found->second;
    kept_.push_back(channels);
    Plan made = make_plan(channels);
    return plans_.emplace(std::move(key), made).first->second;
}

InterleavedValue::Plan InterleavedValue::make_plan(const Channels &channels) {
    if (are_broadcasts(channels) && are_equal(channels))
        return {Plan::Same, 0};
    if (are_neighboring_loads(channels))
        return {Plan::DenseLoad, 0};
    int64_t taken_apart = 0;
    for (const Expr &e : channels)
        taken_apart += strided_bytes(e);
    const int64_t put_together = are_constants(channels) ? 0 : channels[0].type().bytes();
    const int64_t shuffles =
        std::min(put_together + taken_apart / static_cast<int64_t>(channels.size()), max_cost);
    if (are_same_operation(channels) && !are_equal(channels)) {
        int64_t apart = cost_of_operands(channels);
        if (apart < shuffles)
            return {Plan::Operands, apart};
    }
    return {Plan::Shuffle, shuffles};
}

int64_t InterleavedValue::cost_of_operands(const Channels &channels) {
    int64_t cost = 0;
    for (size_t i = 0; i < channels[0]->args.size(); i++)
        cost = std::min(cost + plan(operands(channels, i)).cost, max_cost);
    return cost;
}

/// Bytes of the elements of loads that lie apart in memory.
int64_t InterleavedValue::strided_bytes(const Expr &e) {
    if (e->op == Op::Load)
        return has_channel_stride(e->element()) ? e.type().bytes() : 0;
    if (e->args.empty())
        return 0;
    if (auto found = strided_bytes_.find(e.get()); found != strided_bytes_.end())
        return found->second;
    int64_t sum = 0;
    for (const Expr &arg : e->args)
        if (arg.defined())
            sum = std::min(sum + strided_bytes(arg), max_cost);
    return strided_bytes_.emplace(e.get(), sum).first->second;
}

std::vector<Expr> InterleavedValue::build(const Channels &channels) {
    switch (plan(channels).form) {
    case Plan::Same:
        return channels;
    case Plan::DenseLoad:
        return dense_loads(channels);
    case Plan::Operands:
        return operation(channels);
    case Plan::Shuffle:
        break;
    }
    return shuffled(channels);
}

std::vector<Expr> InterleavedValue::dense_loads(const Channels &channels) {
    const Expr &first = channels[0], &predicate = first->predicate();
    const int lanes = first.type().lanes();
    std::vector<Expr> masks(channels.size()), parts;
    if (predicate.defined())
        masks = parts_of(Channels(channels.size(), predicate));
    for (size_t j = 0; j < channels.size(); j++)
        parts.push_back(make_load(
            first.type(), first->name,
            dense_index(strided(first->element())->base, static_cast<int64_t>(j) * lanes, lanes),
            masks[j]));
    return parts;
}

std::vector<Expr> InterleavedValue::operation(const Channels &channels) {
    std::vector<std::vector<Expr>> args(channels.size());
    for (size_t i = 0; i < channels[0]->args.size(); i++) {
        std::vector<Expr> parts = parts_of(operands(channels, i));
        for (size_t j = 0; j < parts.size(); j++)
            args[j].push_back(parts[j]);
    }
    std::vector<Expr> result;
    for (auto &of_part : args)
        result.push_back(with_args(channels[0], std::move(of_part)));
    return result;
}

std::vector<Expr> InterleavedValue::shuffled(const Channels &channels) {
    Expr all = make_interleave(channels);
    std::string name = fresh_name();
    lets_.emplace_back(name, all);
    const int lanes = channels[0].type().lanes();
    std::vector<Expr> parts;
    for (size_t j = 0; j < channels.size(); j++)
        parts.push_back(
            make_slice(make_variable(all.type(), name), static_cast<int>(j) * lanes, 1, lanes));
    return parts;
}

}  // namespace Pipe::lower
