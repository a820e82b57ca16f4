// Arena: a stack of blocks.

#include <cstdint>
#include <cstring>

#include <catch2/catch_test_macros.hpp>

#include "jit/arena.h"

using Pipe::jit::Arena;

TEST_CASE("blocks are aligned, apart, and freed in order") {
    Arena arena;
    char *a = static_cast<char *>(arena.push(100, 0)), *b = static_cast<char *>(arena.push(1, 0));
    REQUIRE(reinterpret_cast<uintptr_t>(a) % 64 == 0);
    REQUIRE(b >= a + 100);
    REQUIRE(arena.used() == 192);
    arena.pop(b);
    REQUIRE(arena.used() == 128);
    REQUIRE(arena.push(5, 0) == b);
    arena.pop(a);  // and all above it
    REQUIRE(arena.used() == 0);
    REQUIRE(arena.peak() == 192);
}

TEST_CASE("the arena grows, and keeps what it has for the next time") {
    Arena arena;
    std::vector<char *> blocks;
    for (int64_t size = 64; size <= (32 << 20); size *= 2) {
        blocks.push_back(static_cast<char *>(arena.push(size, 0)));
        REQUIRE(blocks.back() != nullptr);
        std::memset(blocks.back(), 1, static_cast<size_t>(size));
    }
    size_t depth = arena.depth();
    auto *again = arena.push(1 << 20, 0);
    arena.pop_to(depth);
    REQUIRE(arena.push(1 << 20, 0) == again);
    arena.pop_to(0);
    REQUIRE(arena.used() == 0);
    REQUIRE(arena.push(64, 0) == blocks[0]);
}

TEST_CASE("too much is refused, and nothing is lost by it") {
    Arena arena;
    REQUIRE(arena.push(1000, 1 << 20) != nullptr);
    REQUIRE(arena.push(1 << 20, 1 << 20) == nullptr);
    REQUIRE(arena.push(-1, 0) == nullptr);
    REQUIRE(arena.push(INT64_MAX, 0) == nullptr);
    REQUIRE(arena.push(int64_t(1) << 46, 0) == nullptr);
    REQUIRE(arena.used() == 1024);
    REQUIRE(arena.push(1000, 1 << 20) != nullptr);
}

TEST_CASE("trim gives empty chunks back, and the arena goes on") {
    Arena arena;
    void *kept = arena.push(100, 0);
    arena.push(8 << 20, 0);
    arena.pop_to(1);
    arena.trim(0);
    REQUIRE(arena.used() == 128);
    REQUIRE(arena.push(100, 0) == static_cast<char *>(kept) + 128);
    REQUIRE(arena.push(8 << 20, 0) != nullptr);
}
