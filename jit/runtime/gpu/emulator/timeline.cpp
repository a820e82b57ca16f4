#include "jit/runtime/gpu/emulator/timeline.h"

#include <algorithm>
#include <numeric>

namespace Pipe::runtime::emulator {

uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = a + 0x9e3779b97f4a7c15 * (b + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

Order::Order(uint64_t seed, int64_t n) : n_(std::max<int64_t>(n, 1)) {
    const uint64_t bits = mix(seed, 0);
    first_ = static_cast<int64_t>((bits >> 20) % static_cast<uint64_t>(n_));
    const int64_t steps = std::min<int64_t>(n_ - 1, 1 << 20);
    step_ = steps > 0 ? 1 + static_cast<int64_t>(bits & 0xfffff) % steps : 1;
    while (std::gcd(step_, n_) != 1)
        step_--;
}

Order Timeline::epoch_order(int64_t position, int64_t epoch) const {
    return {mix(mix(seed_, static_cast<uint64_t>(position)), static_cast<uint64_t>(epoch)),
            thread_count_};
}

void Timeline::begin_launch(uint64_t seed, int64_t threads, int64_t blocks) {
    seed_ = seed;
    thread_count_ = threads;
    blocks_ = Order(seed, blocks);
    begins_.clear();
    launch_ = block_ = epoch_ = now_ = stamp(next_number_);
}

void Timeline::begin_block(int64_t position) {
    position_ = position;
    epochs_ = 0;
    block_ = stamp(next_number_);
    begins_.push_back({block_, position});
    begin_epoch();
}

void Timeline::begin_epoch() {
    threads_ = epoch_order(position_, epochs_++);
    epoch_number_ = next_number_;
    next_number_ += thread_count_;
    epoch_ = now_ = stamp(epoch_number_);
    stretches_ = 0;
    next_thread_ = threads_[0];
}

Timeline::Place Timeline::place(Stamp s) const {
    auto after = std::upper_bound(begins_.begin(), begins_.end(), s,
                                  [](Stamp x, const Begin &b) { return x < b.stamp; });
    if (after == begins_.begin())
        return {};
    const Begin &begin = *(after - 1);
    const int64_t stretch = (s >> stamp_bits) - (begin.stamp >> stamp_bits);
    return {blocks_[begin.position],
            epoch_order(begin.position, stretch / thread_count_)[stretch % thread_count_]};
}

void Timeline::restart() {
    next_number_ = epoch_number_ = 2;
    begins_.clear();
    launch_ = block_ = epoch_ = now_ = stamp(2);
}

}  // namespace Pipe::runtime::emulator
