#include "lower/gpu/kernels.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

std::string kernels(const std::string &text, const Types &types = {}) {
    return ir::to_string(lower::make_kernels(parse_stmt(text, types)));
}

/// The first line: the size of the launch.
std::string launch(const std::string &text, const Types &types = {}) {
    const std::string now = kernels(text, types);
    return now.substr(0, now.find('\n'));
}

void require_refused(const std::string &text, const std::vector<std::string> &parts) {
    require_message<CompileError>([&] { kernels(text); }, parts);
}

}  // namespace

TEST_CASE("kernels: loops over blocks become a launch, whose dimension x is the innermost of them",
          "[gpu]") {
    CHECK(kernels(R"(for f.s0.yo in [1, 1 + h) gpu_block {
  let f.s0.y = f.s0.yo * 4
  for f.s0.xo in [0, w) gpu_block {
    for f.s0.xi in [0, 32) gpu_thread {
      f[f.s0.y * 100 + f.s0.xo * 32 + f.s0.xi] = 1
    }
  }
}
)") == R"(assert h < 65536, "The kernel over the blocks of f.s0.yo has ", h, " blocks in dimension y, but at most 65535 are possible. Reorder the loops so that this one is the innermost, or fuse() it."
launch f.s0 blocks (w, h, 1) threads (32, 1, 1) shared int64(0) {
  let f.s0.yo = 1 + .block.y
  let f.s0.y = f.s0.yo * 4
  let f.s0.xo = .block.x
  for f.s0.xi in [0, 32) gpu_thread {
    f[f.s0.y * 100 + f.s0.xo * 32 + f.s0.xi] = 1
  }
}
)");
}

TEST_CASE("kernels: blocks beyond an extent that differs from block to block do nothing", "[gpu]") {
    CHECK(kernels(R"(for f.s0.y in [0, 5) gpu_block {
  for f.s0.x in [0, f.s0.y + 1) gpu_block {
    f[f.s0.x] = 1
  }
}
)") == R"(launch f.s0 blocks (5, 5, 1) threads (1, 1, 1) shared int64(0) {
  let f.s0.y = .block.y
  let f.s0.x = .block.x
  if .block.x < f.s0.y + 1 {
    f[f.s0.x] = 1
  }
}
)");
}

TEST_CASE("kernels: as many threads as the stage of the blocks has, or all that there are",
          "[gpu]") {
    const std::string other = "for f.s0.xo in [0, 3) gpu_block {\n"
                              "  for g.s0.y in [0, 3) gpu_thread {\n"
                              "    for g.s0.x in [0, 20) gpu_thread {\n"
                              "      g[g.s0.x] = 1\n"
                              "    }\n"
                              "  }\n",
                      own = "  for f.s0.x in [0, 8) gpu_thread {\n"
                            "    f[f.s0.x] = 1\n"
                            "  }\n";
    CHECK(launch(other + own + "}\n") ==
          "launch f.s0 blocks (3, 1, 1) threads (8, 1, 1) shared int64(0) {");
    CHECK(launch(other + "}\n") ==
          "launch f.s0 blocks (3, 1, 1) threads (20, 3, 1) shared int64(0) {");
}

TEST_CASE("kernels: the number of threads is found below lets of vectors", "[gpu]") {
    CHECK(launch("for f.s0.xo in [0, w) gpu_block {\n"
                 "  let t = in8[ramp(f.s0.xo * 4, 1, 4)]\n"
                 "  let v = int32x4(select(t <= broadcast(int8(1), 4), broadcast(int8(1), 4), "
                 "broadcast(int8(p), 4)) + broadcast(int8(1), 4))\n"
                 "  for f.s0.x in [0, 8) gpu_thread {\n"
                 "    f[f.s0.x] = 1\n"
                 "  }\n"
                 "}\n",
                 {{"in8", Int(8)}}) ==
          "launch f.s0 blocks (w, 1, 1) threads (8, 1, 1) shared int64(0) {");
}

TEST_CASE("kernels: loops on the CPU stay", "[gpu]") {
    const std::string text = "for f.s0.y in [0, 8) parallel {\n"
                             "  for f.s0.x in [0, 8) {\n"
                             "    f[f.s0.x] = 1\n"
                             "  }\n"
                             "}\n";
    CHECK(kernels(text) == text);
}

TEST_CASE("kernels: what a kernel cannot do is refused", "[gpu]") {
    auto block = [](const std::string &body) {
        return "for f.s0.x in [0, 8) gpu_block {\n" + body + "}\n";
    };
    require_refused(block("  for g.s0.x in [0, 8) parallel {\n    g[g.s0.x] = 1\n  }\n"),
                    {"the loop g.s0.x, which is parallel on the CPU"});
    require_refused(block("  for g.s0.x in [0, 8) gpu_block {\n    g[g.s0.x] = 1\n  }\n"),
                    {"the loop g.s0.x, which is a loop over blocks, too"});
    require_refused(block("  f[f.s0.x] = slow(p)[1]\n"), {"a call of the C function slow"});
    require_refused(block("  f[f.s0.x] = print(\"f\", 1)\n"), {"print()"});
    require_refused(block("  assert p < 3, \"p\"\n"), {"a test that ends the run"});
}

TEST_CASE("kernels: a number of threads that the launch knows is tested there", "[gpu]") {
    CHECK(launch("for f.s0.xo in [0, 3) gpu_block {\n"
                 "  for f.s0.x in [0, w) gpu_thread {\n"
                 "    f[f.s0.x] = 1\n"
                 "  }\n"
                 "}\n")
              .starts_with("assert w < 1025, \"The kernel over the blocks of f.s0.xo has \", w, "
                           "\" threads per block"));
}

TEST_CASE("kernels: the size of a launch is known before it", "[gpu]") {
    require_refused("for f.s0.y in [0, 8) gpu_block {\n"
                    "  for f.s0.x in [0, in[f.s0.y]) gpu_block {\n"
                    "    f[f.s0.x] = 1\n"
                    "  }\n"
                    "}\n",
                    {"the number of blocks of f.s0.x", "is not known before the kernel starts"});
    require_refused("for f.s0.y in [0, 8) gpu_block {\n"
                    "  for f.s0.x in [0, in[f.s0.y]) gpu_thread {\n"
                    "    f[f.s0.x] = 1\n"
                    "  }\n"
                    "}\n",
                    {"the number of threads of f.s0.x", "is not known before the kernel starts"});
    require_refused("for f.s0.y in [0, 8) gpu_block {\n"
                    "  for f.s0.x in [0, 1025) gpu_thread {\n"
                    "    f[f.s0.x] = 1\n"
                    "  }\n"
                    "}\n",
                    {"1025 threads per block, but at most 1024"});
    require_refused("for f.s0.y in [0, 8) gpu_block {\n"
                    "  f[f.s0.y] = 1\n"
                    "  for f.s0.x in [0, 8) gpu_block {\n"
                    "    f[f.s0.x] = 1\n"
                    "  }\n"
                    "}\n",
                    {"Between the loops over blocks", "something else is computed", "reorder()"});
}
