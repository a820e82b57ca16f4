#include "lower/gpu/device_uses.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"
#include "support/require_message.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

using Overwritten = std::set<std::pair<std::string, std::string>>;

std::string used(const std::string &text, const Overwritten &overwritten = {},
                 const std::set<std::string> &arguments = {}) {
    return ir::to_string(lower::insert_device_uses(parse_stmt(text), overwritten, arguments));
}

const std::string launch = "launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
                           "  f[.thread.x] = in[.thread.x]\n"
                           "}\n";
const std::string host_loop = "for x in [0, 8) {\n"
                              "  out[x] = f[x]\n"
                              "}\n";

}  // namespace

TEST_CASE("device-uses: before a launch, the device has what the kernel accesses", "[gpu]") {
    CHECK(used(launch) == "use f on device (write)\n"
                          "use in on device (read)\n" +
                              launch);
}

TEST_CASE("device-uses: before code of the host, the host has what a kernel accesses, too",
          "[gpu]") {
    CHECK(used(launch + host_loop) == "use f on device (write)\n"
                                      "use in on device (read)\n" +
                                          launch + "use f on host (read)\n" + host_loop);
}

TEST_CASE("device-uses: what a stage overwrites as a whole is not copied to it", "[gpu]") {
    CHECK(used(launch, {{"f", "f.s0"}}) == "use f on device (overwrite)\n"
                                           "use in on device (read)\n" +
                                               launch);
    // Another stage does; and this kernel reads what was there.
    CHECK(used(launch, {{"f", "f.s1"}}).starts_with("use f on device (write)\n"));
    const std::string update = "launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
                               "  f[.thread.x] = f[.thread.x] + 1\n"
                               "}\n";
    CHECK(used(update, {{"f", "f.s0"}}) == "use f on device (write)\n" + update);
}

TEST_CASE("device-uses: of arguments that may have memory on a device, the host is told as well",
          "[gpu]") {
    CHECK(used(host_loop, {}, {"f"}) == "use f on host (read)\n" + host_loop);
    CHECK(used(host_loop, {}, {"out"}) == "use out on host (write)\n" + host_loop);
}

TEST_CASE("device-uses: none in a program without kernels, nor of buffers of the host alone",
          "[gpu]") {
    CHECK(used(host_loop) == host_loop);
    const std::string other = "for x in [0, 8) {\n  out[x] = table[x]\n}\n";
    CHECK(used(launch + other) == used(launch) + other);
}

TEST_CASE("device-uses: an array that only kernels access has no memory of the host", "[gpu]") {
    const std::string second = "launch g.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
                               "  g[.thread.x] = f[.thread.x]\n"
                               "}\n";
    auto on_device = [](const std::string &body) {
        return lower::insert_device_uses(parse_stmt("allocate f[int32 * 8] {\n" + body + "}\n"), {})
            ->on_device;
    };
    CHECK(on_device(launch + second));
    CHECK_FALSE(on_device(launch + second + host_loop));
    CHECK_FALSE(on_device(host_loop));
}

TEST_CASE("device-uses: a part of a buffer is not copied while a task works on another one",
          "[gpu]") {
    auto fork = [](const std::string &slots) {
        return "allocate f[int32 * 8] {\n  fork f" + slots + " {\n" + launch +
               "release f.ready\n} and {\nacquire f.ready\n" + host_loop + "}\n}\n";
    };
    const std::string now = used(fork(""));
    INFO(now);
    // The host waits for the task before it asks for the buffer.
    CHECK(now.find("acquire f.ready\n    use f on host (read)\n") != std::string::npos);
    require_message<CompileError>([&] { used(fork(", 2")); },
                                  {"f.async()", "copies to and from a GPU are of all of it"});
}

// A loop that is taken apart has a kernel in one part, and none where the kernel would have nothing to do.
TEST_CASE("device-uses: what is memoized exists inside only", "[gpu]") {
    auto cached = [](const std::string &production) {
        return "memoize f[int32, int32] of (8) by (p) {\n" + production +
               "} then {\n  out[0] = f.0[0] + f.1[0]\n}\n";
    };
    const std::string text =
        used(cached("  f.0[0] = 1\n") +
             cached("  launch f.s0 blocks (1, 1, 1) threads (8, 1, 1) shared int64(0) {\n"
                    "    f.0[0] = 1\n  }\n"));
    INFO(text);
    CHECK(text.starts_with("memoize"));
    CHECK(text.find("} then {\n  use f.0 on host (read)\n  out[0]") != std::string::npos);
}
