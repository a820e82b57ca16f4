#include "support/guarded_memory.h"

#include <csignal>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

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

namespace {

/// The signal that ends a process which writes to byte `at` (none from 100 on) of a freed block,
/// and then asks for a block of the same size.
int signal_after_write(size_t at) {
    pid_t child = fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // no report of Catch2
        unsigned char *data = testing::GuardedMemory(100, true).data();
        if (at < 100)
            data[at] = 1;
        testing::GuardedMemory again(100, true);
        _exit(again.data() == data ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("what is written to freed guarded memory is found", "[support]") {
    CHECK(signal_after_write(100) == 0);
    CHECK(signal_after_write(0) == SIGABRT);
    CHECK(signal_after_write(99) == SIGABRT);
}
