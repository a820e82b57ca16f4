#include "test/layers/check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace layers {

namespace {

// The level that each layer is on; a layer may include layers on lower levels only.
const std::map<std::string, int> &levels() {
    static const std::map<std::string, int> table{
        {"support", 0},  {"ir", 1},        {"runtime", 2},  {"image_io", 2},
        {"schedule", 2}, {"graph", 3},     {"language", 4}, {"poly", 4},
        {"region", 5},   {"reference", 5}, {"lower", 6},    {"autoschedule", 6},
        {"predict", 7},  {"codegen", 7},   {"jit", 8},      {"driver", 9},
    };
    return table;
}

// The layer that a public header belongs to. "all" is for users: no layer includes it.
const std::map<std::string, std::string> &public_headers() {
    static const std::map<std::string, std::string> table{
        {"error.h", "support"},
        {"standard.h", "support"},
        {"type.h", "support"},
        {"target.h", "support"},
        {"expr.h", "ir"},
        {"operators.h", "language"},
        {"buffer_base.h", "ir"},
        {"buffer_visit.h", "ir"},
        {"buffer.h", "ir"},
        {"loop_kind.h", "ir"},
        {"tuple.h", "language"},
        {"var.h", "language"},
        {"realization.h", "ir"},
        {"image_io.h", "image_io"},
        {"schedule.h", "schedule"},
        {"autoschedule.h", "schedule"},
        {"rdom.h", "language"},
        {"param.h", "language"},
        {"loop_level.h", "language"},
        {"func.h", "language"},
        {"func_ref.h", "language"},
        {"stage.h", "language"},
        {"loop_directives.h", "language"},
        {"gpu_directives.h", "language"},
        {"realizable.h", "language"},  // of Func, though the driver does the work
        {"compiled_files.h", "language"},
        {"extern_func_argument.h", "language"},
        {"boundary_conditions.h", "language"},
        {"memoization_cache.h", "runtime"},
        {"jit.h", "support"},
        {"callable.h", "driver"},
        {"environment.h", "support"},
        {"process.h", "runtime"},
        {"halide_buffer.h", "ir"},
        {"halide_image_io.h", "all"},
        {"pipeline.h", "driver"},
        {"tune.h", "driver"},
        {"predict.h", "support"},
        {"inline_reductions.h", "language"},
        {"concise_casts.h", "language"},
        {"extern.h", "ir"},
        {"raw_buffer.h", "ir"},
        {"device_interface.h", "ir"},
        {"fast_math.h", "language"},
        {"fixed_point.h", "language"},
        {"print.h", "language"},
        {"random.h", "language"},
        {"float16.h", "support"},
        {"lambda.h", "language"},
        {"pipe.h", "all"},
        {"halide.h", "all"},
        {"target_queries.h", "language"},
        {"stream.h", "language"},
        {"halide_benchmark.h", "all"},
    };
    return table;
}

struct Include {
    std::string name;  ///< as written, without the quotes
    int line;
};

std::vector<Include> includes(const std::string &text) {
    static const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<Include> found;
    int line = 1;
    for (size_t at = 0; at < text.size(); line++) {
        const size_t end = std::min(text.find('\n', at), text.size());
        std::smatch match;
        const std::string content = text.substr(at, end - at);
        if (std::regex_search(content, match, pattern)) {
            found.push_back({match[1], line});
        }
        at = end + 1;
    }
    return found;
}

bool starts_with(const std::string &text, const std::string &beginning) {
    return text.compare(0, beginning.size(), beginning) == 0;
}

// "" if the file is in no layer.
std::string layer_of(const std::string &path) {
    static const std::regex pattern(
        R"(^(?:lib/([^/]+)|jit/(runtime)|(jit))/.*|^include/pipe/([^/]+)$)");
    std::smatch match;
    if (!std::regex_match(path, match, pattern)) {
        return "";
    }
    if (match[4].matched) {
        const auto home = public_headers().find(match[4]);
        return home == public_headers().end() ? "" : home->second;
    }
    for (size_t folder : {size_t(1), size_t(2)}) {
        if (match[folder].matched) {
            return match[folder];
        }
    }
    return match[3];
}

// The file in the tree that an include names, or "".
std::string resolve(const Tree &tree, const std::string &name) {
    for (const char *folder : {"include/", "lib/", ""}) {
        if (tree.count(folder + name) != 0) {
            return folder + name;
        }
    }
    return "";
}

class Checker {
  public:
    explicit Checker(const Tree &tree) : tree_(tree) {}

    std::vector<std::string> run() {
        for (const auto &[path, text] : tree_) {
            check_file(path, text);
        }
        for (const auto &[path, text] : tree_) {
            follow(path);
        }
        return found_;
    }

  private:
    void report(const std::string &path, int line, const std::string &problem) {
        found_.push_back(path + ":" + std::to_string(line) + ": " + problem);
    }

    void check_file(const std::string &path, const std::string &text) {
        const std::string layer = layer_of(path);
        if (layer != "all" && levels().count(layer) == 0) {
            report(path, 1, "no layer in the table of the layer test");
            return;
        }
        for (const Include &include : includes(text)) {
            const std::string target = resolve(tree_, include.name);
            const bool known = !target.empty() && !layer_of(target).empty();
            if (known && layer != "all") {
                check_order(path, include, layer, layer_of(target));
            }
            check_packages(path, include, layer);
        }
        check_words(path, text, layer);
    }

    void check_order(const std::string &path, const Include &include, const std::string &from,
                     const std::string &to) {
        // The layers that compile know the Graph, not the front end: the driver joins them.
        const bool front_end = to == "language" && from != "driver";
        if (from != to && (to == "all" || front_end || levels().at(from) <= levels().at(to))) {
            report(path, include.line,
                   "layer " + from + " must not include layer " + to + " (" + include.name + ")");
        }
    }

    void check_packages(const std::string &path, const Include &include, const std::string &layer) {
        const bool is_public = starts_with(path, "include/");
        const bool isl = starts_with(include.name, "isl/");
        const bool llvm =
            starts_with(include.name, "llvm/") || starts_with(include.name, "llvm-c/");
        const bool hwloc = include.name == "hwloc.h";
        const bool json = starts_with(include.name, "nlohmann/");
        const bool cuda = include.name == "cuda.h" || include.name == "cuda_runtime.h";
        if (isl && layer != "poly") {
            report(path, include.line, "isl is for lib/poly only");
        }
        if (llvm && layer != "codegen" && layer != "jit") {
            report(path, include.line,
                   "LLVM is for lib/codegen and jit (without jit/runtime) only");
        }
        if (hwloc && layer != "support") {
            report(path, include.line, "hwloc is for lib/support only");
        }
        if (json && starts_with(path, "lib/") && layer != "driver") {
            report(path, include.line, "JSON is for lib/driver only");
        }
        if (is_public && (isl || llvm || cuda)) {
            report(path, include.line, "no isl, LLVM or CUDA in public headers");
        }
    }

    void check_words(const std::string &path, const std::string &text, const std::string &layer) {
        static const std::regex foreign(
            R"(\b(isl_\w+|isl::|llvm::|CU(context|module|device|stream)\b))");
        static const std::regex environment(R"(\b(secure_)?getenv\s*\()");
        std::smatch match;
        if (starts_with(path, "include/") && std::regex_search(text, match, foreign)) {
            report(path, line_of(text, match.position()), "no isl, LLVM or CUDA in public headers");
        }
        if (layer != "support" && std::regex_search(text, match, environment)) {
            report(path, line_of(text, match.position()), "getenv is for lib/support only");
        }
    }

    static int line_of(const std::string &text, std::ptrdiff_t position) {
        return 1 + static_cast<int>(std::count(text.begin(), text.begin() + position, '\n'));
    }

    // Depth first; a file that is reached again while it is still open closes a ring.
    void follow(const std::string &path) {
        if (done_.count(path) != 0) {
            return;
        }
        open_.push_back(path);
        for (const Include &include : includes(tree_.at(path))) {
            const std::string target = resolve(tree_, include.name);
            if (target.empty()) {
                continue;
            }
            const auto again = std::find(open_.begin(), open_.end(), target);
            if (again == open_.end()) {
                follow(target);
                continue;
            }
            std::string ring;
            for (auto it = again; it != open_.end(); ++it) {
                ring += *it + " -> ";
            }
            report(path, include.line, "a ring of includes: " + ring + target);
        }
        open_.pop_back();
        done_.insert(path);
    }

    const Tree &tree_;
    std::vector<std::string> found_;
    std::vector<std::string> open_;
    std::set<std::string> done_;
};

}  // namespace

Tree read_tree(const std::string &root) {
    namespace fs = std::filesystem;
    Tree tree;
    for (const char *folder : {"include", "lib", "jit"}) {
        for (const auto &entry : fs::recursive_directory_iterator(fs::path(root) / folder)) {
            const std::string extension = entry.path().extension().string();
            if (entry.is_regular_file() && (extension == ".h" || extension == ".cpp")) {
                std::ifstream in(entry.path());
                tree[fs::relative(entry.path(), root).string()] =
                    std::string(std::istreambuf_iterator<char>(in), {});
            }
        }
    }
    return tree;
}

std::vector<std::string> breaches(const Tree &tree) {
    return Checker(tree).run();
}

}  // namespace layers
