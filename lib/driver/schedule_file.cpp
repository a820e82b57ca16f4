#include "driver/schedule_file.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driver/schedule_json.h"
#include "support/error_text.h"
#include "support/target_features.h"

namespace Pipe::driver {
namespace {

const char *const format_name = "Pipe schedule";
constexpr int format_version = 1;

Json algorithm_to_json(const language::Algorithm &algorithm) {
    Json json{{"fingerprint", hex(algorithm.fingerprint())}, {"outputs", algorithm.outputs}};
    json["funcs"] = Json::array();
    for (const language::FuncSignature &f : algorithm.funcs)
        json["funcs"].push_back({{"name", f.name},
                                 {"dimensions", f.dimensions},
                                 {"types", f.types},
                                 {"definition", hex(f.definition)}});
    return json;
}

language::Algorithm algorithm_from_json(const Json &json) {
    language::Algorithm algorithm;
    algorithm.outputs = json.at("outputs").get<std::vector<std::string>>();
    for (const Json &f : json.at("funcs"))
        algorithm.funcs.push_back(
            {f.at("name").get<std::string>(), f.at("dimensions").get<std::vector<std::string>>(),
             f.at("types").get<std::vector<std::string>>(), from_hex(f.at("definition"))});
    return algorithm;
}

/// To five digits: a file is for people, too.
double rounded(double ms) {
    return std::strtod(fmt::format("{:.5g}", ms).c_str(), nullptr);
}

Json candidate_to_json(const ScheduleFile::Candidate &c) {
    Json json{{"key", hex(c.key)}, {"name", c.name}, {"predicted_ms", rounded(c.predicted_ms)}};
    if (!c.dropped.empty())
        json["dropped"] = c.dropped;
    json["times_ms"] = Json::array();
    for (double ms : c.times_ms)
        json["times_ms"].push_back(rounded(ms));
    return json;
}

ScheduleFile::Candidate candidate_from_json(const Json &json) {
    ScheduleFile::Candidate c;
    c.key = from_hex(json.at("key"));
    c.name = json.at("name").get<std::string>();
    c.predicted_ms = json.at("predicted_ms").get<double>();
    c.times_ms = json.at("times_ms").get<std::vector<double>>();
    if (json.contains("dropped"))
        c.dropped = json.at("dropped").get<std::string>();
    return c;
}

Json file_to_json(const ScheduleFile &file) {
    Json json{{"format", format_name},
              {"version", format_version},
              {"target", file.target.to_string()},
              {"sizes", file.sizes},
              {"algorithm", algorithm_to_json(file.algorithm)},
              {"schedule", schedule_to_json(file.schedule)}};
    if (file.candidates.empty())
        return json;
    json["machine"] = file.machine;
    json["candidates"] = Json::array();
    for (const ScheduleFile::Candidate &c : file.candidates)
        json["candidates"].push_back(candidate_to_json(c));
    return json;
}

[[noreturn]] void reject_file(const std::string &path, const std::string &why) {
    throw CompileError(
        fmt::format("Schedule file '{}': {}", support::marked(support::Field::Func, path), why));
}

void check_version(const std::string &path, const Json &json) {
    if (!json.is_object() || json.value("format", "") != format_name)
        reject_file(path, fmt::format("it is not a schedule: it does not begin with \"format\": "
                                      "\"{}\". Write one with save_schedule() or tune().",
                                      format_name));
    const Json version = json.value("version", Json());
    if (version != format_version)
        reject_file(path, fmt::format("it has version {}, but this Pipe reads version {}. Save the "
                                      "schedule again, or tune again.",
                                      version.dump(), format_version));
}

ScheduleFile file_from_json(const Json &json) {
    ScheduleFile file;
    file.target = Target(json.at("target").get<std::string>());
    file.sizes = json.at("sizes").get<std::vector<std::vector<int64_t>>>();
    file.algorithm = algorithm_from_json(json.at("algorithm"));
    file.schedule = schedule_from_json(json.at("schedule"));
    if (json.contains("candidates")) {
        file.machine = json.at("machine").get<std::string>();
        for (const Json &c : json.at("candidates"))
            file.candidates.push_back(candidate_from_json(c));
    }
    return file;
}

}  // namespace

void write_schedule_file(const std::string &path, const ScheduleFile &file) {
    const std::string text = pretty(file_to_json(file)), part = path + ".part";
    {
        std::ofstream out(part, std::ios::binary);
        out << text;
        out.flush();
        if (!out)
            throw RuntimeError(fmt::format("The schedule file '{}' cannot be written.", part));
    }
    if (std::rename(part.c_str(), path.c_str()) != 0)
        throw RuntimeError(fmt::format("The schedule file '{}' cannot be written.", path));
}

ScheduleFile read_schedule_file(const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in)
        throw RuntimeError(fmt::format("The schedule file '{}' cannot be read.", path));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    try {
        const Json json = Json::parse(text);
        check_version(path, json);
        return file_from_json(json);
    } catch (const nlohmann::json::parse_error &error) {
        const auto end = text.begin() + static_cast<long>(std::min(error.byte, text.size()));
        reject_file(path,
                    fmt::format("line {} is not JSON. Restore the file, or delete it and tune "
                                "again. ({})",
                                1 + std::count(text.begin(), end, '\n'), error.what()));
    } catch (const nlohmann::json::exception &error) {
        reject_file(path,
                    fmt::format("it is not complete. Save the schedule again. ({})", error.what()));
    }
}

void check_algorithm(const std::string &path, const ScheduleFile &file,
                     const language::Algorithm &here) {
    const std::string what = language::difference(file.algorithm, here);
    if (!what.empty())
        reject_file(path, fmt::format("it is for another algorithm: {}. Tune again, or delete the "
                                      "file.",
                                      what));
}

void check_target(const std::string &path, const ScheduleFile &file) {
    const Target here = get_host_target();
    std::vector<std::string> missing;
    for (int f = 0; f < Target::FeatureEnd; f++) {
        const auto feature = static_cast<Target::Feature>(f);
        const support::FeatureKind kind = support::feature_info(feature).kind;
        const bool of_processor =
            kind == support::FeatureKind::X86 || kind == support::FeatureKind::ARM;
        if (of_processor && file.target.has_feature(feature) && !here.has_feature(feature))
            missing.push_back(Target::feature_to_name(feature));
    }
    if (file.target.has_feature(Target::CUDA) && !host_supports_target_device(file.target))
        missing.push_back("cuda");
    const bool same_system =
        file.target.arch == here.arch && file.target.os == here.os && file.target.bits == here.bits;
    if (same_system && missing.empty())
        return;
    reject_file(path,
                fmt::format("it is for the target {}, but this machine {}. Tune on this "
                            "machine, or for a target that both have.",
                            file.target.to_string(),
                            !same_system ? "is a " + here.to_string()
                                         : fmt::format("has no {}", fmt::join(missing, ", "))));
}

}  // namespace Pipe::driver
