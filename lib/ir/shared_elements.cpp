#include "ir/shared_elements.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace Pipe::ir {

namespace {

/// `step` times 0, 1, .., last.
struct Multiples {
    int64_t step, last;
};

/// All sums of one value of each term. Whether one of them lies in an interval is a bounded linear
/// Diophantine problem; with the strides of arrays, each larger than the sum of the smaller ones,
/// only two values per term are candidates.
class Sums {
  public:
    void add(int64_t step, int64_t last) {
        if (step == 0 || last == 0)
            return;
        auto same = std::find_if(multiples_.begin(), multiples_.end(),
                                 [&](const Multiples &t) { return t.step == step; });
        if (same != multiples_.end())
            same->last += last;
        else
            multiples_.push_back({step, last});
    }

    bool meet(int64_t low, int64_t high) {
        std::sort(multiples_.begin(), multiples_.end(),
                  [](const Multiples &a, const Multiples &b) { return a.step > b.step; });
        rest_.assign(multiples_.size() + 1, {0, 0});
        for (size_t i = multiples_.size(); i-- > 0;)
            rest_[i] = {rest_[i + 1].largest + multiples_[i].step * multiples_[i].last,
                        std::gcd(rest_[i + 1].divisor, multiples_[i].step)};
        return meet_from(0, low, high);
    }

  private:
    /// The same for the terms from `first` on.
    bool meet_from(size_t first, int64_t low, int64_t high) {
        const Rest &rest = rest_[first];
        if (high < 0 || low > rest.largest)
            return false;
        if (low <= 0 || high >= rest.largest || --tries_ < 0)
            return true;
        if (high / rest.divisor * rest.divisor < low)
            return false;
        const Multiples &t = multiples_[first];
        const int64_t most = std::min(t.last, high / t.step),
                      least = std::max<int64_t>(0, (low - rest_[first + 1].largest + t.step - 1) /
                                                       t.step);
        for (int64_t n = most; n >= least; n--)
            if (meet_from(first + 1, low - n * t.step, high - n * t.step))
                return true;
        return false;
    }

    struct Rest {
        int64_t largest, divisor;
    };
    std::vector<Multiples> multiples_;
    std::vector<Rest> rest_;
    int tries_ = 100000;
};

bool has_no_element(std::span<const BufferDim> dims) {
    return std::any_of(dims.begin(), dims.end(), [](const BufferDim &d) { return d.extent <= 0; });
}

/// The lowest (sign -1) or highest address of an element.
int64_t extreme_address(const BufferView &view, int sign) {
    auto address = reinterpret_cast<int64_t>(view.host);
    for (const BufferDim &d : view.dims)
        if (d.stride * sign > 0)
            address += d.stride * (d.extent - 1) * view.type.bytes();
    return address;
}

/// A dimension with several elements; without initializers, so that an array of them costs nothing.
struct Along {
    int64_t step, extent;
    int64_t reach() const { return step * (extent - 1); }
};

/// Whether two coordinates that first differ in dimension `d` of `dims` can be the same element.
/// Dimensions are ordered by decreasing stride.
bool meet_in(std::span<const Along> dims, size_t d) {
    Sums smaller;
    int64_t largest = 0;
    for (const Along &other : dims.subspan(d + 1)) {
        smaller.add(other.step, 2 * (other.extent - 1));
        largest += other.reach();
    }
    const int64_t step = dims[d].step;
    for (int64_t n = 1; n < dims[d].extent && n * step <= largest; n++)
        if (smaller.meet(largest - n * step, largest - n * step))
            return true;
    return false;
}

/// Whether each stride exceeds the span of all dimensions before it: the fast case.
bool are_nested(std::span<const Along> dims) {
    int64_t reach = 0;
    for (const Along &dim : dims) {
        if (dim.step <= reach)
            return false;
        reach += dim.reach();
    }
    return true;
}

}  // namespace

bool share_elements(const BufferView &a, const BufferView &b) {
    if (has_no_element(a.dims) || has_no_element(b.dims))
        return false;
    // An element of a lies n bytes above the lowest address of a, one of b m bytes below the
    // highest of b.
    Sums n_and_m;
    for (const BufferView *view : {&a, &b})
        for (const BufferDim &d : view->dims)
            n_and_m.add(std::abs(d.stride) * view->type.bytes(), d.extent - 1);
    const int64_t distance = extreme_address(b, 1) - extreme_address(a, -1);
    return n_and_m.meet(distance - (a.type.bytes() - 1), distance + (b.type.bytes() - 1));
}

bool has_distinct_elements(std::span<const BufferDim> dims) {
    constexpr size_t most = 16;
    std::array<Along, most> sorted;  // the smallest stride first
    size_t count = 0;
    for (const BufferDim &d : dims) {
        if (d.extent == 0)
            return true;
        if (d.extent == 1)
            continue;
        if (count == most)
            return false;
        const int64_t step = std::abs(d.stride);
        size_t at = count++;
        for (; at > 0 && sorted[at - 1].step > step; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = {step, d.extent};
    }
    const std::span<Along> all(sorted.data(), count);
    if (are_nested(all)) [[likely]]
        return true;
    std::reverse(all.begin(), all.end());
    for (size_t d = 0; d < count; d++)
        if (meet_in(all, d))
            return false;
    return true;
}

bool same_places(const BufferView &a, const BufferView &b) {
    if (a.type.bits() != b.type.bits() || a.dims.size() != b.dims.size())
        return false;
    int64_t offset = 0;
    for (size_t d = 0; d < a.dims.size(); d++) {
        if (a.dims[d].extent > 1 && a.dims[d].stride != b.dims[d].stride)
            return false;
        offset += (a.dims[d].min - b.dims[d].min) * b.dims[d].stride;
    }
    return a.host == static_cast<char *>(b.host) + offset * b.type.bytes();
}

}  // namespace Pipe::ir
