// Tests of <photon/task.hpp> share this: a PE that sends typed arguments, and the ways that they
// go.
#pragma once

#include <gtest/gtest.h>
#include <photon/task.hpp>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "real_fabric.hpp"
#include "task/buffer/buffer_job.hpp"

namespace photon::task::test {

using photon::tasks::Failure;
using photon::tasks::From;
using photon::tasks::Handler;
using photon::tasks::Room;
using photon::tasks::Tasks;
using photon::tasks::Ticket;
using photon::tasks::zero_copy;

inline constexpr std::uint64_t kAllOffered = 0;
inline constexpr std::uint64_t kAllPacked = ~std::uint64_t{0};

// A PE of a test.
struct Office {
  explicit Office(ph_task_pe* own, std::uint64_t threshold = kAllPacked) : pe(own), tasks(own) {
    tasks.fix_threshold(threshold);
    tasks.on_failure([this](const Failure& failure) { failures.push_back(failure); });
  }
  void begin() { ASSERT_EQ(tasks.agree(), PH_OK) << words_of(pe); }
  std::uint32_t own() const { return tasks.place().pe; }
  template <class Condition>
  void until(Condition condition) {
    while (!condition()) ASSERT_EQ(ph_task_run(pe, 1, nullptr), PH_OK);
  }
  // Both sides of a send call this: all that is under way has come then.
  void meet() {
    until([this] { return tasks.unreleased() == 0; });
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
    EXPECT_EQ(ph_task_run(pe, 0, nullptr), PH_OK);
    EXPECT_EQ(ph_task_agree(pe), PH_OK);
  }

  ph_task_pe* const pe;
  Tasks tasks;
  std::vector<Failure> failures;
};

// PE 0 sends to the other one, by one way.
struct Road {
  Path path;
  std::uint64_t threshold;
};
inline void PrintTo(const Road& road, std::ostream* out) { *out << road.path.name; }
inline std::string road_name(const testing::TestParamInfo<Road>& one) {
  return std::string(one.param.path.name) +
         (one.param.threshold == kAllPacked ? "_packed" : "_offered");
}
inline std::vector<Road> all_roads() {
  std::vector<Road> roads;
  for (const Path& path : all_paths())
    for (const std::uint64_t threshold : {kAllPacked, kAllOffered})
      roads.push_back({path, threshold});
  return roads;
}

class RoadTest : public testing::TestWithParam<Road> {
 protected:
  void SetUp() override {
    const bool is_ofi = std::string(GetParam().path.name) == "ofi";
    if (is_ofi && photon::test::no_real_fabric() != nullptr)
      GTEST_SKIP() << photon::test::no_real_fabric();
  }
  // Each PE runs it; `is_sender` and `is_target` may be the same one. At its end it meets the
  // others, while what it has captured is there.
  void run(const std::function<void(Office&, bool is_sender, bool is_target)>& body) {
    const Path& path = GetParam().path;
    TaskJob job(path.processes, path.pes, path.options);
    job.run([&](ph_task_pe* pe, const ph_task_place& place) {
      Office office(pe, GetParam().threshold);
      body(office, place.pe == 0, place.pe == path.other);
      office.meet();
    });
  }
  std::uint32_t target() const { return GetParam().path.other; }
};

}  // namespace photon::task::test
