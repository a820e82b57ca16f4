// The arrays that all variants, ours and the peers', read and write: plain planar memory.
#pragma once

#include "apps/common/registry.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace bench {

/// Element types, with the codes of `PeerArray`.
enum class Element : int { Unsigned = 1, Float = 2 };

/// A dense array, x innermost, aligned to a cache line.
class Array {
public:
    Array(Element element, int bits, apps::Box box);

    /// Sets every element to `pixel(x, y, c)`, coordinates taken from the box.
    void fill(const std::function<double(int, int, int)> &pixel);

    /// Sets every byte to 0xff: a NaN, or the largest integer.
    void clear();
    Array copy() const;

    void *data() const { return storage_.get(); }
    Element element() const { return element_; }
    int bits() const { return bits_; }
    const apps::Box &box() const { return box_; }
    int64_t size() const; ///< elements
    int64_t bytes() const { return size() * (bits_ / 8); }
    double at(int64_t index) const; ///< in the order of memory

private:
    struct Free {
        void operator()(void *p) const { std::free(p); }
    };
    Element element_;
    int bits_;
    apps::Box box_;
    std::unique_ptr<void, Free> storage_;
};

/// Largest |a - b| over all elements; a NaN on one side only counts as infinite.
double max_abs_difference(const Array &a, const Array &b);

/// Largest |a|.
double max_abs(const Array &a);

} // namespace bench
