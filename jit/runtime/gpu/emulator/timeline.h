#pragma once
// Timeline: when an access happened, and what it is ordered with.
//
// Each stretch that a thread runs between two barriers has a number. All blocks of a launch run one after the other, and so
// do the stretches of their threads; so four numbers (where the launch, the block, the stretches since the block's last
// barrier, and the stretch at hand begin) tell of any earlier number how it is ordered with what runs now.

#include <array>
#include <cstdint>
#include <vector>

#include "jit/runtime/gpu_abi.h"

namespace Pipe::runtime::emulator {

/// An order of the numbers 0 .. n - 1, which depends on `seed`.
class Order {
  public:
    Order() = default;
    Order(uint64_t seed, int64_t n);
    int64_t operator[](int64_t i) const { return (first_ + i * step_) % n_; }
    /// What comes after the number `x`.
    int64_t after(int64_t x) const { return x + step_ < n_ ? x + step_ : x + step_ - n_; }

  private:
    int64_t first_ = 0, step_ = 1, n_ = 1;
};

/// Mixes the bits of numbers.
uint64_t mix(uint64_t a, uint64_t b);

/// The number of a stretch, with a few bits for the shadow memory below it.
using Stamp = uint32_t;
inline constexpr int stamp_bits = 3;
inline constexpr Stamp never = 0;
inline constexpr Stamp before_all = 1 << stamp_bits;  ///< by the host, or in a launch long ago

inline std::array<int32_t, 3> coordinates(int64_t linear, const int32_t (&size)[3]) {
    return {static_cast<int32_t>(linear % size[0]),
            static_cast<int32_t>(linear / size[0] % size[1]),
            static_cast<int32_t>(linear / size[0] / size[1])};
}

class Timeline {
  public:
    struct Place {
        int64_t block = 0;
        int64_t thread = 0;
    };

    void begin_launch(uint64_t seed, int64_t threads, int64_t blocks);
    /// The position-th block.
    void begin_block(int64_t position);
    /// From a barrier, or the block's beginning.
    void begin_epoch();
    /// The next one of the epoch: answers whose it is; -1 where there is none left.
    int64_t next_stretch() {
        if (stretches_ == thread_count_)
            return -1;
        now_ = epoch_ + (static_cast<Stamp>(stretches_++) << stamp_bits);
        const int64_t thread = next_thread_;
        next_thread_ = threads_.after(thread);
        return thread;
    }

    int64_t block_at(int64_t position) const { return blocks_[position]; }

    /// Of the stretch at hand.
    Stamp now() const { return now_; }
    Stamp launch() const { return launch_; }  ///< where it began
    Stamp block() const { return block_; }
    bool in_epoch(Stamp s) const { return s >= epoch_; }
    /// By another block, not before `since`.
    bool in_other_block(Stamp s, Stamp since) const { return s >= since && s < block_; }
    /// Nothing orders it with the stretch at hand, if it is not before `since`.
    bool is_unordered(Stamp s, Stamp since) const {
        return in_other_block(s, since) || (s >= epoch_ && ((s ^ now_) >> stamp_bits) != 0);
    }

    /// Who ran then: only of this launch.
    Place place(Stamp s) const;

    /// Whether numbers become scarce, so that all stamps should be replaced by `before_all`, and restart() be called.
    bool is_full() const { return epoch_number_ > max_number; }
    void restart();

  private:
    static constexpr int64_t max_number = int64_t(1) << (31 - stamp_bits);
    Order epoch_order(int64_t position, int64_t epoch) const;
    static Stamp stamp(int64_t number) { return static_cast<Stamp>(number << stamp_bits); }

    uint64_t seed_ = 0;
    int64_t thread_count_ = 1;
    Order blocks_, threads_;
    int64_t position_ = 0, epochs_ = 0;        ///< of the block; epochs that have begun in it
    int64_t stretches_ = 0, next_thread_ = 0;  ///< that have begun in the epoch
    int64_t epoch_number_ = 2, next_number_ = 2;
    Stamp launch_ = stamp(2), block_ = launch_, epoch_ = launch_, now_ = launch_;
    struct Begin {
        Stamp stamp;
        int64_t position;
    };
    std::vector<Begin> begins_;  ///< of the launch's blocks
};

}  // namespace Pipe::runtime::emulator
