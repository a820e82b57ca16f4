#include <algorithm>

#include "autoschedule/grouping.h"

namespace Pipe::autoschedule {

namespace {

class GreedyGrouping {
  public:
    GreedyGrouping(const Dag &dag, const FusionGain &gain) : dag_(dag), gain_(gain) {
        for (int n = 0; n < dag.size(); n++) {
            groups_.push_back({n});
            group_of_.push_back(n);
        }
        gains_.resize(groups_.size());
        for (int g = 0; g < dag.size(); g++)
            evaluate(g);
    }

    Grouping run() {
        while (true) {
            const auto best = std::max_element(gains_.begin(), gains_.end());
            if (best == gains_.end() || !*best)
                break;
            fuse(static_cast<int>(best - gains_.begin()));
        }
        for (std::vector<int> &members : groups_)
            if (!members.empty())
                result_.groups.push_back(std::move(members));
        std::sort(result_.groups.begin(), result_.groups.end(),
                  [](const auto &a, const auto &b) { return a.back() < b.back(); });
        return std::move(result_);
    }

  private:
    /// The group that alone reads g, or -1. Only the last member of a group is read outside of it.
    int reader_of(int g) const {
        int reader = -1;
        for (int c : dag_.consumers[static_cast<size_t>(groups_[static_cast<size_t>(g)].back())]) {
            const int other = group_of_[static_cast<size_t>(c)];
            if (reader >= 0 && other != reader)
                return -1;
            reader = other;
        }
        return reader;
    }

    void evaluate(int g) {
        std::optional<double> &gain = gains_[static_cast<size_t>(g)];
        gain.reset();
        const int reader = reader_of(g);
        if (reader < 0)
            return;
        result_.evaluated++;
        gain = gain_(groups_[static_cast<size_t>(g)], groups_[static_cast<size_t>(reader)]);
    }

    void fuse(int g) {
        const int reader = reader_of(g);
        std::vector<int> &members = groups_[static_cast<size_t>(reader)];
        for (int n : groups_[static_cast<size_t>(g)])
            group_of_[static_cast<size_t>(n)] = reader;
        members.insert(members.end(), groups_[static_cast<size_t>(g)].begin(),
                       groups_[static_cast<size_t>(g)].end());
        std::sort(members.begin(), members.end());
        groups_[static_cast<size_t>(g)].clear();
        gains_[static_cast<size_t>(g)].reset();
        evaluate(reader);
        std::vector<int> changed;
        for (int n : members)
            for (int p : dag_.producers[static_cast<size_t>(n)])
                if (const int other = group_of_[static_cast<size_t>(p)]; other != reader)
                    changed.push_back(other);
        std::sort(changed.begin(), changed.end());
        changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
        for (int other : changed)
            evaluate(other);
    }

    const Dag &dag_;
    const FusionGain &gain_;
    std::vector<std::vector<int>>
        groups_;  // of the node with the same number at first; empty: fused
    std::vector<int> group_of_;
    std::vector<std::optional<double>> gains_;
    Grouping result_;
};

}  // namespace

Grouping group_greedily(const Dag &dag, const FusionGain &gain) {
    return GreedyGrouping(dag, gain).run();
}

}  // namespace Pipe::autoschedule
