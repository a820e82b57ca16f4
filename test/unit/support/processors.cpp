// What the process may use of the machine: hwloc's topologies, and control groups in a folder that
// stands for the root.
#include <catch2/catch_test_macros.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include "set_variable.h"
#include "support/processors.h"
#include "test/support/temp_folder.h"

using namespace Pipe;

namespace {

/// A root with /proc/self/cgroup, and files of groups.
class FakeRoot {
  public:
    explicit FakeRoot(const std::string &groups) { write("proc/self/cgroup", groups); }
    void write(const std::string &file, const std::string &text) {
        const std::filesystem::path path = root() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }
    std::optional<double> processors() const { return support::cgroup_processors(root()); }

  private:
    TempFolder folder_;
    std::filesystem::path root() const { return folder_ / "root"; }
};

}  // namespace

TEST_CASE("no quota where there is no control group, or none with a limit", "[support]") {
    TempFolder empty;
    CHECK_FALSE(support::cgroup_processors(empty / "nothing"));
    FakeRoot root("0::/user.slice/a.scope\n");
    CHECK_FALSE(root.processors());
    root.write("sys/fs/cgroup/user.slice/a.scope/cpu.max", "max 100000\n");
    CHECK_FALSE(root.processors());
    root.write("sys/fs/cgroup/user.slice/a.scope/cpu.max", "nonsense\n");
    CHECK_FALSE(root.processors());
}

TEST_CASE("the quota of version 2 is the least of the group and those above", "[support]") {
    FakeRoot root("0::/user.slice/a.scope\n");
    root.write("sys/fs/cgroup/user.slice/a.scope/cpu.max", "250000 100000\n");
    CHECK(root.processors() == 2.5);
    root.write("sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
    CHECK(root.processors() == 1.5);
    root.write("sys/fs/cgroup/cpu.max", "800000 100000\n");
    CHECK(root.processors() == 1.5);
}

TEST_CASE("in a container the top folder is the group", "[support]") {
    FakeRoot inside("0::/\n");
    inside.write("sys/fs/cgroup/cpu.max", "50000 100000\n");
    CHECK(inside.processors() == 0.5);
    FakeRoot path_of_host("0::/../../docker/12ab\n");
    path_of_host.write("sys/fs/cgroup/cpu.max", "300000 100000\n");
    CHECK(path_of_host.processors() == 3);
}

TEST_CASE("the quota of version 1", "[support]") {
    FakeRoot root("7:memory:/m\n4:cpu,cpuacct:/docker/12\n2:cpuset:/\n");
    CHECK_FALSE(root.processors());
    root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_quota_us", "-1\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_period_us", "100000\n");
    CHECK_FALSE(root.processors());
    root.write("sys/fs/cgroup/cpu,cpuacct/docker/12/cpu.cfs_quota_us", "400000\n");
    CHECK(root.processors() == 4);
    root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "100000\n");
    root.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
    CHECK(root.processors() == 2);
    // other controllers have no quota of processors
    root.write("sys/fs/cgroup/memory/m/cpu.cfs_quota_us", "10000\n");
    root.write("sys/fs/cgroup/memory/m/cpu.cfs_period_us", "100000\n");
    CHECK(root.processors() == 2);
    FakeRoot single("4:cpu:/g\n");
    single.write("sys/fs/cgroup/cpu/g/cpu.cfs_quota_us", "150000\n");
    single.write("sys/fs/cgroup/cpu/g/cpu.cfs_period_us", "100000\n");
    CHECK(single.processors() == 1.5);
}

TEST_CASE("caches and processors are hwloc's", "[support]") {
    const support::Topology t = support::read_topology(
        "package:2 l3:1(size=33554432) core:4 l2:1(size=524288) l1d:1(size=49152) pu:2");
    CHECK(t.processors == 16);
    CHECK(t.l1_bytes == 48 << 10);
    CHECK(t.l2_bytes == 512 << 10);
    CHECK(t.l3_bytes == 32 << 20);
}

TEST_CASE("a machine without caches, and one that cannot be read", "[support]") {
    const support::Topology bare = support::read_topology("pu:3");
    CHECK(bare.processors == 3);
    CHECK(bare.l1_bytes == 0);
    CHECK(bare.l2_bytes == 0);
    CHECK(bare.l3_bytes == 0);
    const support::Topology none = support::read_topology("no such thing");
    CHECK(none.processors == 0);
    CHECK(none.l1_bytes == 0);
}

TEST_CASE("the machine at hand", "[support]") {
    const int usable = support::usable_processors();
    CHECK(usable >= 1);
    CHECK(usable <= static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("threads where OpenMP was told nothing", "[support]") {
    {
        testing::SetVariable threads("OMP_NUM_THREADS", "5,2");
        CHECK(support::default_threads() == 5);
        support::set_thread_limit(3);
        CHECK(support::default_threads() == 3);
        support::set_thread_limit(0);
        CHECK(support::default_threads() == 5);
    }
    testing::SetVariable nonsense("OMP_NUM_THREADS", "many");
    CHECK(support::default_threads() == support::usable_processors());
}
