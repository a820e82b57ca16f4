#include "language/random.h"

#include <atomic>

#include "ir/intrinsics.h"
#include "ir/visit.h"
#include "language/match.h"
#include <pipe/operators.h>
#include <pipe/random.h>

namespace Pipe {
namespace {

/// A placeholder for 32 random bits until its definition is known. Args: the seed, and 1 if the
/// user gave it.
Expr random_bits(const char *function, const Expr &seed) {
    static std::atomic<uint32_t> calls{0};
    Expr start;
    if (seed.defined()) {
        if (!seed.type().is_int_or_uint() || seed.type().is_bool())
            language::reject(function, seed,
                             "the seed must be an integer. Cast it, as in cast<int>(x).");
        start = cast(UInt(32), seed);
    } else {
        start = Expr(calls.fetch_add(1, std::memory_order_relaxed));
    }
    return ir::make_call(UInt(32), ir::intrinsic::random, {start, Expr(seed.defined())},
                         ir::CallKind::Intrinsic);
}

}  // namespace

Expr random_uint(const Expr &seed) {
    return random_bits("random_uint", seed);
}

Expr random_int(const Expr &seed) {
    return reinterpret(Int(32), random_bits("random_int", seed));
}

Expr random_float(const Expr &seed) {
    return cast(Float(32), random_bits("random_float", seed) >> 8) * 0x1p-24f;
}

}  // namespace Pipe

namespace Pipe::language {
namespace {

/// Each bit of the result depends on every bit of h: two rounds of multiplication by an odd number,
/// with the high bits folded onto the low ones between them.
Expr mixed(Expr h) {
    h = h ^ (h >> 16);
    h = h * Expr(uint32_t{0x7feb352d});
    h = h ^ (h >> 15);
    h = h * Expr(uint32_t{0x846ca68b});
    return h ^ (h >> 16);
}

uint32_t hash_of(const std::string &text) {
    uint32_t h = 2166136261u;  // FNV-1a
    for (char c : text)
        h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
    return h;
}

class Expander : public ir::GraphMutator {
  public:
    Expander(const std::string &salt, const std::vector<std::string> &coordinates)
        : salt_(salt), coordinates_(coordinates) {}

  protected:
    Expr rewrite(const Expr &given) override {
        Expr e = ir::GraphMutator::rewrite(given);
        if (!ir::is_intrinsic(*e.get(), ir::intrinsic::random))
            return e;
        bool seeded = ir::is_const(e->args[1], 1);
        Expr h = mixed(e->args[0] + Expr(hash_of(salt_ + (seeded ? " seeded" : ""))));
        for (const std::string &name : coordinates_)
            h = mixed(h + cast(UInt(32), ir::make_variable(Int(32), name)));
        return h;
    }

  private:
    const std::string &salt_;
    const std::vector<std::string> &coordinates_;
};

}  // namespace

Expr RandomNumbers::expand(const Expr &e) const {
    return Expander(salt_, coordinates_).mutate(e);
}

}  // namespace Pipe::language
