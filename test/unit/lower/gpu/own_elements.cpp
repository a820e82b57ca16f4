#include "lower/gpu/own_elements.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include "support/parse_ir.h"

using namespace Pipe;
using namespace Pipe::testing;

namespace {

/// Whether no two threads of a kernel of 8 x 4 threads access the same element of a.
bool has_own(const std::string &body) {
    const std::string text =
        "launch f.s0 blocks (2, 1, 1) threads (8, 4, 1) shared int64(0) {\n" + body + "}\n";
    INFO(text);
    return lower::own_elements(parse_stmt(text)).buffers.count("a") > 0;
}

/// A statement of each of `columns` x 4 threads.
std::string threads(const std::string &statement, int columns = 8) {
    return "for y in [0, 4) gpu_thread {\nfor x in [0, " + std::to_string(columns) +
           ") gpu_thread {\n" + statement + "\n}\n}\n";
}

std::string store(const std::string &index, int columns = 8) {
    return threads("a[" + index + "] = in[x]", columns);
}
std::string load(const std::string &index) {
    return threads("f[x] = a[" + index + "]");
}

}  // namespace

TEST_CASE("own elements: an index has the thread's number in it, wherever it is accessed",
          "[gpu]") {
    CHECK(has_own(store("x + y * 8") + load("x + y * 8")));
    CHECK(has_own(store("x + y * 9") + load("x + y * 9")));
    CHECK(has_own(store("x * 3 + y * 24") + load("x * 3 + y * 24 + 2")));
    CHECK_FALSE(has_own(store("x * 3 + y * 24") + load("x * 3 + y * 24 + 3")));
    CHECK_FALSE(has_own(store("x + y * 8") + load("x + y * 8 + 1")));
    CHECK_FALSE(has_own(store("x + y * 7") + load("x + y * 7 + 1")));
    CHECK_FALSE(has_own(store("x + y * 8") + load("y + x * 4")));
}

TEST_CASE("own elements: what a loop in the thread adds stays below the thread's number", "[gpu]") {
    auto rows = [](const std::string &index, int n) {
        const std::string element = "a[" + index + "]";
        return threads("for i in [0, " + std::to_string(n) + ") {\n" + element + " = " + element +
                       "\n}");
    };
    CHECK(has_own(rows("(x + y * 8) * 5 + i", 5)));
    CHECK(has_own(rows("(x + y * 8) * 5 + i", 5) + rows("(x + y * 8) * 5 + i", 4)));
    CHECK_FALSE(has_own(rows("(x + y * 8) * 5 + i", 5) + rows("(x + y * 8) * 5 + i + 1", 5)));
}

TEST_CASE("own elements: a thread has several of a loop's iterations, a block of threads apart",
          "[gpu]") {
    CHECK(has_own(store("x + y * 16", 16) + store("x + y * 16", 16)));
    CHECK(has_own(store("x + y * 16", 16) + store("x + y * 16 + 8", 8)));
    CHECK_FALSE(has_own(store("x + y * 16", 16) + store("x + y * 16 + 4", 8)));
}

TEST_CASE("own elements: none where fewer threads store than load", "[gpu]") {
    const std::string row = "for x in [0, 8) gpu_thread {\na[x] = in[x]\n}\n",
                      all = "for x in [0, 8) gpu_thread {\nf[x] = a[0]\n}\n";
    CHECK_FALSE(has_own(row + load("x")));
    CHECK_FALSE(has_own("a[0] = 5\n" + all));
    CHECK(has_own("a[0] = in[0]\na[0] = a[0]\n"));  // the first thread alone
}

TEST_CASE("own elements: what is not known is the same in all accesses", "[gpu]") {
    auto update = [](const std::string &pitch) {
        const std::string element = "a[x + y * " + pitch + "]";
        return threads(element + " = " + element);
    };
    CHECK(has_own(update("pitch") + update("pitch")));
    CHECK_FALSE(has_own(update("pitch") + update("other")));
    CHECK_FALSE(has_own(update("pitch") + update("b[0]")));
}
