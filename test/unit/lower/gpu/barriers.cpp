#include "lower/gpu/barriers.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// `body` in a kernel with an array in shared memory. A barrier is a line "barrier".
std::string kernel(const std::string &body) {
    return "launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
           "  allocate a[int32 * 8] in shared memory {\n" +
           body +
           "  }\n"
           "}\n";
}

/// A step of 8 threads.
std::string step(const std::string &statement) {
    return "    for x in [0, 8) gpu_thread {\n"
           "      " +
           statement +
           "\n"
           "    }\n";
}

const std::string barrier = "    barrier\n";

std::string waiting(const std::string &body) {
    return ir::to_string(lower::insert_barriers(parse_stmt(kernel(body))));
}

/// Between the two steps.
void check_barrier(const std::string &first, const std::string &second) {
    CHECK(waiting(step(first) + step(second)) == kernel(step(first) + barrier + step(second)));
}
void check_none(const std::string &body) {
    CHECK(waiting(body) == kernel(body));
}

}  // namespace

TEST_CASE("barriers: threads wait before they load what others stored") {
    check_barrier("a[x] = in[x]", "f[x] = a[7 - x]");
}

TEST_CASE("barriers: threads wait before they store over what others load, or stored") {
    check_barrier("f[x] = a[7 - x]", "a[x] = in[x]");
    check_barrier("a[x] = in[x]", "a[7 - x] = in[x]");
}

TEST_CASE("barriers: a loop's next iteration waits for the one before") {
    const std::string store = "      for x in [0, 8) gpu_thread {\n        a[x] = in[x]\n      }\n",
                      load =
                          "      for x in [0, 8) gpu_thread {\n        f[x] = a[7 - x]\n      }\n";
    CHECK(waiting("    for i in [0, 4) {\n" + store + load + "    }\n") ==
          kernel("    for i in [0, 4) {\n      barrier\n" + store + "      barrier\n" + load +
                 "    }\n"));
}

TEST_CASE("barriers: none where each thread accesses elements of its own") {
    check_none(step("a[x] = in[x]") + step("f[x] = a[x]"));
    check_none(step("a[x] = in[x]") + step("a[x] = a[x] + 1"));
}

TEST_CASE("barriers: none between accesses of different buffers, and between loads") {
    check_none(step("a[x] = in[x]") + step("f[x] = in[7 - x]"));
    check_none(step("f[x] = a[7 - x]") + step("g[x] = a[x]"));
}

TEST_CASE("barriers: one that is there already counts") {
    check_none(step("a[x] = in[x]") + barrier + step("f[x] = a[7 - x]"));
}

TEST_CASE("barriers: none between the stores of one pure definition") {
    // Every element is stored once, wherever its loops were taken apart.
    auto part = [](const std::string &stage, const std::string &index) {
        return "    for " + stage + ".x in [0, 4) gpu_thread {\n      a[" + index +
               "] = 1\n    }\n";
    };
    const std::string first = part("a.s0", "a.s0.x"), second = part("a.s0", "7 - a.s0.x");
    check_none(first + second);
    const std::string update = part("a.s1", "7 - a.s1.x");
    CHECK(waiting(first + update) == kernel(first + barrier + update));
}

TEST_CASE("barriers: none outside of kernels") {
    const std::string text = "for x in [0, 8) parallel {\n  a[x] = in[x]\n}\n"
                             "for x in [0, 8) parallel {\n  f[x] = a[7 - x]\n}\n";
    CHECK(ir::to_string(lower::insert_barriers(parse_stmt(text))) == text);
}
