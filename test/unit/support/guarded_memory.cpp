#include "support/guarded_memory.h"

#include <catch2/catch_test_macros.hpp>

using namespace Pipe;

TEST_CASE("what is written behind guarded memory of a pipeline is found", "[support]") {
    constexpr size_t line = 64, more = 128;  // what the run time asks for besides the block
    for (size_t bytes : {1, 40, 63, 64, 65, 8192})
        for (bool behind : {false, true}) {
            testing::GuardedContext context;
            void *given = context.handlers.custom_malloc(&context, bytes + more);
            auto address = reinterpret_cast<uintptr_t>(given) + line;
            auto *block = reinterpret_cast<unsigned char *>((address + line - 1) / line * line);
            CHECK(block[0] == testing::poison);
            std::fill_n(block, bytes, 0);
            if (bytes % line == 0)
                behind = false;  // there the page begins
            if (behind)
                block[bytes] = 0;
            CHECK(context.left() == 1);
            context.handlers.custom_free(&context, given);
            CHECK(context.left() == 0);
            CHECK(context.overrun() == (behind ? 1 : 0));
        }
}
