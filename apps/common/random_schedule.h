// Random schedules for the applications.
#pragma once

#include "apps/common/program.h"

#include <pipe/pipe.h>

#include <cstdint>
#include <initializer_list>
#include <random>

namespace apps {

class Dice {
  public:
    explicit Dice(uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15 + 1) {}
    int below(int n) { return n < 1 ? 0 : int(random_() % unsigned(n)); }
    bool chance(int percent) { return below(100) < percent; }
    int of(std::initializer_list<int> values) { return values.begin()[below(int(values.size()))]; }

  private:
    std::mt19937_64 random_;
};

enum class Taste {
    Any,        ///< any order of loops, any dimension split, small factors, explicit tails
    Plausible,  ///< what people try: tiles, whole vectors of rows, parallel outer loops
};

/// Gives the stages of a program, which has none yet, random directives that are legal together: some
/// stages are inlined, the others computed as a whole or inside a loop of a later stage, their loops split,
/// reordered, vectorized, unrolled and run in parallel. Deterministic.
void schedule_at_random(Program &program, Pipe::Pipeline &pipeline, const Pipe::Target &target,
                        Taste taste, uint64_t seed);

}  // namespace apps
