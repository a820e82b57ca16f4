#pragma once
// Numbers for values that are equal.

#include <bit>
#include <cstdint>
#include <functional>
#include <string>

#include "predict/form.h"
#include <pipe/type.h>

namespace Pipe::predict {

class Hash {
  public:
    Hash &add(uint64_t x) {
        h_ = (h_ ^ x) * 0x9e3779b97f4a7c15;
        h_ ^= h_ >> 29;
        return *this;
    }
    Hash &add(double x) { return add(std::bit_cast<uint64_t>(x)); }
    Hash &add(const std::string &s) { return add(std::hash<std::string>()(s)); }
    Hash &add(Type t) {
        return add(uint64_t(t.code()) << 32 | uint64_t(t.bits()) << 16 | uint64_t(t.lanes()));
    }
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

}  // namespace Pipe::predict
