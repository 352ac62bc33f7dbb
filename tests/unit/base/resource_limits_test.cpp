#include "base/resource_limits.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

namespace photon::base {
namespace {

bool says(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(ResourceLimits, of_descriptors_are_named_with_what_to_do) {
  const std::string said = descriptors_advice(EMFILE, 1024);
  EXPECT_TRUE(says(said, "1024 descriptors") && says(said, "RLIMIT_NOFILE")) << said;
  EXPECT_TRUE(says(said, "ulimit -n")) << said;
  EXPECT_TRUE(says(descriptors_advice(ENFILE, 1024), "fs.file-max"));
  EXPECT_FALSE(says(descriptors_advice(ENFILE, 1024), "1024")) << "it is not this process's";
}

TEST(ResourceLimits, of_locked_memory_are_named_with_what_to_do) {
  for (const int number : {ENOMEM, EPERM, EAGAIN}) {
    const std::string said = locked_memory_advice(number, 8 << 20);
    EXPECT_TRUE(says(said, "8192 KiB") && says(said, "RLIMIT_MEMLOCK")) << said;
    EXPECT_TRUE(says(said, "ulimit -l")) << said;
    EXPECT_EQ(locked_memory_advice(number, kNoLimit), "") << "there is none to be raised";
  }
}

TEST(ResourceLimits, of_memory_are_named_with_the_settings_that_take_it) {
  const std::string said = memory_advice(ENOMEM, std::uint64_t{1269} << 20);
  for (const char* part : {"1269 MiB", "RLIMIT_AS", "ulimit -v", "PHOTON_ARENA_BYTES",
                           "PHOTON_BULK_BYTES", "PHOTON_RING_LINES"})
    EXPECT_TRUE(says(said, part)) << part << said;
  EXPECT_TRUE(says(memory_advice(ENOMEM, kNoLimit), "memory cgroup"));
}

TEST(ResourceLimits, of_the_size_of_files_are_named_where_shared_memory_is_beyond) {
  const std::string said = file_size_advice(EFBIG, 100 << 10);
  for (const char* part : {"100 KiB", "RLIMIT_FSIZE", "ulimit -f", "PHOTON_TRANSPORT=tcp"})
    EXPECT_TRUE(says(said, part)) << part << said;
}

TEST(ResourceLimits, a_call_that_a_sandbox_refuses_is_told_from_one_that_fails) {
  for (const int number : {EPERM, EACCES, ENOSYS}) {
    EXPECT_TRUE(is_call_refused(number));
    EXPECT_TRUE(says(refused_call_advice(number), "seccomp")) << number;
    EXPECT_TRUE(says(refused_call_advice(number), "docs/containers.md")) << number;
  }
  for (const int number : {0, EINVAL, EMFILE, ENOMEM}) {
    EXPECT_FALSE(is_call_refused(number)) << number;
    EXPECT_EQ(refused_call_advice(number), "") << number;
  }
}

TEST(ResourceLimits, are_not_blamed_for_other_failures) {
  for (const int number : {0, EINVAL, ECONNREFUSED, EFAULT, ENOSYS}) {
    EXPECT_EQ(descriptors_advice(number, 1024), "") << number;
    EXPECT_EQ(locked_memory_advice(number, 1024), "") << number;
    EXPECT_EQ(memory_advice(number, 1024), "") << number;
    EXPECT_EQ(file_size_advice(number, 1024), "") << number;
  }
}

// In a child, since not everybody may raise the limit of locked memory again.
[[noreturn]] void lower_and_look() {
  rlimit few{};
  ::getrlimit(RLIMIT_NOFILE, &few);
  few.rlim_cur = 77;
  ::setrlimit(RLIMIT_NOFILE, &few);
  const rlimit little{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
  const bool is_lowered = ::setrlimit(RLIMIT_MEMLOCK, &little) == 0;
  const bool is_little = !is_lowered || locked_memory_limit_bytes() == 64 << 10;
  ::_exit(descriptors_limit() == 77 && is_little ? 0 : 1);
}

TEST(ResourceLimits, are_those_in_force) {
  EXPECT_EXIT(lower_and_look(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace photon::base
