#pragma once
// The source of randomness of a case: a list of choices. Made from a seed, or played back from a
// list that the shrinker has made shorter or smaller. Choice 0 is always the simplest.

#include <cstdint>
#include <vector>

namespace Pipe::fuzz {

class Choices {
  public:
    explicit Choices(uint64_t seed) : state_(seed), random_(true) {}
    explicit Choices(std::vector<uint32_t> script) : script_(std::move(script)) {}

    /// 0 .. n-1
    int below(int n) {
        uint32_t value = 0;
        if (random_) {
            value = static_cast<uint32_t>(next() >> 34) % static_cast<uint32_t>(n);  // 30 bits
        } else if (made_.size() < script_.size()) {
            value = script_[made_.size()] % static_cast<uint32_t>(n);
        }
        made_.push_back(value);
        return static_cast<int>(value);
    }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool chance(int percent) { return below(100) >= 100 - percent; }
    template <typename T> const T &of(const std::vector<T> &list) {
        return list[static_cast<size_t>(below(static_cast<int>(list.size())))];
    }

    const std::vector<uint32_t> &made() const { return made_; }

  private:
    uint64_t next() {  // splitmix64 (Steele, Lea, Flood 2014)
        uint64_t z = (state_ += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }

    uint64_t state_ = 0;
    bool random_ = false;
    std::vector<uint32_t> script_;
    std::vector<uint32_t> made_;
};

}  // namespace Pipe::fuzz
