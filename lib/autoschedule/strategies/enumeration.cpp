#include "autoschedule/strategies/enumeration.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace Pipe::autoschedule {

namespace {

using Group = std::vector<int>;  // ascending

class ForwardGrowth {
  public:
    ForwardGrowth(const Dag &dag, std::vector<bool> alone)
        : consumers_(dag.consumers), alone_(std::move(alone)) {
        std::vector<int> sources;
        for (int n = 0; n < dag.size(); n++)
            if (dag.producers[static_cast<size_t>(n)].empty())
                sources.push_back(n);
        first_ = sources.empty() ? 0 : sources[0];
        if (sources.size() > 1) {
            first_ = dag.size();
            consumers_.push_back(sources);
            alone_.push_back(false);
        }
        const size_t size = consumers_.size();
        reaches_.assign(size, std::vector<bool>(size, false));
        if (sources.size() > 1)
            for (int n = 0; n < dag.size(); n++)
                reaches_[static_cast<size_t>(first_)][static_cast<size_t>(n)] = true;
        for (size_t n = static_cast<size_t>(dag.size()); n-- > 0;) {
            for (int c : consumers_[n]) {
                reaches_[n][static_cast<size_t>(c)] = true;
                for (size_t k = 0; k < size; k++)
                    if (reaches_[static_cast<size_t>(c)][k])
                        reaches_[n][k] = true;
            }
        }
    }

    long count(size_t group_limit, long most) {
        if (consumers_.empty())
            return 0;
        std::vector<Group> left = {{first_}};
        std::set<Group> seen(left.begin(), left.end());
        auto visit = [&](Group group) {
            const bool possible =
                group.size() == 1 || std::none_of(group.begin(), group.end(), [&](int n) {
                    return alone_[static_cast<size_t>(n)];
                });
            if (possible && group.size() <= group_limit && seen.insert(group).second)
                left.push_back(std::move(group));
        };
        while (!left.empty() && static_cast<long>(seen.size()) < most) {
            const Group group = std::move(left.back());
            left.pop_back();
            const Group next = consumers_of(group);
            for (int c : next) {
                visit({c});
                if (closes_cycle(c, next))
                    continue;
                Group larger = group;
                larger.insert(std::lower_bound(larger.begin(), larger.end(), c), c);
                visit(std::move(larger));
            }
        }
        return static_cast<long>(seen.size());
    }

  private:
    Group consumers_of(const Group &group) const {
        Group result;
        for (int n : group)
            for (int c : consumers_[static_cast<size_t>(n)])
                if (!std::binary_search(group.begin(), group.end(), c))
                    result.push_back(c);
        std::sort(result.begin(), result.end());
        result.erase(std::unique(result.begin(), result.end()), result.end());
        return result;
    }

    bool closes_cycle(int consumer, const Group &others) const {
        return std::any_of(others.begin(), others.end(), [&](int other) {
            return other != consumer &&
                   reaches_[static_cast<size_t>(other)][static_cast<size_t>(consumer)];
        });
    }

    std::vector<std::vector<int>> consumers_;  // of the common producer, too
    std::vector<bool> alone_;
    int first_ = 0;
    std::vector<std::vector<bool>> reaches_;
};

}  // namespace

long groups_grown_forward(const Dag &dag, std::vector<bool> alone, int group_limit, long most) {
    return ForwardGrowth(dag, std::move(alone)).count(static_cast<size_t>(group_limit), most);
}

}  // namespace Pipe::autoschedule
