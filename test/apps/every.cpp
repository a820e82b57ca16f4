// Every entry of the table under every schedule against the reference evaluator.
#include "test/apps/support.h"

using namespace app_test;
using Pipe::Buffer;

TEST_CASE("every application, schedule and awkward size gives what the definition says") {
    for (const apps::App &app : apps::registry()) {
        for (apps::Size size : app.small) {
            const Buffer<double> expected = run(app, size, Way::Reference);
            for (Way way : compiled) {
                INFO(app.name << " " << size.width << "x" << size.height << " " << name_of(way));
                const Buffer<double> out = run(app, size, way);
                CHECK(max_abs_difference(out, expected) <= app.tolerance * max_abs(expected));
            }
        }
    }
}
