#include "lower/gpu/barriers.h"

#include <sstream>

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "ir/print.h"
#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// A kernel of 8 threads. A line "x: .." of its body stands for a loop of all threads over that statement.
std::string kernel(const std::string &body, bool with_barriers) {
    std::string text = "launch f.s0 blocks (5, 1, 1) threads (8, 1, 1) shared int64(0) {\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);) {
        const std::string indent(2 + line.find_first_not_of(' '), ' '),
            code = line.substr(indent.size() - 2);
        if (code.starts_with("x: "))
            text += indent + "for x in [0, 8) gpu_thread {\n" + indent + "  " + code.substr(3) +
                    "\n" + indent + "}\n";
        else if (code != "barrier" || with_barriers)
            text += indent + code + "\n";
    }
    return text + "}\n";
}

/// The barriers of `body` are those that the same statements without barriers get.
void check_barriers(const std::string &body) {
    const ir::Stmt without = parse_stmt(kernel(body, false));
    CHECK(ir::to_string(lower::insert_barriers(without)) == kernel(body, true));
}

/// The same for statements on two arrays in shared memory.
void check_in_shared(const std::string &body) {
    std::string text = "allocate a[int32 * 8] in shared memory {\n"
                       "  allocate b[int32 * 8] in shared memory {\n";
    std::istringstream lines(body);
    for (std::string line; std::getline(lines, line);)
        text += "    " + line + "\n";
    check_barriers(text + "  }\n}\n");
}

}  // namespace

TEST_CASE("barriers: threads wait before they load what others stored", "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "barrier\n"
                    "x: f[x] = a[7 - x]\n");
}

TEST_CASE("barriers: threads wait before they store over what others load, or stored", "[gpu]") {
    check_in_shared("x: f[x] = a[7 - x]\n"
                    "barrier\n"
                    "x: a[x] = in[x]\n"
                    "barrier\n"
                    "x: a[7 - x] = in[x]\n");
}

TEST_CASE("barriers: one is enough for two arrays", "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "x: b[x] = in[x]\n"
                    "barrier\n"
                    "x: f[x] = a[7 - x]\n"
                    "x: f[x] = b[7 - x]\n"
                    "x: g[x] = b[7 - x]\n");
}

TEST_CASE("barriers: a loop's next iteration waits for the one before", "[gpu]") {
    check_in_shared("for i in [0, 4) {\n"
                    "  barrier\n"
                    "  x: a[x] = in[x]\n"
                    "  barrier\n"
                    "  x: f[x] = a[7 - x]\n"
                    "}\n");
    // What is allocated in the loop is in one place in all iterations.
    check_barriers("for i in [0, 4) {\n"
                   "  allocate a[int32 * 8] in shared memory {\n"
                   "    barrier\n"
                   "    x: a[x] = in[x]\n"
                   "    barrier\n"
                   "    x: f[x] = a[7 - x]\n"
                   "  }\n"
                   "}\n");
}

TEST_CASE("barriers: a loop may have no iteration", "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "for i in [0, n) {\n"
                    "  barrier\n"
                    "  x: f[x] = a[7 - x]\n"
                    "}\n"
                    "barrier\n"
                    "x: f[x] = a[7 - x]\n");
}

TEST_CASE("barriers: behind branches, what either of them has left unordered counts", "[gpu]") {
    check_in_shared("if w < 3 {\n"
                    "  x: a[x] = in[x]\n"
                    "} else {\n"
                    "  x: a[x] = in[x]\n"
                    "  barrier\n"
                    "  x: f[x] = a[7 - x]\n"
                    "}\n"
                    "barrier\n"
                    "x: f[x] = a[7 - x]\n");
}

TEST_CASE("barriers: outside of loops over threads, all threads load, and the first stores",
          "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "barrier\n"
                    "let v = a[3]\n"
                    "barrier\n"
                    "x: a[x] = v\n");
    check_in_shared("a[0] = 5\n"
                    "barrier\n"
                    "x: f[x] = a[0]\n");
}

TEST_CASE("barriers: none where each thread accesses elements of its own", "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "x: f[x] = a[x]\n"
                    "x: a[x] = a[x] + 1\n");
}

TEST_CASE("barriers: none between accesses of different buffers, and between loads", "[gpu]") {
    check_in_shared("x: a[x] = in[x]\n"
                    "x: f[x] = in[7 - x]\n");
    check_in_shared("x: f[x] = a[7 - x]\n"
                    "x: g[x] = a[x]\n");
}

TEST_CASE("barriers: one that is there already counts", "[gpu]") {
    const std::string body = "allocate a[int32 * 8] in shared memory {\n"
                             "  x: a[x] = in[x]\n"
                             "  barrier\n"
                             "  x: f[x] = a[7 - x]\n"
                             "}\n";
    CHECK(ir::to_string(lower::insert_barriers(parse_stmt(kernel(body, true)))) ==
          kernel(body, true));
}

TEST_CASE("barriers: none between the stores of one pure definition", "[gpu]") {
    // Every element is stored once, wherever its loops were taken apart.
    auto part = [](const std::string &stage, const std::string &index) {
        return "for " + stage + ".x in [0, 4) gpu_thread {\n  a[" + index + "] = 1\n}\n";
    };
    const std::string first = part("a.s0", "a.s0.x"), second = part("a.s0", "7 - a.s0.x");
    check_in_shared(first + second);
    check_in_shared(first + "barrier\n" + part("a.s1", "7 - a.s1.x"));
}

TEST_CASE("barriers: an array may lie where one lay whose life has ended", "[gpu]") {
    auto life = [](const std::string &name, bool exchanges) {
        return "x: " + name + "[x] = in[x]\n" +
               (exchanges ? "  barrier\n  x: f[x] = " + name + "[7 - x]\n"
                          : "  x: f[x] = " + name + "[x]\n");
    };
    const std::string a = "allocate a[int32 * 8] in shared memory {\n  ",
                      b = "allocate b[int32 * 8] in shared memory {\n  ";
    // Elements that are each thread's own in one array are another thread's in the other.
    for (const bool first : {true, false})
        for (const bool second : {true, false})
            check_barriers(a + life("a", first) + "}\n" + b + "barrier\n  " + life("b", second) +
                           "}\n");
}

TEST_CASE("barriers: on every path to where an array's place is used again there is one", "[gpu]") {
    const std::string ended = "allocate a[int32 * 8] in shared memory {\n"
                              "  x: a[x] = in[x]\n"
                              "  barrier\n"
                              "  x: f[x] = a[7 - x]\n"
                              "}\n";
    check_barriers(ended + "allocate b[int32 * 8] in shared memory {\n"
                           "  if w < 3 {\n"
                           "    barrier\n"
                           "    x: b[x] = in[x]\n"
                           "  } else {\n"
                           "    barrier\n"
                           "    x: b[x] = in[7 - x]\n"
                           "  }\n"
                           "}\n");
    // The barriers in a loop that may have no iteration do not count.
    check_barriers(ended + "allocate b[int32 * 8] in shared memory {\n"
                           "  allocate c[int32 * 8] in shared memory {\n"
                           "    for i in [0, n) {\n"
                           "      barrier\n"
                           "      x: c[x] = in[x]\n"
                           "      barrier\n"
                           "      x: f[x] = c[7 - x]\n"
                           "    }\n"
                           "    barrier\n"
                           "    x: b[x] = in[x]\n"
                           "  }\n"
                           "}\n");
}

TEST_CASE("barriers: none outside of kernels", "[gpu]") {
    const std::string text = "for x in [0, 8) parallel {\n  a[x] = in[x]\n}\n"
                             "for x in [0, 8) parallel {\n  f[x] = a[7 - x]\n}\n";
    CHECK(ir::to_string(lower::insert_barriers(parse_stmt(text))) == text);
}
