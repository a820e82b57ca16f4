// Pipeline::report(): the page's data, read back.
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <pipe/pipe.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/support/require_message.h"

using namespace Pipe;
using nlohmann::json;

namespace {

std::string page_of(Pipeline &pipeline) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "pipe_report_test.html";
    pipeline.report(file.string());
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    std::filesystem::remove(file);
    return text.str();
}

json data_of(const std::string &page) {
    const std::string begin = "const data = ";
    const size_t at = page.find(begin) + begin.size();
    return json::parse(page.substr(at, page.find(";\n", at) - at));
}

const json &stage(const json &data, const std::string &name) {
    return *std::find_if(data["stages"].begin(), data["stages"].end(),
                         [&](const json &s) { return s["name"] == name; });
}

bool has_edge(const json &data, const std::string &from, const std::string &to) {
    auto name = [&](const json &number) { return data["stages"][number.get<size_t>()]["name"]; };
    return std::any_of(data["edges"].begin(), data["edges"].end(), [&](const json &edge) {
        return name(edge[0]) == from && name(edge[1]) == to;
    });
}

struct Blurred {
    Var x{"x"}, y{"y"};
    ImageParam in{Float(32), 2, "in"};
    Func bright{"bright"}, rows{"rows"}, out{"out"};

    Blurred() {
        bright(x, y) = in(x, y) + 1;
        rows(x, y) = bright(x, y - 1) + bright(x, y) + bright(x, y + 1);
        out(x, y) = rows(x - 1, y) + rows(x, y) + rows(x + 1, y);
        Buffer<float> image(514, 258);
        image.translate({-1, -1});
        in.set(image);
    }
};

}  // namespace

TEST_CASE("a report shows stages, edges, and the loops in which stages are computed", "[driver][report]") {
    Blurred b;
    Var xi("xi"), yi("yi");
    b.out.tile(b.x, b.y, xi, yi, 64, 32).parallel(b.y);
    b.rows.compute_at(b.out, b.x);
    Pipeline pipeline(b.out);
    const std::string page = page_of(pipeline);
    const json data = data_of(page);
    CHECK(stage(data, "bright")["kind"] == "inlined");
    CHECK(stage(data, "bright")["group"] == -1);
    CHECK(stage(data, "rows")["kind"] == "stored");
    CHECK(stage(data, "out")["kind"] == "output");
    CHECK(stage(data, "rows")["group"] == stage(data, "out")["group"]);
    CHECK(stage(data, "in")["kind"] == "input");
    CHECK(has_edge(data, "in", "bright"));
    CHECK(has_edge(data, "bright", "rows"));
    CHECK(has_edge(data, "rows", "out"));
    CHECK(data["edges"].size() == 3);
    CHECK(data["groups"].empty());  // no autoscheduler
    CHECK(data["tried"].empty());
    CHECK(data["times"].empty());  // no profile
    CHECK(data["schedule"].get<std::string>().find("compute_at") != std::string::npos);
    CHECK(page.find("src=") == std::string::npos);  // nothing from elsewhere
    CHECK(page.find("href=") == std::string::npos);
}

TEST_CASE("a report of the autoscheduler has groups, tiles, and other schedules", "[driver][report]") {
    Blurred b;
    Pipeline pipeline(b.out);
    Buffer<float> out(512, 256);
    const Target target = get_host_target().with_feature(Target::Profile);
    pipeline.autoschedule(target);
    JITUserContext quiet;
    quiet.handlers.custom_print = [](JITUserContext *, const char *) {};
    pipeline.realize(&quiet, out);
    const json data = data_of(page_of(pipeline));
    REQUIRE_FALSE(data["groups"].empty());
    const json &group = data["groups"].back();
    CHECK(group["name"] == "out");
    CHECK(group["index"] == stage(data, "out")["group"]);
    CHECK(group["extents"] == json({512, 256}));
    for (size_t d = 0; d < 2; d++)
        CHECK(group["tile"][d].get<int>() <= group["extents"][d].get<int>());
    CHECK_FALSE(group["terms"].empty());
    CHECK(data["caches"].size() == 3);
    REQUIRE(data["tried"].size() > 1);
    CHECK(data["tried"][0]["relative"] == 1);
    CHECK(std::any_of(data["times"].begin(), data["times"].end(),
                      [](const json &t) { return t["name"] == "out" && t["measured"] >= 0; }));
}

TEST_CASE("text in a report cannot end its script", "[driver][report]") {
    Var x("x");
    Func f("f</script>");
    f(x) = x;
    Pipeline pipeline(f);
    const std::string page = page_of(pipeline);
    size_t ends = 0;
    for (size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; at++)
        ends++;
    CHECK(ends == 2);  // of the page's own two scripts
    CHECK(data_of(page)["title"] == "f</script>");
}

TEST_CASE("a report that cannot be written", "[driver][report]") {
    Blurred b;
    Pipeline pipeline(b.out);
    require_message<RuntimeError>([&] { pipeline.report("/no such folder/a.html"); },
                                        {"'/no such folder/a.html'", "cannot be written"});
}
