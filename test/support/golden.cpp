#include "support/golden.h"

#include "support/env.h"

#include <fstream>
#include <sstream>
#include <vector>

namespace golden {
namespace {

std::vector<std::string> lines_of(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

}  // namespace

std::string difference(const std::string &expected, const std::string &actual) {
    if (expected == actual)
        return "";
    std::vector<std::string> a = lines_of(expected), b = lines_of(actual);
    size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same])
        same++;
    size_t first = same < 3 ? 0 : same - 3;
    std::ostringstream out;
    for (size_t i = first; i < same; i++)
        out << "  " << a[i] << "\n";
    for (size_t i = same; i < a.size() && i < same + 6; i++)
        out << "- " << a[i] << "\n";
    for (size_t i = same; i < b.size() && i < same + 6; i++)
        out << "+ " << b[i] << "\n";
    return "line " + std::to_string(same + 1) + ":\n" + out.str();
}

std::string compare(const std::string &path, const std::string &actual) {
    std::string file = std::string(PIPE_SOURCE_DIR) + "/test/golden/" + path;
    if (!Pipe::support::env("PIPE_ACCEPT").empty()) {
        std::ofstream(file) << actual;
        return "";
    }
    std::ifstream in(file);
    if (!in)
        return "there is no golden file " + path + " (PIPE_ACCEPT=1 writes it)";
    std::ostringstream text;
    text << in.rdbuf();
    std::string found = difference(text.str(), actual);
    return found.empty() ? "" : path + ", " + found;
}

}  // namespace golden
