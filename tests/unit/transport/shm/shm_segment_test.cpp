#include "transport/shm/shm_segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace photon::transport::shm {
namespace {

const SegmentShape kShape = {4 * page_bytes(), page_bytes() + kControlBytes};

Segment::Created make() {
  auto made = Segment::create("photon-test", kShape);
  EXPECT_TRUE(made) << made.error().what;
  return std::move(*made);
}

// Whether a child that writes there survives.
bool writable(std::byte* address) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    *address = std::byte{1};
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Segment, is_zeroed_writable_and_sealed) {
  const auto made = make();
  EXPECT_EQ(made.segment.data()[0], std::byte{0});
  made.segment.data()[kShape.size_bytes - 1] = std::byte{7};
  EXPECT_TRUE(check_segment(made.fd.get(), kShape));
  EXPECT_NE(::ftruncate(made.fd.get(), 0), 0);
  EXPECT_NE(::ftruncate(made.fd.get(), static_cast<off_t>(2 * kShape.size_bytes)), 0);
}

TEST(Segment, mapped_again_shows_the_same_bytes_elsewhere) {
  const auto made = make();
  made.segment.data()[5] = std::byte{9};
  auto mapped = Segment::map(made.fd.get(), kShape, {kShape.size_bytes, 0, page_bytes()});
  ASSERT_TRUE(mapped) << mapped.error().what;
  EXPECT_NE(mapped->data(), made.segment.data());
  EXPECT_EQ(mapped->data()[5], std::byte{9});
  mapped->data()[6] = std::byte{10};
  EXPECT_EQ(made.segment.data()[6], std::byte{10});
}

TEST(Segment, mapped_again_is_writable_only_where_asked) {
  const auto made = make();
  auto mapped =
      Segment::map(made.fd.get(), kShape, {kShape.size_bytes, page_bytes(), page_bytes()});
  ASSERT_TRUE(mapped);
  EXPECT_FALSE(writable(mapped->data()));
  EXPECT_TRUE(writable(mapped->data() + page_bytes()));
  EXPECT_FALSE(writable(mapped->data() + 2 * page_bytes()));
}

TEST(Segment, protected_pages_are_no_longer_written_by_this_side) {
  auto made = make();
  EXPECT_TRUE(writable(made.segment.data()));
  made.segment.protect(0, page_bytes());
  EXPECT_FALSE(writable(made.segment.data()));
  EXPECT_TRUE(writable(made.segment.data() + page_bytes()));
}

TEST(Segment, shared_in_one_process_is_the_same_mapping_until_the_last_holder_lets_go) {
  auto made = make();
  std::byte* const data = made.segment.data();
  auto shared = Segment::share(made.fd.get(), kShape);
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->data(), data);
  made.segment.reset();
  data[3] = std::byte{4};  // still mapped
  EXPECT_EQ(shared->data()[3], std::byte{4});
  shared->reset();
  EXPECT_FALSE(writable(data));
}

TEST(Segment, shared_too_late_is_refused_and_can_still_be_mapped) {
  auto made = make();
  made.segment.data()[0] = std::byte{8};
  made.segment.reset();
  EXPECT_FALSE(Segment::share(made.fd.get(), kShape));
  const auto mapped = Segment::map(made.fd.get(), kShape, {kShape.size_bytes, 0, 0});
  ASSERT_TRUE(mapped);
  EXPECT_EQ(mapped->data()[0], std::byte{8});
}

TEST(Segment, a_forked_child_lets_go_without_taking_it_from_the_parent) {
  auto made = make();
  const pid_t child = ::fork();
  if (child == 0) {
    made.segment.reset();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(Segment::share(made.fd.get(), kShape)) << "the parent's count is untouched";
}

TEST(Segment, of_another_size_is_refused_by_name) {
  const auto made = make();
  SegmentShape larger = kShape;
  larger.size_bytes += page_bytes();
  const auto mapped = Segment::map(made.fd.get(), larger, {larger.size_bytes, 0, 0});
  ASSERT_FALSE(mapped);
  EXPECT_EQ(mapped.error().status, PH_ERR_PROTOCOL);
  EXPECT_NE(mapped.error().what.find(std::to_string(larger.size_bytes)), std::string::npos);
}

TEST(Segment, that_could_shrink_under_us_is_refused) {
  const base::UniqueFd fd(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(fd.get(), static_cast<off_t>(kShape.size_bytes)), 0);
  const auto checked = check_segment(fd.get(), kShape);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().status, PH_ERR_PROTOCOL);
  EXPECT_NE(checked.error().what.find("sealed"), std::string::npos);
}

TEST(Segment, of_a_descriptor_that_is_no_memory_is_refused) {
  int pipes[2] = {-1, -1};
  ASSERT_EQ(::pipe(pipes), 0);
  EXPECT_FALSE(check_segment(pipes[0], kShape));
  EXPECT_FALSE(check_segment(-1, kShape));
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST(Segment, too_large_to_exist_is_an_error_with_its_size) {
  const auto made = Segment::create("huge", {std::size_t{1} << 60, 0});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().what.find(std::to_string(std::size_t{1} << 60)), std::string::npos);
}

}  // namespace
}  // namespace photon::transport::shm
