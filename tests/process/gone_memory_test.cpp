// Memory that callers have unmapped or protected: the operation fails with an error that says whose
// it was, and the pair goes on. What is not in the lists is copied as by a plain store
// (docs/unregistering.md, "Memory that is gone").
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "command.hpp"
#include "real_fabric.hpp"

namespace photon::test {
namespace {

struct Way {
  const char* name;
  const char* settings;
  // From how many bytes on: what its own call copies, what its peer's progress places by records.
  std::size_t least_source;
  std::size_t least_target;
  bool has_card;  // libfabric's, which meets what is gone by itself
};

void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

constexpr Way kWays[] = {
    {"tcp", "PHOTON_TRANSPORT=tcp", 4096, 4096, false},
    {"shm", "PHOTON_TRANSPORT=shm", 131072, 131072, false},
    {"shm_no_cma", "PHOTON_TRANSPORT=shm PHOTON_SHM_CMA=off", 131072, 131072, false},
    {"ofi", "PHOTON_TRANSPORT=ofi", 131072, 4096, true},
};
constexpr std::size_t kGoneSizes[] = {100, 4096, 20'000, 200'000, 3'000'000};

class GoneMemory : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (GetParam().has_card && no_real_fabric() != nullptr) GTEST_SKIP() << no_real_fabric();
  }
  static void expect_told(const std::string& what, std::size_t least, std::size_t most) {
    for (const std::size_t size : kGoneSizes) {
      if (size < least || size > most) continue;
      const auto result = run_command(std::string("env ") + GetParam().settings + " " + kRun +
                                      " -n 2 " PHOTON_BIN_DIR "/gone_memory " + what + " " +
                                      std::to_string(size) + " 2>&1");
      EXPECT_EQ(result.exit_status, 0) << what << " of " << size << ": " << result.output;
    }
  }
  static constexpr std::size_t kAny = ~std::size_t{0};
  // What libfabric's tcp moves is looked at in the owner's process when it is first asked for, and
  // then only whether it is mapped.
  static std::size_t most_of_peer() { return GetParam().has_card ? 20'000 : kAny; }
};

TEST_P(GoneMemory, a_source_that_ends_in_the_middle_is_the_callers_error) {
  expect_told("short_source", GetParam().least_source, kAny);
}

TEST_P(GoneMemory, a_source_that_is_unmapped_after_the_call_is_the_callers_error_or_was_sent) {
  if (GetParam().has_card) GTEST_SKIP() << "libfabric may be sending it: docs/ofi.md";
  expect_told("late_source", 0, kAny);
}

TEST_P(GoneMemory, a_destination_that_ends_in_the_middle_is_the_callers_error) {
  expect_told("short_destination", 0, kAny);
}

TEST_P(GoneMemory, a_destination_that_is_unmapped_after_the_call_is_the_callers_error) {
  if (GetParam().has_card) GTEST_SKIP() << "libfabric may be filling it: docs/ofi.md";
  expect_told("late_destination", 0, kAny);
}

TEST_P(GoneMemory, a_destination_that_is_read_only_is_the_callers_error) {
  expect_told("read_only_destination", 0, kAny);
}

TEST_P(GoneMemory, a_target_that_was_unmapped_or_protected_is_an_error_of_access) {
  expect_told("short_target", GetParam().least_target, kAny);
  expect_told("read_only_target", GetParam().least_target, most_of_peer());
}

TEST_P(GoneMemory, memory_of_the_owner_of_a_get_that_is_gone_is_an_error_of_access) {
  expect_told("short_owner", 0, kAny);
  expect_told("hidden_owner", 0, most_of_peer());
}

INSTANTIATE_TEST_SUITE_P(Ways, GoneMemory, testing::ValuesIn(kWays),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace photon::test
