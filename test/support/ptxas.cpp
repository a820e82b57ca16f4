#include "support/ptxas.h"

#include <cstdio>
#include <map>
#include <regex>

#include "support/temp_folder.h"

namespace Pipe::testing {

namespace {

struct Outcome {
    int status = -1;
    std::string text;
};

Outcome run_command(const std::string &command) {
    Outcome outcome;
    FILE *output = popen((command + " 2>&1").c_str(), "r");
    if (!output)
        return outcome;
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, output)) > 0;)
        outcome.text.append(block, n);
    outcome.status = pclose(output);
    return outcome;
}

}  // namespace

bool has_ptxas() {
    static const bool found = run_command("ptxas --version").status == 0;
    return found;
}

std::string ptxas_error(const std::string &ptx) {
    if (ptx.empty() || !has_ptxas())
        return "";
    const size_t target = ptx.find(".target ") + 8;
    const std::string sm = ptx.substr(target, ptx.find_first_of(", \n", target) - target);
    TempFolder folder;
    folder.write("kernels.ptx", ptx);
    const Outcome outcome =
        run_command("ptxas -arch=" + sm + " -o /dev/null '" + (folder / "kernels.ptx") + "'");
    return outcome.status == 0 ? "" : "ptxas: " + outcome.text;
}

std::string parameter_fault(const std::string &ptx) {
    static const std::regex declaration(
        R"(\.param (?:\.align \d+ )?\.[a-z](\d+)\s+(\w+)(?:\[(\d+)\])?)");
    static const std::regex load(
        R"(ld\.param\.(?:v(\d)\.)?[a-z](\d+)\s+[^\[]*\[(\w+)(?:\+(\d+))?\])");
    std::map<std::string, int> bytes;
    auto number = [](const std::ssub_match &text, int otherwise) {
        return text.matched ? std::stoi(text) : otherwise;
    };
    for (std::sregex_iterator at(ptx.begin(), ptx.end(), declaration), end; at != end; ++at)
        bytes[(*at)[2]] = number((*at)[1], 0) / 8 * number((*at)[3], 1);
    for (std::sregex_iterator at(ptx.begin(), ptx.end(), load), end; at != end; ++at)
        if (number((*at)[4], 0) + number((*at)[1], 1) * number((*at)[2], 0) / 8 > bytes[(*at)[3]])
            return at->str();
    return "";
}

}  // namespace Pipe::testing
