#include "graph/names.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace Pipe::graph {

std::string unique_name(const std::string &name, std::set<std::string> &taken) {
    std::string candidate = name;
    for (int i = 1; !taken.insert(candidate).second; i++)
        candidate = name + "$" + std::to_string(i);
    return candidate;
}

std::string without_dots(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

std::string identifier(const std::string &name) {
    std::string result = name;
    for (char &c : result)
        if (!std::isalnum(static_cast<unsigned char>(c)))
            c = '_';
    if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])))
        result = "_" + result;
    return result;
}

std::vector<std::string> shape_names(const std::string &buffer, size_t dimensions) {
    std::vector<std::string> names;
    for (size_t d = 0; d < dimensions; d++)
        for (const char *what : {"min", "extent", "stride"})
            names.push_back(fmt::format("{}.{}.{}", buffer, what, d));
    return names;
}

std::set<std::string> shape_names(const Graph &graph) {
    std::set<std::string> names;
    auto add = [&](const std::string &buffer, size_t dimensions) {
        for (std::string &name : shape_names(buffer, dimensions))
            names.insert(std::move(name));
    };
    for (const Image &image : graph.images)
        add(image.name, static_cast<size_t>(image.dimensions));
    for (const FuncNode &f : graph.funcs)
        for (size_t i = 0; i < f.types.size(); i++)
            add(buffer_name(f, i), f.args.size());
    return names;
}

}  // namespace Pipe::graph
