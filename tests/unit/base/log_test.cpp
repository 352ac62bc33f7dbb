#include "base/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/unique_fd.hpp"

namespace photon::base {
namespace {

struct Pipe {
  Pipe() {
    int fds[2] = {-1, -1};
    EXPECT_EQ(::pipe(fds), 0);
    read_end.reset(fds[0]);
    write_end.reset(fds[1]);
  }
  std::string take_all() {
    write_end.reset();
    std::string text(4096, '\0');
    const ssize_t size_bytes = ::read(read_end.get(), text.data(), text.size());
    text.resize(size_bytes < 0 ? 0 : static_cast<std::size_t>(size_bytes));
    return text;
  }
  UniqueFd read_end;
  UniqueFd write_end;
};

TEST(Log, writes_one_line_with_rank_and_level) {
  Pipe pipe;
  const Log log(LogLevel::info, 3, pipe.write_end.get());
  log.write(LogLevel::warn, "peer %d is gone", 7);
  EXPECT_EQ(pipe.take_all(), "photon[3]: warn: peer 7 is gone\n");
}

TEST(Log, leaves_the_rank_out_while_it_is_unknown) {
  Pipe pipe;
  const Log log(LogLevel::warn, PH_ANY_RANK, pipe.write_end.get());
  log.write(LogLevel::error, "no");
  EXPECT_EQ(pipe.take_all(), "photon: error: no\n");
}

TEST(Log, cuts_a_long_line_and_still_ends_it) {
  Pipe pipe;
  const Log log(LogLevel::warn, 0, pipe.write_end.get());
  log.write(LogLevel::warn, "%s", std::string(5000, 'x').c_str());
  const std::string text = pipe.take_all();
  EXPECT_EQ(text.size(), 1024u);
  EXPECT_EQ(text.back(), '\n');
}

TEST(Log, lets_through_its_level_and_what_is_more_important) {
  const Log log(LogLevel::warn);
  EXPECT_TRUE(log.enabled(LogLevel::error));
  EXPECT_TRUE(log.enabled(LogLevel::warn));
  EXPECT_FALSE(log.enabled(LogLevel::info));
  EXPECT_FALSE(log.enabled(LogLevel::debug));
}

TEST(Log, a_site_below_the_level_evaluates_nothing) {
  Pipe pipe;
  const Log log(LogLevel::warn, 0, pipe.write_end.get());
  int evaluated_count = 0;
  PHOTON_LOG(log, debug, "%d", ++evaluated_count);
  EXPECT_EQ(evaluated_count, 0);
  PHOTON_LOG(log, warn, "%d", ++evaluated_count);
  EXPECT_EQ(evaluated_count, 1);
  EXPECT_EQ(pipe.take_all(), "photon[0]: warn: 1\n");
}

TEST(Log, keeps_errno) {
  const Log log(LogLevel::warn, 0, -1);
  errno = ENOSPC;
  log.write(LogLevel::warn, "lost");
  EXPECT_EQ(errno, ENOSPC);
}

TEST(Log, names_every_level) {
  EXPECT_STREQ(log_level_name(LogLevel::error), "error");
  EXPECT_STREQ(log_level_name(LogLevel::warn), "warn");
  EXPECT_STREQ(log_level_name(LogLevel::info), "info");
  EXPECT_STREQ(log_level_name(LogLevel::debug), "debug");
}

}  // namespace
}  // namespace photon::base
