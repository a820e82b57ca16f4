#pragma once
// Building and running small programs for the tests of codegen and jit.

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "ir/expr_node.h"
#include "ir/intrinsics.h"
#include "ir/program.h"
#include "jit/kernel.h"
#include "support/targets.h"

namespace Pipe::test {

using Kind = ir::Argument::Kind;
using testing::runnable_targets;

inline Expr int32(int v) {
    return ir::make_int(Int(32), v);
}
inline Expr var32(const std::string &name) {
    return ir::make_variable(Int(32), name);
}
inline Expr var64(const std::string &name) {
    return ir::make_variable(Int(64), name);
}

/// base, base + stride, ...; just base for one lane.
inline Expr ramp(Expr base, int stride, int lanes) {
    if (lanes == 1)
        return base;
    return ir::make_ramp(base, ir::make_int(base.type(), stride), lanes);
}

inline Expr load(Type type, const std::string &buffer, Expr base, int lanes) {
    return ir::make_load(type.with_lanes(lanes), buffer, ramp(std::move(base), 1, lanes));
}

/// A vector and how a kernel sees it: dense, one dimension, min 0.
struct Data {
    runtime::BufferArgument argument;
    template <typename T> explicit Data(std::vector<T> &v) {
        argument.host = v.data();
        argument.dim[0] = {0, static_cast<int64_t>(v.size()), 1};
    }
};

/// Compiles and runs; the arguments are the addresses of BufferArguments and scalars.
inline int run(const ir::Program &program, std::vector<void *> args, std::string *error = nullptr,
               const Target &target = get_host_target()) {
    std::string message;
    int code = jit::compile(program, target).run({}, args.data(), &message);
    if (error)
        *error = message;
    return code;
}

/// A program that computes, from input buffers in0, in1, ... of equal length, one output buffer
/// out0, out1, ... per entry of `results`, which are made by `make` from the loaded vectors.
class Elementwise {
  public:
    explicit Elementwise(int lanes) : lanes_(lanes) {}

    /// The lanes of a new input.
    Expr input(Type type) {
        std::string name = "in" + std::to_string(inputs_++);
        program_.args.push_back({Kind::InputBuffer, name, type, 1});
        return load(type, name, base(), lanes_);
    }
    void output(const Expr &value) {
        std::string name = "out" + std::to_string(outputs_++);
        program_.args.push_back({Kind::OutputBuffer, name, value.type().element_of(), 1});
        stores_.push_back(ir::make_store(name, ramp(base(), 1, lanes_), value));
    }
    /// `count` must be a multiple of the lanes.
    ir::Program program(int count) {
        program_.name = "elementwise";
        program_.body = ir::make_for("i", int32(0), int32(count / lanes_), LoopKind::Serial,
                                     ir::make_block(stores_));
        return program_;
    }

  private:
    Expr base() const { return ir::mul(var32("i"), int32(lanes_)); }

    int lanes_, inputs_ = 0, outputs_ = 0;
    ir::Program program_;
    std::vector<ir::Stmt> stores_;
};

/// Numbers of a type among which are those at the edges.
template <typename T> std::vector<T> samples(size_t count, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> v(count);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = random();
        if constexpr (std::is_floating_point_v<T>) {
            std::uniform_real_distribution<T> values(-1000, 1000);
            v[i] = i % 8 == 0 ? static_cast<T>(static_cast<int>(bits % 7) - 3) : values(random);
        } else if constexpr (std::is_same_v<T, bool>) {
            v[i] = (bits & 1) != 0;
        } else {
            const T edges[] = {0,
                               1,
                               2,
                               3,
                               static_cast<T>(-1),
                               static_cast<T>(-2),
                               std::numeric_limits<T>::min(),
                               std::numeric_limits<T>::max()};
            v[i] = i % 3 == 0 ? edges[bits % 8] : static_cast<T>(bits >> (bits >> 59));
        }
    }
    return v;
}

}  // namespace Pipe::test
