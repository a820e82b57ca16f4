#include "test/layers/check.h"

#include <catch2/catch_test_macros.hpp>

using layers::breaches;
using layers::Tree;

namespace {

std::string joined(const std::vector<std::string> &lines) {
    std::string text;
    for (const std::string &line : lines) {
        text += line + "\n";
    }
    return text;
}

// The one breach of the tree, without the place where it is.
std::string only_breach(const Tree &tree) {
    const std::vector<std::string> found = breaches(tree);
    INFO(joined(found));
    REQUIRE(found.size() == 1);
    return found[0];
}

}  // namespace

TEST_CASE("the sources keep to the order of the layers", "[layers]") {
    const Tree tree = layers::read_tree(PIPE_SOURCE_DIR);
    REQUIRE(tree.size() > 20);
    REQUIRE(joined(breaches(tree)) == "");
}

TEST_CASE("includes of lower layers are fine", "[layers]") {
    REQUIRE(joined(breaches({
                {"lib/ir/node.h", "#include <pipe/type.h>\n#include <vector>\n"},
                {"include/pipe/type.h", "#include <cstdint>\n"},
                {"lib/lower/pass.cpp", "#include \"ir/node.h\"\n#include \"lower/pass.h\"\n"},
                {"lib/lower/pass.h", "#include \"ir/node.h\"\n"},
                {"lib/poly/sets.cpp", "#include <isl/cpp.h>\n"},
                {"jit/session.cpp", "#include <llvm/ExecutionEngine/Orc/LLJIT.h>\n"},
                {"lib/support/env.cpp", "std::getenv(name);"},
            })) == "");
}

TEST_CASE("an include of a higher layer is found", "[layers]") {
    REQUIRE(only_breach({{"lib/ir/node.cpp", "#include <map>\n#include \"lower/pass.h\"\n"},
                         {"lib/lower/pass.h", ""}}) ==
            "lib/ir/node.cpp:2: layer ir must not include layer lower (lower/pass.h)");
    REQUIRE(only_breach({{"lib/lower/pass.cpp", "#include \"autoschedule/cost.h\"\n"},
                         {"lib/autoschedule/cost.h", ""}}) ==
            "lib/lower/pass.cpp:1: layer lower must not include layer autoschedule "
            "(autoschedule/cost.h)");
    REQUIRE(
        only_breach({{"lib/language/func.cpp", "#include <pipe/pipeline.h>\n"},
                     {"include/pipe/pipeline.h", ""}}) ==
        "lib/language/func.cpp:1: layer language must not include layer driver (pipe/pipeline.h)");
    REQUIRE(only_breach({{"lib/driver/realize.cpp", "#include <pipe/pipe.h>\n"},
                         {"include/pipe/pipe.h", ""}}) ==
            "lib/driver/realize.cpp:1: layer driver must not include layer all (pipe/pipe.h)");
    REQUIRE(
        only_breach({{"lib/ir/node.cpp", "#include \"jit/kernel.h\"\n"}, {"jit/kernel.h", ""}}) ==
        "lib/ir/node.cpp:1: layer ir must not include layer jit (jit/kernel.h)");
}

TEST_CASE("rings are found", "[layers]") {
    REQUIRE(only_breach({{"lib/ir/a.h", "#include \"ir/b.h\"\n"},
                         {"lib/ir/b.h", "\n#include \"ir/c.h\"\n"},
                         {"lib/ir/c.h", "#include \"ir/b.h\"\n"}}) ==
            "lib/ir/c.h:1: a ring of includes: lib/ir/b.h -> lib/ir/c.h -> lib/ir/b.h");
    REQUIRE(only_breach({{"lib/ir/a.h", "#include \"ir/a.h\"\n"}}) ==
            "lib/ir/a.h:1: a ring of includes: lib/ir/a.h -> lib/ir/a.h");
}

TEST_CASE("isl, LLVM and the environment stay in their layers", "[layers]") {
    REQUIRE(only_breach({{"lib/region/box.cpp", "#include <isl/cpp.h>\n"}}) ==
            "lib/region/box.cpp:1: isl is for lib/poly only");
    REQUIRE(only_breach({{"lib/driver/realize.cpp", "\n# include  <llvm/IR/Module.h>\n"}}) ==
            "lib/driver/realize.cpp:2: LLVM is for lib/codegen and jit (without jit/runtime) only");
    REQUIRE(only_breach({{"lib/graph/file.cpp", "#include <nlohmann/json.hpp>\n"}}) ==
            "lib/graph/file.cpp:1: JSON is for lib/driver only");
    REQUIRE(only_breach({{"include/pipe/func.h", "int a;\nisl::set s;\n"}}) ==
            "include/pipe/func.h:2: no isl, LLVM or CUDA in public headers");
    REQUIRE(only_breach({{"include/pipe/func.h", "#include <cuda.h>\n"}}) ==
            "include/pipe/func.h:1: no isl, LLVM or CUDA in public headers");
    REQUIRE(only_breach({{"lib/driver/realize.cpp", "auto v = getenv(\"X\");"}}) ==
            "lib/driver/realize.cpp:1: getenv is for lib/support only");
}

TEST_CASE("layers and public headers must be in the table", "[layers]") {
    REQUIRE(only_breach({{"lib/cellar/wine.h", ""}}) ==
            "lib/cellar/wine.h:1: no layer in the table of the layer test");
    REQUIRE(only_breach({{"include/pipe/new.h", ""}}) ==
            "include/pipe/new.h:1: no layer in the table of the layer test");
}
