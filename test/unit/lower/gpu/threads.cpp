#include "lower/gpu/threads.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// A kernel of blocks of `threads` threads.
std::string kernel(const std::string &threads, const std::string &body) {
    return "launch f.s0 blocks (5, 1, 1) threads (" + threads + ") shared int64(0) {\n" + body +
           "}\n";
}

/// The body of the kernel.
std::string mapped(const std::string &threads, const std::string &body) {
    const ir::Stmt launch = lower::map_threads(parse_stmt(kernel(threads, body)));
    return ir::to_string(launch->stmts[0]);
}

}  // namespace

TEST_CASE("threads: an iteration of a loop over threads is one thread's, by its index", "[gpu]") {
    CHECK(mapped("8, 4, 1", "  for y in [1, 5) gpu_thread {\n"
                            "    for x in [0, 8) gpu_thread {\n"
                            "      f[y * 8 + x] = in[x]\n"
                            "    }\n"
                            "  }\n") == "f[.thread.y * 8 + .thread.x + 8] = in[.thread.x]\n");
}

TEST_CASE("threads: those beyond the last iteration do nothing", "[gpu]") {
    CHECK(mapped("8, 1, 1", "  for x in [0, 5) gpu_thread {\n    f[x] = 1\n  }\n") ==
          "if .thread.x < 5 {\n  f[.thread.x] = 1\n}\n");
}

TEST_CASE("threads: of more iterations than threads, each takes several", "[gpu]") {
    CHECK(mapped("8, 1, 1", "  for x in [0, 16) gpu_thread {\n    f[x] = 1\n  }\n") ==
          "for x.step in [0, 2) {\n  f[x.step * 8 + .thread.x] = 1\n}\n");
    CHECK(mapped("8, 1, 1", "  for x in [0, 20) gpu_thread {\n    f[x] = 1\n  }\n") ==
          "for x.step in [0, 3) {\n"
          "  if x.step * 8 + .thread.x < 20 {\n"
          "    f[x.step * 8 + .thread.x] = 1\n"
          "  }\n"
          "}\n");
    CHECK(mapped("8, 1, 1", "  for x in [0, w) gpu_thread {\n    f[x] = 1\n  }\n") ==
          "for x.step in [0, (w + 7) / 8) {\n"
          "  if x.step * 8 + .thread.x < w {\n"
          "    f[x.step * 8 + .thread.x] = 1\n"
          "  }\n"
          "}\n");
}

TEST_CASE("threads: a nest without a loop over some dimension is for the first threads in it",
          "[gpu]") {
    CHECK(mapped("8, 4, 1", "  for x in [0, 8) gpu_thread {\n    f[x] = 1\n  }\n") ==
          "if .thread.y == 0 {\n  f[.thread.x] = 1\n}\n");
    CHECK(mapped("8, 1, 1", "  f[0] = 1\n") == "if .thread.x == 0 {\n  f[0] = 1\n}\n");
    const std::string first = mapped("8, 4, 1", "  f[0] = 1\n");
    INFO(first);
    CHECK(first.find(".thread.x == 0") != std::string::npos);
    CHECK(first.find(".thread.y == 0") != std::string::npos);
}

TEST_CASE("threads: a barrier, and the loop around it, is for all threads", "[gpu]") {
    const std::string text = "  for i in [0, 4) {\n"
                             "    f[i] = 1\n"
                             "    barrier\n"
                             "  }\n";
    CHECK(mapped("8, 1, 1", text) == "for i in [0, 4) {\n"
                                     "  if .thread.x == 0 {\n"
                                     "    f[i] = 1\n"
                                     "  }\n"
                                     "  barrier\n"
                                     "}\n");
    // Without a barrier, one thread has the whole loop.
    CHECK(mapped("8, 1, 1", "  for i in [0, 4) {\n    f[i] = 1\n  }\n") == "if .thread.x == 0 {\n"
                                                                           "  for i in [0, 4) {\n"
                                                                           "    f[i] = 1\n"
                                                                           "  }\n"
                                                                           "}\n");
}

TEST_CASE("threads: a loop between two loops over threads is refused", "[gpu]") {
    require_message<CompileError>(
        [] {
            mapped("8, 4, 1", "  for y in [0, 4) gpu_thread {\n"
                              "    for i in [0, n) {\n"
                              "      for x in [0, 8) gpu_thread {\n"
                              "        f[x] = 1\n"
                              "      }\n"
                              "    }\n"
                              "  }\n");
        },
        {"between two loops over threads stands the loop i", "reorder()"});
}

TEST_CASE("threads: loops outside of kernels stay", "[gpu]") {
    const std::string text = "for x in [0, 8) parallel {\n  f[x] = 1\n}\n";
    CHECK(ir::to_string(lower::map_threads(parse_stmt(text))) == text);
}
