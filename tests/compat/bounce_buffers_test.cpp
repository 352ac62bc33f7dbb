// Which sources are copied here, and what becomes of a copy.
#include "compat/bounce_buffers.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace photon::test {
namespace {

using classic::BounceBuffers;

TEST(ClassicReusable, covers_what_is_asked_for_beyond_what_the_context_copies) {
  const BounceBuffers more(2, 192, 1000);
  for (const std::uint64_t size : {193U, 1000U}) EXPECT_TRUE(more.covers(size)) << size;
  for (const std::uint64_t size : {0U, 1U, 192U, 1001U}) EXPECT_FALSE(more.covers(size)) << size;
  const BounceBuffers none(2, 192, 192);
  for (const std::uint64_t size : {0U, 192U, 193U}) EXPECT_FALSE(none.covers(size)) << size;
}

TEST(ClassicReusable, posts_from_a_copy_that_stays_when_the_source_changes) {
  BounceBuffers bounce_buffers(2, 0, 100);
  char source[] = "words";
  const void* copy = nullptr;
  const auto keep = [&](const void* from) {
    copy = from;
    return PH_OK;
  };
  ASSERT_EQ(bounce_buffers.post(nullptr, 1, source, sizeof source, keep), PH_OK);
  EXPECT_NE(copy, static_cast<const void*>(source));
  source[0] = 'W';
  EXPECT_EQ(std::string_view(static_cast<const char*>(copy)), "words");
}

TEST(ClassicReusable, leaves_to_the_call_what_is_wrong_and_says_what_it_said) {
  BounceBuffers bounce_buffers(2, 0, 100);
  char source[] = "words";
  const void* given = source;
  const auto refuse = [&](const void* from) {
    given = from;
    return PH_ERR_RANK;
  };
  EXPECT_EQ(bounce_buffers.post(nullptr, 2, source, sizeof source, refuse), PH_ERR_RANK);
  EXPECT_EQ(given, source) << "there is no such rank: nothing is copied";
  EXPECT_EQ(bounce_buffers.post(nullptr, 1, nullptr, 4, refuse), PH_ERR_RANK);
  EXPECT_EQ(given, nullptr);
}

}  // namespace
}  // namespace photon::test
