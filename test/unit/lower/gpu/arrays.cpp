#include "lower/gpu/shared_memory.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// A kernel of 5 blocks of 8 threads.
std::string kernel(const std::string &body, const std::string &shared = "0") {
    return "launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(" + shared + ") {\n" +
           body + "}\n";
}

std::string placed(const std::string &text,
                   const char *target = "x86-64-linux-cuda-cuda_capability_80") {
    return ir::to_string(lower::place_arrays(parse_stmt(text), Target(target)));
}

/// `allocate a[..]`, to which each of 8 threads stores an element that another one loads.
std::string exchanged(const std::string &allocation) {
    return "  " + allocation +
           " {\n"
           "    for x in [0, 8) gpu_thread {\n"
           "      a[x] = in[x]\n"
           "    }\n"
           "    for x in [0, 8) gpu_thread {\n"
           "      f[x] = a[7 - x]\n"
           "    }\n"
           "  }\n";
}

}  // namespace

TEST_CASE("arrays: what threads exchange lies in shared memory, which the launch is told of",
          "[gpu]") {
    CHECK(placed(kernel(exchanged("allocate a[int32 * 4 * 2]"))) ==
          kernel(exchanged("allocate a[int32 * int64(8)] in shared memory"),
                 "64"));  // 32 bytes, aligned
}

TEST_CASE("arrays: of a size that differs between blocks there is as much as the largest needs",
          "[gpu]") {
    CHECK(placed(kernel(exchanged("allocate a[int32 * (.block.x * 2 + 8)]"))) ==
          kernel(exchanged("allocate a[int32 * int64(16)] in shared memory"), "64"));
}

TEST_CASE("arrays: of a size that the launch knows there is as much as it says", "[gpu]") {
    const std::string now = placed(kernel(exchanged("allocate a[int32 * w]")));
    INFO(now);
    CHECK(now.find("allocate a[int32 * int64(w)] in shared memory") != std::string::npos);
    CHECK(now.substr(0, now.find('\n')).find("int64(w)") != std::string::npos);
    require_message<CompileError>([] { placed(kernel(exchanged("allocate a[int32 * in[0]]"))); },
                                  {"a", "not known before the kernel starts", "Bound it", "root"});
}

TEST_CASE("arrays: those that exist at one time lie one behind the other", "[gpu]") {
    const std::string a = "  allocate a[int32 * 10] {\n  a[.thread.x] = in[0]\n  f[0] = a[3]\n",
                      b = "  allocate b[int32 * 20] {\n  b[.thread.x] = in[0]\n  f[0] = b[3]\n";
    auto shared = [](const std::string &text) {
        const std::string now = placed(text);
        return now.substr(0, now.find('\n'));
    };
    CHECK(shared(kernel(a + b + "  }\n  }\n")).ends_with("shared int64(192) {"));
    CHECK(shared(kernel(a + "  }\n" + b + "  }\n")).ends_with("shared int64(128) {"));
}

TEST_CASE("arrays: elements that only one thread accesses are in an array of its own", "[gpu]") {
    const std::string body = "  allocate a[int32 * 24] {\n"
                             "    for x in [0, 8) gpu_thread {\n"
                             "      for i in [0, 3) {\n"
                             "        a[x * 3 + i] = in[x]\n"
                             "      }\n"
                             "    }\n"
                             "    for x in [0, 8) gpu_thread {\n"
                             "      f[x] = a[x * 3 + 2]\n"
                             "    }\n"
                             "  }\n";
    CHECK(placed(kernel(body)) == kernel("  allocate a[int32 * int64(3)] in stack {\n"
                                         "    for x in [0, 8) gpu_thread {\n"
                                         "      for i in [0, 3) {\n"
                                         "        a[i] = in[x]\n"
                                         "      }\n"
                                         "    }\n"
                                         "    for x in [0, 8) gpu_thread {\n"
                                         "      f[x] = a[2]\n"
                                         "    }\n"
                                         "  }\n"));
}

TEST_CASE("arrays: one that is allocated inside of a loop over threads is that thread's", "[gpu]") {
    const std::string inside = "  for x in [0, 8) gpu_thread {\n"
                               "    allocate a[int32 * SIZE] {\n"
                               "      a[0] = in[x]\n"
                               "      f[x] = a[0]\n"
                               "    }\n"
                               "  }\n";
    auto sized = [&](const std::string &size) {
        return kernel(std::string(inside).replace(inside.find("SIZE] "), 6, size));
    };
    CHECK(placed(sized("3] ")) == sized("int64(3)] in stack "));
    require_message<CompileError>([&] { placed(sized("n] ")); },
                                  {"a is computed by each thread", "is not known"});
    require_message<CompileError>([&] { placed(sized("40000] ")); },
                                  {"needs 160000 bytes for itself", "at most 131072"});
}

TEST_CASE("arrays: in global memory there is a part for each block", "[gpu]") {
    CHECK(placed(kernel(exchanged("allocate a[int32 * 8] in heap"))) ==
          R"(allocate a[int32 * int64(40)] in heap {
  launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {
    for x in [0, 8) gpu_thread {
      a[int64(x) + ((int64(.block.z) * int64(1) + int64(.block.y)) * int64(5) + int64(.block.x)) * int64(8)] = in[x]
    }
    for x in [0, 8) gpu_thread {
      f[x] = a[int64(7 - x) + ((int64(.block.z) * int64(1) + int64(.block.y)) * int64(5) + int64(.block.x)) * int64(8)]
    }
  }
}
)");
}

TEST_CASE("arrays: in global memory, the parts of a loop that was taken apart share one place",
          "[gpu]") {
    const std::string now = placed(kernel(exchanged("allocate a[int32 * 8] in heap") +
                                          exchanged("allocate a[int32 * 9] in heap")));
    INFO(now);
    CHECK(now.starts_with("allocate a[int32 * int64(45)] in heap {\n  launch"));
    CHECK(now.find("allocate", 10) == std::string::npos);
    CHECK(now.find("int64(.block.x)) * int64(9)") != std::string::npos);
    CHECK(now.find("int64(.block.x)) * int64(8)") == std::string::npos);
}

TEST_CASE("arrays: shared memory has a limit, which depends on the GPU", "[gpu]") {
    const std::string text = kernel(exchanged("allocate a[int32 * 20000]"));
    CHECK(placed(text).find("shared int64(80000)") != std::string::npos);
    require_message<CompileError>([&] { placed(text, "x86-64-linux-cuda-cuda_capability_75"); },
                                  {"80000 bytes of shared memory", "the GPU has 65536"});
    const std::string two = "  allocate a[int32 * 30000] {\n  a[.thread.x] = in[0]\n  f[0] = a[3]\n"
                            "  allocate b[int32 * 20000] {\n  b[.thread.x] = in[0]\n"
                            "  f[0] = b[3]\n  }\n  }\n";
    require_message<CompileError>([&] { placed(kernel(two)); },
                                  {"kernel f.s0", "200000 bytes of shared memory", "a 120000",
                                   "b 80000", "166912", "tiles smaller"});
}

TEST_CASE("arrays: those outside of kernels stay", "[gpu]") {
    const std::string text = "allocate a[int32 * n] {\n"
                             "  a[0] = 1\n" +
                             kernel("  f[.block.x] = a[0]\n") + "}\n";
    const std::string now = placed(text);
    CHECK(now.starts_with("allocate a[int32 * n] {\n  a[0] = 1\n  launch"));
}
