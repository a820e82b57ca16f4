#include "autoschedule/where.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "ir/visit.h"
#include "reference/formula.h"

namespace Pipe::autoschedule {

using ir::Op;
using poly::Iterator;

namespace {

constexpr int64_t most_points = 4096;  ///< limit of tested points
constexpr size_t histogram_parts = 8;  ///< of an iterator's range, to find the busiest one

/// The iterators that a condition contains, and the values of its other variables.
struct Named {
    std::vector<Iterator> iterators;
    std::map<std::string, reference::Value> globals;
};

/// Nothing if the condition depends on unknown values.
std::optional<Named> named_by(const Expr &condition, const std::vector<Iterator> &iterators,
                              const poly::Environment &names) {
    Named result;
    bool known = true;
    ir::each_node(condition, [&](const ir::ExprNode &e) {
        if (e.op == Op::Call && e.call_kind != ir::CallKind::Intrinsic)
            known = false;
        if (e.op != Op::Variable)
            return known;
        auto same = [&](const Iterator &it) { return it.name == e.name; };
        auto mine = std::find_if(result.iterators.begin(), result.iterators.end(), same);
        auto local = std::find_if(iterators.begin(), iterators.end(), same);
        auto global = names.find(e.name);
        if (local != iterators.end()) {
            known &= local->range.bounded() && local->range.size() > 0;
            if (mine == result.iterators.end())
                result.iterators.push_back(*local);
        } else if (global != names.end() && global->second.is_point()) {
            result.globals[e.name] = reference::Value::of_int(global->second.min);
        } else {
            known = false;
        }
        return known;
    });
    return known ? std::optional(result) : std::nullopt;
}

/// Conditions that read memory are not evaluated.
struct NoSource : reference::Source {
    reference::Value func(FuncId, int, const std::vector<int64_t> &) override { return {}; }
    reference::Value image(const std::string &, const std::vector<int64_t> &) override {
        return {};
    }
    void undefined(const char *) override {}
    void fail(const std::string &message) override { throw CompileError(message); }
};

/// Points of a box: all, or `most_points` of them, spaced by multiples of irrational numbers (the R
/// sequence of Roberts), which cover it evenly in any number of dimensions.
class Points {
  public:
    explicit Points(const std::vector<Iterator> &iterators) : iterators_(iterators) {
        double all = 1;
        for (const Iterator &it : iterators)
            all *= static_cast<double>(it.range.size());
        every_ = all <= most_points;
        count_ = every_ ? static_cast<int64_t>(all) : most_points;
        for (int i = 0; i < 40; i++)  // the root of x^(d+1) = x + 1
            root_ = std::pow(1 + root_, 1.0 / static_cast<double>(iterators.size() + 1));
    }
    int64_t count() const { return count_; }
    std::vector<int64_t> point(int64_t i) const {
        std::vector<int64_t> result;
        int64_t rest = i;
        double step = 1;
        for (const Iterator &it : iterators_) {
            const int64_t size = it.range.size();
            step /= root_;
            const double place = std::fmod(0.5 + step * static_cast<double>(i), 1.0);
            const int64_t k =
                every_ ? rest % size : static_cast<int64_t>(place * static_cast<double>(size));
            rest /= size;
            result.push_back(it.range.min + std::min(k, size - 1));
        }
        return result;
    }

  private:
    const std::vector<Iterator> &iterators_;
    bool every_ = true;
    int64_t count_ = 1;
    double root_ = 2;
};

/// The selected points by where they lie along one iterator.
class Histogram {
  public:
    explicit Histogram(const Iterator &iterator) : range_(iterator.range) {}

    void add(int64_t at, bool selected) {
        const size_t part = static_cast<size_t>(
            (at - range_.min) * static_cast<int64_t>(histogram_parts) / range_.size());
        all_[part]++;
        selected_[part] += selected;
    }
    /// The largest fraction of a part's points.
    double busiest() const {
        double most = 0;
        for (size_t part = 0; part < histogram_parts; part++)
            most = std::max(most, selected_[part] / std::max(1.0, all_[part]));
        return most;
    }

  private:
    poly::Range range_;
    std::array<double, histogram_parts> all_{}, selected_{};
};

}  // namespace

Selected selected_where(const Expr &condition, const std::vector<Iterator> &iterators,
                        const poly::Environment &names) {
    Selected result;
    result.busiest.assign(iterators.size(), 1);
    if (!condition.defined())
        return result;
    const std::optional<Named> named = named_by(condition, iterators, names);
    if (!named)
        return result;
    std::vector<std::string> locals;
    for (const Iterator &it : named->iterators)
        locals.push_back(it.name);
    reference::Formula formula({condition}, locals, named->globals);
    NoSource source;
    const Points points(named->iterators);
    std::vector<Histogram> along(named->iterators.begin(), named->iterators.end());
    int64_t holds = 0;
    for (int64_t i = 0; i < points.count(); i++) {
        const std::vector<int64_t> point = points.point(i);
        formula.at(point, source);
        const bool selected = formula.value(0).i != 0;
        holds += selected;
        for (size_t k = 0; k < along.size(); k++)
            along[k].add(point[k], selected);
    }
    result.fraction = static_cast<double>(holds) / static_cast<double>(points.count());
    for (size_t k = 0; k < along.size(); k++) {
        const auto same = [&](const Iterator &it) { return it.name == named->iterators[k].name; };
        const auto at = std::find_if(iterators.begin(), iterators.end(), same) - iterators.begin();
        if (holds > 0)
            result.busiest[static_cast<size_t>(at)] = along[k].busiest() / result.fraction;
    }
    return result;
}

}  // namespace Pipe::autoschedule
