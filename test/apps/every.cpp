// Every entry of the table under every schedule against the reference evaluator. The code is
// compiled once per schedule, and is right for every size.
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("every application, schedule and awkward size gives what the definition says") {
    for (const apps::App &app : apps::registry()) {
        if (app.small.empty())
            continue;
        std::vector<Buffer<double>> expected;
        Scheduled reference(app, Way::Reference);
        for (apps::Size size : app.small)
            expected.push_back(reference.run(size));
        for (Way way : compiled) {
            Scheduled scheduled(app, way);
            for (size_t i = 0; i < app.small.size(); ++i) {
                const apps::Size size = app.small[i];
                INFO(app.name << " " << size.width << "x" << size.height << " " << name_of(way));
                const double difference = max_abs_difference(scheduled.run(size), expected[i]);
                INFO("difference " << difference << ", largest " << max_abs(expected[i]));
                CHECK(difference <= app.tolerance * max_abs(expected[i]));
            }
        }
    }
}
