// Arena: a stack of blocks, and gaps in it.

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <random>

#include <catch2/catch_test_macros.hpp>

#include "jit/runtime/arena.h"

using Pipe::runtime::Arena;

TEST_CASE("blocks are aligned, apart, and freed in order") {
    Arena arena;
    char *a = static_cast<char *>(arena.push(100, 0)), *b = static_cast<char *>(arena.push(1, 0));
    REQUIRE(reinterpret_cast<uintptr_t>(a) % 64 == 0);
    REQUIRE(b >= a + 100);
    REQUIRE(arena.used() == 192);
    arena.pop(b);
    REQUIRE(arena.used() == 128);
    REQUIRE(arena.push(5, 0) == b);
    arena.pop(b);
    arena.pop(a);
    REQUIRE(arena.used() == 0);
    REQUIRE(arena.peak() == 192);
    REQUIRE(arena.push(1, 0) == a);
}

TEST_CASE("a block that is freed early leaves a gap, which what fits into it takes") {
    Arena arena;
    auto push = [&](int64_t bytes) { return static_cast<char *>(arena.push(bytes, 0)); };
    char *a = push(640), *b = push(640), *c = push(64);
    arena.pop(a);
    REQUIRE(arena.used() == 640 + 64);
    REQUIRE(push(704) == c + 64);  // does not fit
    REQUIRE(push(128) == a);
    REQUIRE(push(512) == a + 128);
    REQUIRE(push(64) == c + 64 + 704);
    REQUIRE(arena.used() == arena.peak());
    // gaps that touch are one
    arena.pop(b);
    arena.pop(c);
    REQUIRE(push(704) == b);
    // of several, the smallest that is large enough
    arena.pop(b);
    arena.pop(a);
    REQUIRE(push(64) == a);
    REQUIRE(push(640) == b);
}

TEST_CASE("what is free on top is the stack's again, whatever was freed first") {
    Arena arena;
    void *a = arena.push(100, 0), *b = arena.push(100, 0), *c = arena.push(100, 0);
    arena.pop(b);
    arena.pop(c);
    REQUIRE(arena.used() == 128);
    REQUIRE(arena.push(1000, 0) == b);
    arena.pop(a);
    arena.pop(b);
    REQUIRE(arena.used() == 0);
    REQUIRE(arena.push(1000, 0) == a);
}

TEST_CASE("pop_since frees what was pushed later, into gaps too") {
    Arena arena;
    void *a = arena.push(640, 0), *b = arena.push(640, 0);
    arena.pop(a);
    int64_t mark = arena.mark();
    REQUIRE(arena.push(64, 0) == a);
    REQUIRE(arena.push(6400, 0) > b);
    arena.pop_since(mark);
    REQUIRE(arena.used() == 640);
    REQUIRE(arena.push(640, 0) == a);
}

TEST_CASE("random blocks never overlap, and all memory comes back") {
    for (unsigned seed = 1; seed <= 50; seed++) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        Arena arena;
        std::map<char *, int64_t> live;  // bytes, by address
        int64_t used = 0;
        for (int step = 0; step < 400; step++) {
            if (live.empty() || random() % 5 < 3) {
                const int64_t bytes = 64 * (1 + random() % (random() % 20 == 0 ? 20000 : 40));
                char *block = static_cast<char *>(arena.push(bytes, 0));
                REQUIRE(block != nullptr);
                auto after = live.lower_bound(block);
                REQUIRE((after == live.end() || block + bytes <= after->first));
                REQUIRE((after == live.begin() ||
                         std::prev(after)->first + std::prev(after)->second <= block));
                live[block] = bytes;
                used += bytes;
            } else {
                auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
                arena.pop(victim->first);
                used -= victim->second;
                live.erase(victim);
            }
            REQUIRE(arena.used() == used);
        }
        arena.pop_since(0);
        REQUIRE(arena.used() == 0);
    }
}

TEST_CASE("the arena grows, and keeps what it has for the next time") {
    Arena arena;
    std::vector<char *> blocks;
    for (int64_t size = 64; size <= (32 << 20); size *= 2) {
        blocks.push_back(static_cast<char *>(arena.push(size, 0)));
        REQUIRE(blocks.back() != nullptr);
        std::memset(blocks.back(), 1, static_cast<size_t>(size));
    }
    int64_t mark = arena.mark();
    auto *again = arena.push(1 << 20, 0);
    arena.pop_since(mark);
    REQUIRE(arena.push(1 << 20, 0) == again);
    arena.pop_since(0);
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
    arena.pop(arena.push(8 << 20, 0));
    arena.trim(0);
    REQUIRE(arena.used() == 128);
    REQUIRE(arena.push(100, 0) == static_cast<char *>(kept) + 128);
    REQUIRE(arena.push(8 << 20, 0) != nullptr);
}
