// Random loads, stores and atomic operations: a race is reported exactly where two accesses conflict, as a comparison of
// all pairs says.
#include "test/gpu/emulator/kernels.h"

#include <cstring>
#include <random>

using namespace hand_written;

namespace {

struct Access {
    GPUSite::Kind kind;
    int32_t offset, bytes;
    char value;  ///< that a store leaves in all bytes: another one for each store
};

/// What each thread of each block does between barriers.
struct Program {
    int blocks, threads, epochs;
    std::vector<std::vector<Access>> accesses;  ///< by block, thread, epoch

    std::vector<Access> &at(int block, int thread, int epoch) {
        return accesses[static_cast<size_t>((block * threads + thread) * epochs + epoch)];
    }
};

enum { Load, Store, Atomic, Barrier };

void run_program(EmulatedThread *t, void *const *params) {
    auto *memory = param<char *>(params, 0);
    auto *program = param<Program *>(params, 1);
    const bool shared = param<int64_t>(params, 2) != 0;
    if (shared) {
        memory = static_cast<char *>(t->shared);
        if (t->thread[0] == 0) {
            Pipe::runtime::pipe_emulator_access(t, Store, memory, 256, memory, 256);
            std::memset(memory, 0, 256);
        }
        Pipe::runtime::pipe_emulator_barrier(t, Barrier);
    }
    for (int epoch = 0; epoch < program->epochs; epoch++) {
        if (epoch > 0)
            Pipe::runtime::pipe_emulator_barrier(t, Barrier);
        for (const Access &a : program->at(t->block[0], t->thread[0], epoch)) {
            Pipe::runtime::pipe_emulator_access(t, a.kind, memory + a.offset, a.bytes,
                                                shared ? memory : nullptr, 256);
            if (a.kind != GPUSite::Load)
                std::memset(memory + a.offset, a.value, static_cast<size_t>(a.bytes));
        }
    }
}

Program random_program(std::mt19937 &random, int bytes_of_memory) {
    auto upto = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    Program p{1 + upto(3), 1 + upto(4), 1 + upto(4), {}};
    p.accesses.resize(static_cast<size_t>(p.blocks * p.threads * p.epochs));
    const int count = 1 + upto(30), smallest = upto(3), atomics = upto(2);
    for (int i = 0; i < count; i++) {
        const int bytes = std::min(1 << (smallest + upto(3)), bytes_of_memory);
        const int offset = upto(bytes_of_memory / bytes) * bytes;
        const auto kind = upto(3) > 0                    ? GPUSite::Load
                          : atomics == 1 && upto(2) == 0 ? GPUSite::Atomic
                                                         : GPUSite::Store;
        p.at(upto(p.blocks), upto(p.threads), upto(p.epochs))
            .push_back({kind, offset, bytes, static_cast<char>(i + 1)});
    }
    return p;
}

/// Two accesses to one byte that nothing orders, not both loads, and not both atomic.
bool has_race(Program &p, bool shared) {
    auto conflict = [](const std::vector<Access> &one, const std::vector<Access> &other) {
        for (const Access &a : one)
            for (const Access &b : other)
                if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes &&
                    (a.kind != b.kind || a.kind == GPUSite::Store))
                    return true;
        return false;
    };
    for (int b = 0; b < p.blocks; b++)
        for (int c = 0; c <= b; c++)
            for (int t = 0; t < p.threads; t++)
                for (int u = 0; u < p.threads; u++)
                    for (int e = 0; e < p.epochs; e++)
                        for (int f = 0; f < p.epochs; f++) {
                            const bool unordered = b == c ? e == f && t != u : !shared;
                            if (unordered && conflict(p.at(b, t, e), p.at(c, u, f)))
                                return true;
                        }
    return false;
}

void compare(bool shared) {
    EmulatedDevice device;
    const GPUSite::Memory memory = shared ? GPUSite::Shared : GPUSite::Global;
    Module module("random", run_program,
                  {site("x", GPUSite::Load, memory, 1), site("x", GPUSite::Store, memory, 1),
                   site("x", GPUSite::Atomic, memory, 1), barrier_site});
    int races = 0;
    const int cases = 3000;
    for (int i = 0; i < cases; i++) {
        std::mt19937 random(static_cast<unsigned>(i));
        const int bytes = 8 << (random() % 6);
        Program program = random_program(random, bytes);
        DeviceArray<char> global(device, std::vector<char>(static_cast<size_t>(bytes)));
        const bool expected = has_race(program, shared);
        races += expected;
        const std::string error =
            module.error(device, {program.blocks}, {program.threads}, 256,
                         {global.address, reinterpret_cast<uint64_t>(&program), shared ? 1u : 0u});
        INFO("case " << i << ", " << error);
        REQUIRE(!error.empty() == expected);
        for (const EmulatorReport &r : device.take_reports())
            REQUIRE(r.kind == EmulatorReport::Race);
    }
    REQUIRE(races > cases / 5);
    REQUIRE(races < cases * 4 / 5);
}

}  // namespace

TEST_CASE("random accesses to global memory", "[emulator]") {
    compare(false);
}

TEST_CASE("random accesses to shared memory", "[emulator]") {
    compare(true);
}
