// The list of the functions that generated code calls is complete.

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

#include "jit/runtime/abi_functions.h"

using namespace Pipe;

TEST_CASE("every function that abi.h and gpu_abi.h declare can be called by its name") {
    std::set<std::string> declared, listed;
    for (const char *header : {"/jit/runtime/abi.h", "/jit/runtime/gpu_abi.h"}) {
        std::ifstream file(std::string(PIPE_SOURCE_DIR) + header);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        const std::regex declaration(R"(\n[a-z]\w+ \*?(pipe_\w+)\()");
        for (std::sregex_iterator i(text.begin(), text.end(), declaration), end; i != end; ++i)
            declared.insert((*i)[1]);
    }
    for (const runtime::AbiFunction &f : runtime::abi_functions()) {
        CHECK(f.address != nullptr);
        CHECK(std::string(runtime::name_of(f.address)) == f.name);
        listed.insert(f.name);
    }
    CHECK(declared.size() > 20);
    CHECK(listed == declared);
}
