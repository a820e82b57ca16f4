// PIPE_SYMBOLS: profilers and debuggers see generated functions by the Func's name.
#include <pipe/pipe.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <dlfcn.h>
#include <unistd.h>

using namespace Pipe;

namespace {

/// Runs hidden tests of this program in a new process: the variable is read as the first pipeline is
/// compiled.
int run_hidden(const std::string &variable, const std::string &tag) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    return std::system((variable + " '" + program + "' '" + tag + "' > /dev/null").c_str());
}

std::string perf_map() {
    return "/tmp/perf-" + std::to_string(getpid()) + ".map";
}

void compile_something() {
    Var x("x"), y("y");
    Func source("source"), sharpened("sharpened");
    source(x, y) = x + y;
    sharpened(x, y) = 2 * source(x, y) - source(x + 1, y);
    source.compute_root().parallel(y);
    sharpened.parallel(y);
    Buffer<int> out = sharpened.realize({64, 64});
    CHECK(out(3, 4) == 6);
}

/// The functions' names that GDB's interface was given, as one text.
std::string told_to_gdb() {
    struct Entry {
        Entry *next, *previous;
        const char *file;
        uint64_t bytes;
    };
    struct Descriptor {
        uint32_t version, action;
        Entry *relevant, *first;
    };
    auto *descriptor = static_cast<Descriptor *>(dlsym(RTLD_DEFAULT, "__jit_debug_descriptor"));
    std::string all;
    for (Entry *e = descriptor ? descriptor->first : nullptr; e; e = e->next)
        all.append(e->file, e->bytes);
    return all;
}

}  // namespace

TEST_CASE("perf and gdb are told of the functions where PIPE_SYMBOLS says so", "[symbols]") {
    CHECK(run_hidden("PIPE_SYMBOLS=perf,gdb", "[symbols_told]") == 0);
    CHECK(run_hidden("PIPE_SYMBOLS=", "[symbols_not_told]") == 0);
    CHECK(run_hidden("PIPE_SYMBOLS=gdb", "[symbols_not_in_map]") == 0);
}

TEST_CASE("told", "[.][symbols_told]") {
    compile_something();
    std::ifstream in(perf_map());
    int loops = 0, kernels = 0;
    uint64_t address = 0, size = 0;
    std::string name;
    in >> std::hex;
    while (in >> address >> size >> name) {
        CHECK(address != 0);
        CHECK(size > 0);
        kernels += name == "pipe_kernel_sharpened";
        loops += name.find("source") != std::string::npos && name.find(".y") != std::string::npos;
    }
    CHECK(in.eof());
    CHECK(kernels == 1);
    CHECK(loops == 1);
    std::filesystem::remove(perf_map());
    const std::string told = told_to_gdb();
    CHECK(told.find("pipe_kernel_sharpened") != std::string::npos);
}

TEST_CASE("not told", "[.][symbols_not_told]") {
    std::filesystem::remove(perf_map());  // of an earlier process with this number
    compile_something();
    CHECK_FALSE(std::filesystem::exists(perf_map()));
    CHECK(told_to_gdb().find("pipe_kernel_sharpened") == std::string::npos);
}

TEST_CASE("told to gdb only", "[.][symbols_not_in_map]") {
    std::filesystem::remove(perf_map());
    compile_something();
    CHECK_FALSE(std::filesystem::exists(perf_map()));
    CHECK(told_to_gdb().find("pipe_kernel_sharpened") != std::string::npos);
}
