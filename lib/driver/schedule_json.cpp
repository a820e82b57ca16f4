#include "driver/schedule_json.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace Pipe::driver {
namespace {

using graph::Argument;
using graph::Directive;
using language::PortableSchedule;
using DerivedFunc = PortableSchedule::DerivedFunc;
using ScheduleEntry = PortableSchedule::Entry;

Json argument_to_json(const Argument &a) {
    switch (a.kind) {
    case Argument::Kind::Number:
        return expr_to_json(a.number);
    case Argument::Kind::Flag:
        return a.flag;
    case Argument::Kind::Stage:
        return {{"func", a.text}, {"stage", a.stage}};
    case Argument::Kind::List: {
        Json list = Json::array();
        for (const Argument &element : a.list)
            list.push_back(argument_to_json(element));
        return list;
    }
    default:
        return a.text;
    }
}

Argument argument_from_json(const Json &json) {
    if (json.is_string())
        return {.kind = Argument::Kind::Text, .text = json.get<std::string>()};
    if (json.is_boolean())
        return {.kind = Argument::Kind::Flag, .flag = json.get<bool>()};
    if (json.is_object() && json.contains("func"))
        return {.kind = Argument::Kind::Stage,
                .text = json.at("func").get<std::string>(),
                .stage = json.at("stage").get<int>()};
    if (!json.is_array())
        return {.kind = Argument::Kind::Number, .number = expr_from_json(json)};
    Argument list{.kind = Argument::Kind::List};
    for (const Json &element : json)
        list.list.push_back(argument_from_json(element));
    return list;
}

/// ["split", "x", "xo", "xi", 8]
Json directives_to_json(const std::vector<Directive> &directives) {
    Json result = Json::array();
    for (const Directive &d : directives) {
        Json call = Json::array({d.name});
        for (const Argument &a : d.args)
            call.push_back(argument_to_json(a));
        result.push_back(std::move(call));
    }
    return result;
}

std::vector<Directive> directives_from_json(const Json &json) {
    std::vector<Directive> result;
    for (const Json &call : json) {
        Directive d{call.at(0).get<std::string>()};
        for (size_t i = 1; i < call.size(); i++)
            d.args.push_back(argument_from_json(call[i]));
        result.push_back(std::move(d));
    }
    return result;
}

Json made_to_json(const DerivedFunc &made) {
    Json json{{"name", made.name}, {"method", made.method}, {"of", made.of}};
    if (made.method != "rfactor") {
        json["consumers"] = made.consumers;
        return json;
    }
    json["stage"] = made.stage;
    if (!made.before.empty())
        json["after"] = directives_to_json(made.before);
    json["preserved"] = Json::array();
    for (const auto &[loop, var] : made.preserved)
        json["preserved"].push_back(Json::array({loop, var}));
    return json;
}

DerivedFunc made_from_json(const Json &json) {
    DerivedFunc made;
    made.name = json.at("name").get<std::string>();
    made.method = json.at("method").get<std::string>();
    made.of = json.at("of").get<std::string>();
    if (made.method != "rfactor") {
        made.consumers = json.at("consumers").get<std::vector<std::string>>();
        return made;
    }
    made.stage = json.at("stage").get<int>();
    if (json.contains("after"))
        made.before = directives_from_json(json.at("after"));
    for (const Json &pair : json.at("preserved"))
        made.preserved.emplace_back(pair.at(0).get<std::string>(), pair.at(1).get<std::string>());
    return made;
}

Json entry_to_json(const ScheduleEntry &entry) {
    Json json{{"func", entry.func}};
    if (entry.stage > 0)
        json["update"] = entry.stage - 1;
    if (!entry.specialized.empty())
        json["specialization"] = entry.specialized;
    json["directives"] = directives_to_json(entry.directives);
    return json;
}

ScheduleEntry entry_from_json(const Json &json) {
    ScheduleEntry entry;
    entry.func = json.at("func").get<std::string>();
    if (json.contains("update"))
        entry.stage = json.at("update").get<int>() + 1;
    if (json.contains("specialization"))
        entry.specialized = json.at("specialization").get<std::vector<int>>();
    entry.directives = directives_from_json(json.at("directives"));
    return entry;
}

bool holds_numbers(const Json &json) {
    return json.is_array() &&
           std::all_of(json.begin(), json.end(), [](const Json &e) { return e.is_number(); });
}

/// Whether it fits on one line, with at most one list in it.
bool is_flat(const Json &json) {
    constexpr size_t line = 100;
    if (json.is_primitive() || holds_numbers(json))
        return true;
    auto is_nested = [&](const Json &child) {
        const bool deep = std::any_of(child.begin(), child.end(), [](const Json &grandchild) {
            return !grandchild.is_primitive();
        });
        return !child.is_primitive() && !holds_numbers(child) && child.size() > 1 &&
               (deep || json.is_array());
    };
    return std::none_of(json.begin(), json.end(), is_nested) && json.dump().size() < line;
}

void print_json(const Json &json, const std::string &indent, std::string &out) {
    if (is_flat(json)) {
        out += json.dump();
        return;
    }
    const std::string inner = indent + "  ";
    bool first = true;
    out += json.is_array() ? "[" : "{";
    for (const auto &[key, value] : json.items()) {
        out += (first ? "\n" : ",\n") + inner;
        first = false;
        if (json.is_object())
            out += Json(key).dump() + ": ";
        print_json(value, inner, out);
    }
    out += "\n" + indent + (json.is_array() ? "]" : "}");
}

}  // namespace

Json schedule_to_json(const PortableSchedule &schedule) {
    Json json{{"added", Json::array()}, {"directives", Json::array()}};
    for (const DerivedFunc &made : schedule.made)
        json["added"].push_back(made_to_json(made));
    for (const ScheduleEntry &entry : schedule.entries)
        json["directives"].push_back(entry_to_json(entry));
    return json;
}

PortableSchedule schedule_from_json(const Json &json) {
    PortableSchedule schedule;
    for (const Json &made : json.at("added"))
        schedule.made.push_back(made_from_json(made));
    for (const Json &entry : json.at("directives"))
        schedule.entries.push_back(entry_from_json(entry));
    return schedule;
}

std::string pretty(const Json &json) {
    std::string out;
    print_json(json, "", out);
    return out + "\n";
}

std::string hex(uint64_t value) {
    return fmt::format("{:016x}", value);
}

uint64_t from_hex(const Json &json) {
    return std::strtoull(json.get<std::string>().c_str(), nullptr, 16);
}

uint64_t schedule_key(const PortableSchedule &schedule) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (char c : schedule_to_json(schedule).dump())
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

}  // namespace Pipe::driver
