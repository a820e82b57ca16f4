// The environment: one table, read at one place.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "set_variable.h"
#include "support/env.h"
#include "test/support/require_message.h"
#include "test/support/temp_folder.h"
#include <pipe/environment.h>
#include <pipe/error.h>
#include <pipe/pipe.h>

using namespace Pipe;
using testing::SetVariable;

TEST_CASE("every variable is described, and only those can be read", "[support]") {
    std::string text = describe_environment();
    std::set<std::string> names;
    for (const support::EnvVariable &v : support::env_variables()) {
        INFO(v.name);
        CHECK(names.insert(v.name).second);
        const std::string name = v.name;
        const bool of_others = name == "OMP_NUM_THREADS" || name == "HL_PERMIT_FAILED_UNROLL";
        CHECK((of_others || name.rfind("PIPE_", 0) == 0));
        CHECK((text.find(v.name) != std::string::npos) == !v.for_tests);
        CHECK_NOTHROW(support::env(v.name));
    }
    require_message<InternalError>([] { support::env("PIPE_SPEED"); }, {"PIPE_SPEED", "table"});
}

TEST_CASE("variables that mean nothing are warned of in one line", "[support]") {
    const char *good[] = {"PIPE_TARGET=host", "PATH=/bin", "PIPEFAIL=1", nullptr};
    CHECK(support::unknown_variables(good).empty());
    const char *bad[] = {"PIPE_TARGETS=host", "A=b", "PIPE_=", "PIPE_DUMP=x", nullptr};
    std::string warning = support::unknown_variables(bad);
    CHECK(warning.find("PIPE_TARGETS, PIPE_ ") != std::string::npos);
    CHECK(warning.find("PIPE_DUMP") == std::string::npos);
    CHECK(warning.find('\n') == warning.size() - 1);
}

TEST_CASE("nothing else reads the environment", "[support]") {
    const std::regex reads(R"(\bgetenv\s*\()");
    std::filesystem::path root = PIPE_SOURCE_DIR;
    int files = 0;
    for (const char *folder : {"include", "lib", "jit", "apps", "test"})
        for (const auto &entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            std::string path = entry.path().lexically_relative(root).string();
            std::string extension = entry.path().extension().string();
            // The peers of the benchmark have environment variables of their own, and no Pipe.
            bool exempt = path == "lib/support/env.cpp" || path.rfind("test/layers/", 0) == 0 ||
                          path.rfind("apps/bench/peers", 0) == 0 ||
                          path == "test/unit/support/env.cpp";
            if ((extension != ".cpp" && extension != ".h") || exempt)
                continue;
            files++;
            std::ifstream in(entry.path());
            std::string text{std::istreambuf_iterator<char>(in), {}};
            INFO(path);
            CHECK_FALSE(std::regex_search(text, reads));
        }
    CHECK(files > 200);
}

TEST_CASE("README and CONTRIBUTING name every variable", "[support]") {
    std::string text;
    for (const char *file : {"/README.md", "/CONTRIBUTING.md"}) {
        std::ifstream in(std::string(PIPE_SOURCE_DIR) + file);
        text += std::string{std::istreambuf_iterator<char>(in), {}};
    }
    for (const support::EnvVariable &v : support::env_variables()) {
        INFO(v.name);
        CHECK(text.find(v.name) != std::string::npos);
    }
}

TEST_CASE("PIPE_TARGET takes the host's place", "[support]") {
    const Target host = get_host_target();
    for (const char *name :
         {"x86-64-linux-sse41", "x86-64-linux-sse41-avx-avx2-fma", "arm-64-linux"}) {
        INFO(name);
        SetVariable target("PIPE_TARGET", name);
        CHECK(get_host_target() == Target(name));
        CHECK(get_host_target().to_string() == name);
    }
    {
        SetVariable target("PIPE_TARGET", "host-quick_compile");
        CHECK(get_host_target() == Target("host").with_feature(Target::QuickCompile));
    }
    CHECK(get_host_target() == host);
}

TEST_CASE("what is compiled is compiled for PIPE_TARGET", "[support]") {
    TempFolder folder;
    Var x("x");
    auto assembly = [&](const char *name) {
        SetVariable target("PIPE_TARGET", name);
        Func f("f");
        f(x) = cast<float>(x) * 2.0f;
        f.vectorize(x, 8, TailStrategy::GuardWithIf);
        f.compile_to_assembly(folder / "f.s", {}, "f");
        return folder.read("f.s");
    };
    CHECK(assembly("x86-64-linux-avx2").find("%ymm") != std::string::npos);
    std::string plain = assembly("x86-64-linux");
    CHECK(plain.find("%xmm") != std::string::npos);
    CHECK(plain.find("%ymm") == std::string::npos);
    CHECK(assembly("arm-64-linux").find("%xmm") == std::string::npos);
}

TEST_CASE("nonsense in PIPE_TARGET", "[support][error]") {
    const Target host = get_host_target();
    Var x("x");
    Func f("f");
    f(x) = x;
    for (std::string nonsense : {"host-warp_drive", "sparrow-64-linux", "x86-64"}) {
        SetVariable target("PIPE_TARGET", nonsense);
        const std::vector<std::string> parts{"PIPE_TARGET", "Target", '"' + nonsense + '"'};
        require_message<CompileError>([] { get_host_target(); }, parts);
        require_message<CompileError>([&] { f.realize({4}); }, parts);
    }
    CHECK(get_host_target() == host);
    Buffer<int> out = f.realize({4});
    CHECK(out(3) == 3);
}

TEST_CASE("a variable that a test sets has its own value again afterward", "[support]") {
    SetVariable outer("PIPE_TARGET", "x86-64-linux");
    try {
        SetVariable inner("PIPE_TARGET", "nonsense");
        get_host_target();
    } catch (const CompileError &) {
    }
    CHECK(support::env("PIPE_TARGET") == "x86-64-linux");
    CHECK(get_host_target() == Target("x86-64-linux"));
}
