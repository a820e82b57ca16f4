#include "lower/interleave_stores.h"

#include <algorithm>
#include <map>

#include "ir/linear.h"
#include "ir/visit.h"
#include "lower/interleaved_value.h"
#include "lower/lanes.h"
#include "lower/strided.h"

namespace Pipe::lower {

using namespace ir;

namespace {

/// How far apart stores may stand that belong together.
constexpr size_t window = 64;

/// The stores of channel 0, 1, ...: positions in a block.
using ChannelStores = std::vector<size_t>;

bool is_channel(const Stmt &s) {
    return s->op == StmtOp::Store && !s->atomic && s->value().type().is_vector() &&
           has_channel_stride(s->index()) && loads_always(*s.get());
}

/// By how much the store `s` begins behind the store `first`, of which it may be another channel.
std::optional<int64_t> channels_between(const Stmt &first, const Stmt &s) {
    if (!is_channel(s) || s->name != first->name || s->value().type() != first->value().type() ||
        !same_predicate(s->predicate(), first->predicate()))
        return std::nullopt;
    auto a = strided(first->index()), b = strided(s->index());
    if (a->stride != b->stride)
        return std::nullopt;
    std::optional<int64_t> distance = constant_difference(b->base, a->base);
    return distance && std::abs(*distance) < a->stride ? distance : std::nullopt;
}

class Interleaver : public Mutator {
  public:
    using Mutator::mutate;
    Expr mutate(const Expr &e) override { return e; }
    Stmt mutate(const Stmt &s) override {
        return s->op == StmtOp::Block ? block(s) : Mutator::mutate(s);
    }

  private:
    Stmt block(const Stmt &s) {
        const std::vector<Stmt> &stmts = s->stmts;
        std::map<size_t, Stmt> joined;  // by the position of the last store
        std::vector<bool> gone(stmts.size());
        for (size_t i = 0; i < stmts.size(); i++) {
            if (gone[i])
                continue;
            ChannelStores group = group_of(stmts, i, gone);
            if (group.empty())
                continue;
            for (size_t at : group)
                gone[at] = true;
            joined[*std::max_element(group.begin(), group.end())] = join(stmts, group);
        }
        if (joined.empty())
            return Mutator::mutate(s);
        std::vector<Stmt> result;
        for (size_t i = 0; i < stmts.size(); i++) {
            if (auto here = joined.find(i); here != joined.end())
                result.push_back(here->second);
            else if (!gone[i])
                result.push_back(mutate(stmts[i]));
        }
        return make_block(std::move(result));
    }

    /// The stores of all channels, one of which is the store at `first`, the earliest; none where some are
    /// missing, or cannot be done together.
    ChannelStores group_of(const std::vector<Stmt> &stmts, size_t first,
                           const std::vector<bool> &gone) {
        if (!is_channel(stmts[first]))
            return {};
        std::map<int64_t, size_t> found;
        for (size_t i = first; i < std::min(stmts.size(), first + window); i++) {
            if (stmts[i]->op != StmtOp::Store)
                break;
            if (auto distance = gone[i] ? std::nullopt : channels_between(stmts[first], stmts[i]))
                found.emplace(*distance, i);
        }
        const int64_t channels = strided(stmts[first]->index())->stride;
        for (int64_t lowest = 1 - channels; lowest <= 0; lowest++) {
            ChannelStores group;
            for (int64_t c = lowest; c < lowest + channels && found.count(c); c++)
                group.push_back(found[c]);
            if (static_cast<int64_t>(group.size()) == channels)
                return can_join(stmts, group) ? group : ChannelStores();
        }
        return {};
    }

    /// Whether each store may be done where the last of them stands.
    static bool can_join(const std::vector<Stmt> &stmts, const ChannelStores &group) {
        const size_t last = *std::max_element(group.begin(), group.end());
        for (size_t at : group)
            for (size_t i = at + 1; i <= last; i++)
                if (!may_swap(stmts[at], stmts[i]))
                    return false;
        return true;
    }

    Stmt join(const std::vector<Stmt> &stmts, const ChannelStores &group) {
        const Stmt &first = stmts[group[0]];
        const std::string &buffer = first->name;
        const Type type = first->value().type();
        std::vector<Expr> values, predicates;
        bool reads_itself = false;
        for (size_t at : group) {
            values.push_back(stmts[at]->value());
            predicates.push_back(stmts[at]->predicate());
            reads_itself |= buffers_read(values.back()).count(buffer) > 0;
        }
        InterleavedValue interleaved(buffer + ".lanes" + std::to_string(joined_++) + ".");
        std::vector<Expr> parts = interleaved.parts_of(values), masks(parts.size());
        if (predicates[0].defined())
            masks = interleaved.parts_of(predicates);
        auto lets = interleaved.lets();
        std::vector<Stmt> stores;
        for (size_t j = 0; j < parts.size(); j++) {
            if (reads_itself) {
                lets.emplace_back(interleaved.fresh_name(), parts[j]);
                parts[j] = make_variable(type, lets.back().first);
            }
            Expr base = strided(first->index())->base;
            int64_t offset = static_cast<int64_t>(j) * type.lanes();
            stores.push_back(
                make_store(buffer, dense_index(base, offset, type.lanes()), parts[j], masks[j]));
        }
        Stmt result = make_block(std::move(stores));
        for (auto let = lets.rbegin(); let != lets.rend(); ++let)
            result = make_let(let->first, let->second, result);
        return result;
    }

    int joined_ = 0;
};

}  // namespace

Stmt interleave_stores(const Stmt &s) {
    return Interleaver().mutate(s);
}

}  // namespace Pipe::lower
