// The environment: one table, read at one place.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "support/env.h"
#include "test/support/require_message.h"
#include <pipe/environment.h>
#include <pipe/error.h>

using namespace Pipe;

TEST_CASE("every variable is described, and only those can be read", "[support]") {
    std::string text = describe_environment();
    std::set<std::string> names;
    for (const support::EnvVariable &v : support::env_variables()) {
        INFO(v.name);
        CHECK(names.insert(v.name).second);
        bool of_openmp = std::string(v.name) == "OMP_NUM_THREADS";
        CHECK((of_openmp || std::string(v.name).rfind("PIPE_", 0) == 0));
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
            bool exempt = path == "lib/support/env.cpp" || path.rfind("test/layers/", 0) == 0 ||
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
