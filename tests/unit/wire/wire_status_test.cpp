#include "wire/status.hpp"

#include <gtest/gtest.h>
#include <photon/photon.h>

namespace photon::wire {
namespace {

TEST(WireStatus, the_last_error_of_types_is_one_and_what_lies_beyond_it_is_not) {
  EXPECT_TRUE(is_error(static_cast<std::uint64_t>(std::int64_t{kLastError})));
  EXPECT_FALSE(is_error(static_cast<std::uint64_t>(std::int64_t{kLastError} - 1)));
  EXPECT_STRNE(ph_status_text(kLastError), ph_status_text(static_cast<ph_status>(-1000)));
  EXPECT_STREQ(ph_status_text(static_cast<ph_status>(kLastError - 1)),
               ph_status_text(static_cast<ph_status>(-1000)))
      << "types.h has one more than the wire";
}

TEST(WireStatus, an_operation_ends_well_or_by_an_error_and_not_by_what_is_for_callers) {
  EXPECT_TRUE(is_end(PH_OK));
  EXPECT_FALSE(is_error(PH_OK));
  EXPECT_FALSE(is_end(PH_AGAIN));
  EXPECT_FALSE(is_end(PH_TIMEOUT));
}

TEST(WireStatus, a_word_that_is_a_status_in_its_low_half_alone_is_none) {
  EXPECT_FALSE(is_end(std::uint64_t{1} << 32));
  EXPECT_FALSE(is_end(0xffff'ffffULL));
}

}  // namespace
}  // namespace photon::wire
