// Every entry of the table under every schedule against the reference evaluator. The code is
// compiled once per schedule, and is right for every size.
#include "apps/common/random_schedule.h"
#include "test/apps/support.h"
#include "test/support/distinct_apps.h"

#include <algorithm>
#include <memory>

using namespace app_test;
using Pipe::Buffer;

namespace {

class RandomlyScheduled {
  public:
    RandomlyScheduled(const apps::App &app, apps::Size size, int seed)
        : app_(app), size_(size), program_(app.make()), pipeline_(program_->output()) {
        const apps::Taste taste = seed % 2 ? apps::Taste::Any : apps::Taste::Plausible;
        apps::schedule_at_random(*program_, pipeline_, Pipe::get_host_target(), taste,
                                 uint64_t(seed));
        apps::set_inputs(*program_, apps::make_inputs(app, *program_, size));
    }

    bool is_legal(const Pipe::Target &target, std::string *refusal) {
        try {
            pipeline_.compile_jit(target);
            return true;
        } catch (const Pipe::CompileError &error) {
            *refusal = error.what();
            return false;
        }
    }

    Buffer<double> run(const Pipe::Target &target) {
        const Buffer<> output = apps::make_output(app_, *program_, size_);
        pipeline_.realize(output, target);
        return apps::as_doubles(output);
    }

    std::string schedule() { return pipeline_.schedule_source(); }

  private:
    const apps::App &app_;
    const apps::Size size_;
    const std::unique_ptr<apps::Program> program_;
    Pipe::Pipeline pipeline_;
};

}  // namespace

TEST_CASE("every application, schedule and awkward size gives what the definition says") {
    for (const apps::App &entry : apps::registry()) {
        const apps::App &app = entry.small.empty() ? *entry.reduced : entry;
        DYNAMIC_SECTION(app.name) {
            std::vector<Buffer<double>> expected;
            Scheduled reference(app, Way::Reference);
            for (apps::Size size : app.small)
                expected.push_back(reference.run(size));
            for (Way way : compiled) {
                Scheduled scheduled(app, way);
                for (size_t i = 0; i < app.small.size(); ++i) {
                    const apps::Size size = app.small[i];
                    INFO(size.width << "x" << size.height << " " << name_of(way));
                    const double difference = max_abs_difference(scheduled.run(size), expected[i]);
                    INFO("difference " << difference << ", largest " << max_abs(expected[i]));
                    CHECK(difference <= app.tolerance * max_abs(expected[i]));
                }
            }
        }
    }
}

// For caches so small that the sizes of tests need several tiles of two levels.
TEST_CASE("every kind of application, scheduled by every published strategy", "[.][random]") {
    Pipe::Target target;
    target.set_feature(Pipe::Target::QuickCompile);
    for (const apps::App *entry : distinct_apps()) {
        const apps::App &app = entry->reduced ? *entry->reduced : *entry;
        DYNAMIC_SECTION(app.name) {
            REQUIRE(!app.small.empty());
            const apps::Size size = app.small.front();
            const Buffer<double> expected = Scheduled(app, Way::Reference).run(size);
            for (auto strategy : Pipe::AutoscheduleOptions::strategies) {
                const std::unique_ptr<apps::Program> program = app.make();
                apps::set_inputs(*program, apps::make_inputs(app, *program, size));
                Pipe::Pipeline pipeline(program->output());
                Pipe::AutoscheduleOptions options;
                options.strategy = strategy;
                options.cores = 3;
                options.l1_bytes = 1 << 10;
                options.l2_bytes = 1 << 13;
                pipeline.autoschedule(target, options);
                const Buffer<> output = apps::make_output(app, *program, size);
                pipeline.realize(output, target);
                INFO(pipeline.schedule_report());
                CHECK(pipeline.schedule_report().find("no usable schedule") == std::string::npos);
                CHECK(max_abs_difference(apps::as_doubles(output), expected) <=
                      app.tolerance * max_abs(expected));
            }
        }
    }
}

// Those that are not legal as a whole (an update that reads its neighbors runs in parallel) are
// refused, and others take their place. Programs that take seconds to compile have a reduced form.
TEST_CASE("every kind of application under random legal schedules", "[.][random]") {
    Pipe::Target target;
    target.set_feature(Pipe::Target::QuickCompile);
    for (const apps::App *entry : distinct_apps()) {
        const apps::App &app = entry->reduced ? *entry->reduced : *entry;
        DYNAMIC_SECTION(app.name) {
            REQUIRE(!app.small.empty());
            const apps::Size size = app.small.front();
            const Buffer<double> expected = Scheduled(app, Way::Reference).run(size);
            // Each schedules every stage at random: long programs need fewer.
            const int stages = int(app.make()->stages.size());
            const int wanted = std::clamp(200 / stages, 4, 12);
            int legal = 0;
            std::string refusal;
            for (int seed = 1; seed <= 2 * wanted && legal < wanted; seed++) {
                RandomlyScheduled scheduled(app, size, seed);
                if (!scheduled.is_legal(target, &refusal))
                    continue;
                legal++;
                INFO(app.name << " " << size.width << "x" << size.height << ", seed " << seed
                              << "\n"
                              << scheduled.schedule());
                CHECK(max_abs_difference(scheduled.run(target), expected) <=
                      app.tolerance * max_abs(expected));
            }
            INFO("the last one was refused because " << refusal);
            CHECK(legal == wanted);
        }
    }
}
