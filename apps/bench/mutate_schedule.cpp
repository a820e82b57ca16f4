#include "apps/bench/mutate_schedule.h"

#include "apps/common/random_schedule.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace bench {

using apps::Dice;
using Json = nlohmann::json;

namespace {

/// A directive that other directives do not refer to.
bool can_be_dropped(const std::string &name) {
    for (const char *kind :
         {"vectorize", "parallel", "unroll", "store_nontemporal", "reorder", "store_at",
          "store_root", "prefetch", "align_storage", "reorder_storage"})
        if (name == kind)
            return true;
    return false;
}

/// Changes one directive; false if it has nothing to change.
bool change(Json &directives, size_t at, Dice &dice) {
    Json &directive = directives[at];
    const std::string name = directive[0].get<std::string>();
    if (name == "split") {
        for (Json &argument : directive)
            if (argument.is_number_integer() && argument.get<int>() > 1) {
                const int factor = argument.get<int>();
                argument = dice.chance(50) ? factor * 2 : std::max(1, factor / 2);
                return true;
            }
        return false;
    }
    if (name == "compute_at") {
        directive = Json::array({"compute_root"});
        for (size_t i = directives.size(); i-- > 0;)
            if (directives[i][0] == "store_at")
                directives.erase(i);
        return true;
    }
    if (!can_be_dropped(name))
        return false;
    directives.erase(at);
    return true;
}

}  // namespace

void mutate_schedule(Pipe::Pipeline &pipeline, uint64_t seed) {
    const auto file =
        std::filesystem::temp_directory_path() / fmt::format("pipe_ranking_{}.json", getpid());
    pipeline.save_schedule(file.string());
    std::ifstream in(file);
    Json json = Json::parse(in);
    Json &entries = json.at("schedule").at("directives");
    Dice dice(seed);
    int wanted = 1 + dice.below(3);
    for (int i = 0; i < 100 && wanted > 0 && !entries.empty(); i++) {
        Json &directives = entries[size_t(dice.below(int(entries.size())))].at("directives");
        if (!directives.empty())
            wanted -= change(directives, size_t(dice.below(int(directives.size()))), dice);
    }
    std::ofstream(file) << json.dump();
    try {
        pipeline.apply_schedule(file.string());
    } catch (...) {
        std::filesystem::remove(file);
        throw;
    }
    std::filesystem::remove(file);
}

}  // namespace bench
