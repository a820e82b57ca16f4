// Loops over blocks become launches; loops over threads places of threads.
#include "lower/gpu/kernels.h"

#include "lower/gpu/device_uses.h"
#include "lower/gpu/shared_memory.h"
#include "lower/gpu/threads.h"
#include "test/gpu/lower/loops.h"
#include "test/support/parse_ir.h"
#include "test/support/require_message.h"

using namespace gpu_lower;

namespace {

Expr x = var("f.s0.x"), y = var("f.s0.y"), xo = var("f.s0.xo"), yo = var("f.s0.yo"), w = var("w");

std::string kernels(const Stmt &s) {
    return ir::to_string(lower::make_kernels(s));
}
std::string placed(const Stmt &s) {
    return ir::to_string(lower::place_arrays(s, Target("host-cuda-cuda_capability_80")));
}
std::string mapped(const Stmt &s) {
    return ir::to_string(lower::map_threads(s));
}
Stmt out(const Expr &index) {
    return copy("out", index, "in", index);
}
/// a[..] = in[..] and out[..] = a[7 - ..] by the threads 0 .. 7
Stmt exchange(const std::string &buffer) {
    const Expr t = var("x");
    return both(threads("x", 8, copy(buffer, t, "in", t)),
                threads("x", 8, copy("out", t, buffer, 7 - t)));
}

}  // namespace

TEST_CASE("kernels: the innermost loop is dimension x", "[kernels]") {
    Stmt nest =
        blocks("f.s0.yo", 5,
               blocks("f.s0.xo", w, threads("f.s0.y", 4, threads("f.s0.x", 8, out(x + xo * 8)))));
    CHECK(kernels(nest) ==
          R"(launch f.s0 blocks (w, 5, 1) threads (8, 4, 1) shared int64(0) {
  let f.s0.yo = .block.y
  let f.s0.xo = .block.x
  for f.s0.y in [0, 4) gpu_thread {
    for f.s0.x in [0, 8) gpu_thread {
      out[f.s0.x + f.s0.xo * 8] = in[f.s0.x + f.s0.xo * 8]
    }
  }
}
)");
}

TEST_CASE("kernels: the number of threads where a vector is bound around them", "[kernels]") {
    const Expr loaded = ir::make_load(Int(8, 4), "in", ir::make_ramp(xo * 4, int32(1), 4));
    const Expr t = ir::make_variable(Int(8, 4), "t"),
               one = ir::make_broadcast(ir::make_int(Int(8), 1), 4);
    const Expr vector =
        ir::make_binary(ir::Op::Add,
                        ir::make_select(ir::make_binary(ir::Op::LE, t, one), one,
                                        ir::make_broadcast(ir::make_cast(Int(8), var("p")), 4)),
                        one);
    const Stmt nest = blocks("f.s0.xo", w,
                             ir::make_let("t", loaded,
                                          ir::make_let("v", ir::make_cast(Int(32, 4), vector),
                                                       threads("f.s0.x", 8, out(x + xo * 8)))));
    CHECK(kernels(nest).find("blocks (w, 1, 1) threads (8, 1, 1)") != std::string::npos);
}

TEST_CASE("kernels: blocks outside of their range do nothing", "[kernels]") {
    Stmt nest = blocks("f.s0.yo", 5,
                       blocks("f.s0.xo", ir::make_binary(ir::Op::Add, yo, int32(1)), out(xo)));
    const std::string text = kernels(nest);
    INFO(text);
    CHECK(text.find("blocks (5, 5, 1) threads (1, 1, 1)") != std::string::npos);
    CHECK(text.find("if .block.x < f.s0.yo + 1 {") != std::string::npos);
}

TEST_CASE("kernels: the stage of the blocks says how many threads there are", "[kernels]") {
    auto kernel_with = [](const Stmt &own) {
        return kernels(
            blocks("f.s0.xo", 3,
                   both(threads("g.s0.y", 3, threads("g.s0.x", 20, out(var("g.s0.x")))), own)));
    };
    CHECK(kernel_with(threads("f.s0.x", 8, out(x))).find("threads (8, 1, 1)") != std::string::npos);
    CHECK(kernel_with(out(xo)).find("threads (20, 3, 1)") != std::string::npos);
}

TEST_CASE("kernels: limits that are known at the launch only", "[kernels]") {
    const std::string text = kernels(blocks("f.s0.xo", 3, threads("f.s0.x", w, out(x))));
    INFO(text);
    CHECK(text.find("assert w < 1025, \"The kernel over the blocks of f.s0.xo has \", w, "
                    "\" threads per block") == 0);
    const std::string many =
        kernels(blocks("f.s0.yo", w, blocks("f.s0.xo", 3, threads("f.s0.x", 8, out(x)))));
    INFO(many);
    CHECK(many.find("assert w < 65536, \"The kernel over the blocks of f.s0.yo has \", w, "
                    "\" blocks in dimension y") == 0);
}

TEST_CASE("arrays: those of a block are in shared memory, one behind the other", "[arrays]") {
    Stmt nested = array("a", 10, both(exchange("a"), array("b", 20, exchange("b"))));
    const std::string text = placed(kernel(2, {8}, nested));
    INFO(text);
    CHECK(text.find("shared int64(192) {\n  allocate a[int32 * int64(10)] in shared memory") !=
          std::string::npos);
    Stmt next = both(array("a", 10, exchange("a")), array("b", 20, exchange("b")));
    CHECK(placed(kernel(2, {8}, next)).find("shared int64(128)") != std::string::npos);
}

TEST_CASE("arrays: those of threads", "[arrays]") {
    const Expr t = var("x");
    Stmt inside = threads(
        "x", 8, array("a", 3, both(copy("a", int32(1), "in", t), copy("out", t, "a", int32(1)))));
    const std::string text = placed(kernel(2, {8}, inside));
    INFO(text);
    CHECK(text.find("shared int64(0)") != std::string::npos);
    CHECK(text.find("allocate a[int32 * int64(3)] in stack") != std::string::npos);
}

TEST_CASE("arrays: a size that differs from block to block", "[arrays]") {
    Stmt body = array("a", ir::block_index(0) * 2 + 8, exchange("a"));
    const std::string text = placed(kernel(5, {8}, body));
    INFO(text);
    CHECK(text.find("shared int64(64)") != std::string::npos);
    CHECK(text.find("allocate a[int32 * int64(16)] in shared memory") != std::string::npos);
}

TEST_CASE("arrays: a size that the launch knows", "[arrays]") {
    const std::string text = placed(kernel(5, {8}, array("a", w, exchange("a"))));
    INFO(text);
    CHECK(text.find("allocate a[int32 * int64(w)] in shared memory") != std::string::npos);
    CHECK(text.substr(0, text.find('\n')).find("int64(w)") != std::string::npos);
}

TEST_CASE("arrays: in global memory there is a part for each block", "[arrays]") {
    auto heap = [](const std::string &name, int size) {
        return array(name, size, exchange(name), MemoryType::Heap);
    };
    const std::string text = placed(kernel(5, {8}, heap("a", 8)));
    INFO(text);
    CHECK(text.find("allocate a[int32 * int64(40)] in heap {\n  launch") == 0);
    CHECK(text.find("int64(.block.x)) * int64(8)] = in[x]") != std::string::npos);
    // A loop that was taken apart has the array in each of its parts: in one place.
    const std::string parts = placed(kernel(5, {8}, both(heap("a", 8), heap("a", 9))));
    INFO(parts);
    CHECK(parts.find("allocate a[int32 * int64(45)] in heap {\n  launch") == 0);
    CHECK(parts.find("allocate", 10) == std::string::npos);
    CHECK(parts.find("int64(.block.x)) * int64(8)") == std::string::npos);
}

TEST_CASE("arrays: what does not fit", "[arrays]") {
    require_message<CompileError>(
        [&] {
            placed(kernel(
                2, {8}, array("a", 30000, both(exchange("a"), array("b", 20000, exchange("b"))))));
        },
        {"kernel f.s0", "200000 bytes of shared memory", "a 120000", "b 80000", "166912",
         "tiles smaller"});
    require_message<CompileError>(
        [&] { placed(kernel(2, {8}, threads("x", 8, array("a", w, copy("a", w, "in", w))))); },
        {"a", "each thread", "not known when it is compiled", "loop over blocks"});
    require_message<CompileError>(
        [&] { placed(kernel(2, {8}, array("a", load("in", int32(0)), exchange("a")))); },
        {"a", "not known before the kernel starts", "Bound it", "root"});
}

TEST_CASE("threads: each takes one iteration", "[threads]") {
    const Expr t = var("x");
    CHECK(mapped(kernel(2, {8}, threads("x", 8, out(t))))
              .find("{\n  out[.thread.x] = in[.thread.x]\n}") != std::string::npos);
    CHECK(mapped(kernel(2, {8}, threads("x", 5, out(t))))
              .find("{\n  if .thread.x < 5 {\n    out[.thread.x] = in[.thread.x]\n  }\n}") !=
          std::string::npos);
    CHECK(mapped(kernel(2, {8}, threads("x", w, out(t)))).find("for x.step in [0, (w + 7) / 8)") !=
          std::string::npos);
}

TEST_CASE("threads: some take several", "[threads]") {
    const Expr t = var("x");
    const std::string text = mapped(kernel(2, {8}, threads("x", 20, out(t))));
    CHECK(text == R"(launch f.s0 blocks (2, 1, 1) threads (8, 1, 1) shared int64(0) {
  for x.step in [0, 3) {
    if x.step * 8 + .thread.x < 20 {
      out[x.step * 8 + .thread.x] = in[x.step * 8 + .thread.x]
    }
  }
}
)");
}

TEST_CASE("threads: dimensions that a nest does not have", "[threads]") {
    const Expr t = var("x");
    const std::string text = mapped(kernel(2, {8, 4}, threads("x", 8, out(t))));
    CHECK(text.find("{\n  if .thread.y == 0 {\n    out[.thread.x]") != std::string::npos);
    const std::string first = mapped(kernel(2, {8, 4}, out(int32(3))));
    INFO(first);
    CHECK(first.find(".thread.x == 0") != std::string::npos);
    CHECK(first.find(".thread.y == 0") != std::string::npos);
}

TEST_CASE("device uses: before each launch, and before code of the host", "[device-uses]") {
    const Expr i = var("i");
    Stmt on_gpu = kernel(1, {8}, copy("f", int32(0), "in", int32(0)));
    Stmt on_host = serial("i", 3, copy("out", i, "f", i));
    Stmt program = array("f", 8, both(on_gpu, on_host));
    CHECK(ir::to_string(lower::insert_device_uses(program, {})) == R"(allocate f[int32 * 8] {
  use f on device (write)
  use in on device (read)
  launch f.s0 blocks (1, 1, 1) threads (8, 1, 1) shared int64(0) {
    f[0] = in[0]
  }
  use f on host (read)
  for i in [0, 3) {
    out[i] = f[i]
  }
}
)");
}

TEST_CASE("device uses: what is overwritten is not copied", "[device-uses]") {
    Stmt on_gpu = kernel(1, {8}, copy("f", int32(0), "in", int32(0)));
    const std::string text = ir::to_string(lower::insert_device_uses(on_gpu, {{"f", "f.s0"}}));
    CHECK(text.find("use f on device (overwrite)\nuse in on device (read)\nlaunch") == 0);
}

TEST_CASE("device uses: memory of the host only where the host uses it", "[device-uses]") {
    Stmt first = kernel(1, {8}, copy("f", int32(0), "in", int32(0)));
    Stmt second = kernel(1, {8}, copy("out", int32(0), "f", int32(0)));
    Stmt program = lower::insert_device_uses(array("f", 8, both(first, second)), {});
    CHECK(program->on_device);
    Stmt used = lower::insert_device_uses(
        array("f", 8, ir::make_block({first, second, copy("out", int32(1), "f", int32(0))})), {});
    CHECK_FALSE(used->on_device);
}

TEST_CASE("device uses: what another task computes is used when that is done", "[device-uses]") {
    const Expr i = var("i");
    Stmt on_gpu = kernel(1, {8}, copy("f", int32(0), "in", int32(0)));
    auto fork = [&](const Expr &slots) {
        return array("f", 8,
                     ir::make_fork("f", slots, both(on_gpu, ir::make_release("f.ready")),
                                   both(ir::make_acquire("f.ready"),
                                        serial("i", 3, copy("out", i, "f", i)))));
    };
    const std::string text = ir::to_string(lower::insert_device_uses(fork(Expr()), {}));
    INFO(text);
    const size_t ready = text.find("acquire"), use = text.find("use f on host");
    REQUIRE(ready != std::string::npos);
    REQUIRE(use != std::string::npos);
    CHECK(ready < use);
    require_message<CompileError>([&] { lower::insert_device_uses(fork(int32(2)), {}); },
                                  {"f.async()", "kernel", "host", "compute both in kernels"});
}

// A loop that is taken apart has a kernel in one part, and none where the kernel would have nothing to do.
TEST_CASE("device uses: what is memoized exists inside only", "[device-uses]") {
    auto cached = [](const std::string &production) {
        return "memoize f[int32, int32] of (8) by (p) {\n" + production +
               "} then {\n  out[0] = f.0[0] + f.1[0]\n}\n";
    };
    const std::string host = cached("  f.0[0] = 1\n"),
                      device = cached(
                          "  launch f.s0 blocks (1, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
                          "    f.0[0] = 1\n  }\n");
    const Stmt program = Pipe::testing::parse_stmt(host + device);
    const std::string text = ir::to_string(lower::insert_device_uses(program, {}));
    INFO(text);
    CHECK(text.find("memoize") == 0);
    CHECK(text.find("} then {\n  use f.0 on host (read)\n  out[0]") != std::string::npos);
}
