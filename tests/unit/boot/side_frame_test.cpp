#include "boot/side_frame.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "base/unique_fd.hpp"
#include "boot/limits.hpp"

namespace photon::boot {
namespace {

class SideFrame : public testing::Test {
 protected:
  SideFrame() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    from_.reset(ends[0]);
    to_.reset(ends[1]);
  }

  base::UniqueFd from_, to_;
  SideFrameWriter out_;
  SideFrameReader in_;
};

TEST_F(SideFrame, messages_and_a_bye_come_out_as_they_went_in) {
  const std::string text = "some words";
  ASSERT_TRUE(out_.push(SideFrameKind::message, std::as_bytes(std::span(text))));
  ASSERT_TRUE(out_.push(SideFrameKind::message, {}));
  ASSERT_TRUE(out_.push(SideFrameKind::bye, {}));
  EXPECT_FALSE(out_.empty());
  EXPECT_EQ(out_.flush(from_.get()), Sent::taken);
  EXPECT_TRUE(out_.empty());
  ASSERT_EQ(in_.next(to_.get()), SideFrameReader::Step::message);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(in_.body().data()), in_.body().size()), text);
  ASSERT_EQ(in_.next(to_.get()), SideFrameReader::Step::message);
  EXPECT_TRUE(in_.body().empty());
  EXPECT_EQ(in_.next(to_.get()), SideFrameReader::Step::bye);
  EXPECT_EQ(in_.next(to_.get()), SideFrameReader::Step::waits);
  from_.reset();
  EXPECT_EQ(in_.next(to_.get()), SideFrameReader::Step::ended);
}

TEST_F(SideFrame, what_a_full_socket_cuts_in_the_middle_goes_on_where_it_was) {
  std::size_t pushed = 0, taken = 0;
  while (out_.flush(from_.get()) == Sent::taken) {
    const std::string text(1000, static_cast<char>('a' + pushed++ % 26));
    ASSERT_TRUE(out_.push(SideFrameKind::message, std::as_bytes(std::span(text))));
  }
  while (taken < pushed) {
    const SideFrameReader::Step step = in_.next(to_.get());
    if (step == SideFrameReader::Step::waits) {
      static_cast<void>(out_.flush(from_.get()));
      continue;
    }
    ASSERT_EQ(step, SideFrameReader::Step::message);
    ASSERT_EQ(in_.body().size(), 1000u);
    ASSERT_EQ(static_cast<char>(in_.body()[999]), static_cast<char>('a' + taken++ % 26));
  }
}

TEST_F(SideFrame, at_its_limit_it_takes_a_bye_and_no_message) {
  for (std::size_t i = 0; i < kMaxQueuedMessages; ++i)
    ASSERT_TRUE(out_.push(SideFrameKind::message, {}));
  EXPECT_FALSE(out_.push(SideFrameKind::message, {}));
  EXPECT_TRUE(out_.push(SideFrameKind::bye, {}));
}

TEST_F(SideFrame, to_nobody_is_dropped) {
  ASSERT_TRUE(out_.push(SideFrameKind::message, {}));
  to_.reset();
  EXPECT_EQ(out_.flush(from_.get()), Sent::gone);
  EXPECT_TRUE(out_.empty());
}

TEST_F(SideFrame, to_somebody_who_went_in_the_middle_of_a_message_is_dropped_whole) {
  const std::vector<std::byte> long_one(1000);
  do {
    ASSERT_TRUE(out_.push(SideFrameKind::message, long_one));
  } while (out_.flush(from_.get()) != Sent::full);
  to_.reset();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(out_.flush(from_.get()), Sent::gone);
    EXPECT_TRUE(out_.empty());
    ASSERT_TRUE(out_.push(SideFrameKind::message, std::span(long_one).first(1)));
  }
}

TEST_F(SideFrame, a_head_that_none_of_ours_sends_is_garbage) {
  for (const SideFrameHead head :
       {SideFrameHead{SideFrameKind{7}, 0}, SideFrameHead{SideFrameKind::bye, 1},
        SideFrameHead{SideFrameKind::message, kMaxMessageBytes + 1}}) {
    SideFrameReader fresh;
    ASSERT_EQ(::send(from_.get(), &head, sizeof head, 0), 8);
    EXPECT_EQ(fresh.next(to_.get()), SideFrameReader::Step::garbage);
  }
}

}  // namespace
}  // namespace photon::boot
