#include "boot/outbox.hpp"

#include <cstdlib>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

class OutboxTest : public testing::Test {
 protected:
  OutboxTest() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    near_.reset(fds[0]);
    far_.reset(fds[1]);
  }

  // Until something waits; the number of packets posted.
  int fill() {
    int count = 0;
    while (outbox_.empty() && count < 100000) post(count++);
    return count;
  }
  void post(int number) {
    const std::string text = std::to_string(number);
    ASSERT_EQ(*outbox_.post(near_.get(), {.header = as_bytes(text)}), boot::Sent::taken);
  }
  int take() {
    std::array<std::byte, 16> buffer;
    auto arrival = boot::receive_packet(far_.get(), buffer);
    if (!arrival || !*arrival) return -1;
    return std::atoi(as_text(std::span(buffer).first((*arrival)->size_bytes)).c_str());
  }

  base::UniqueFd near_;
  base::UniqueFd far_;
  boot::Outbox outbox_;
};

TEST_F(OutboxTest, keeps_what_a_full_socket_refuses_and_sends_it_in_order) {
  const int count = fill();
  post(count);
  EXPECT_EQ(*outbox_.flush(near_.get()), boot::Sent::full);
  for (int expected = 0; expected <= count; ++expected) {
    ASSERT_EQ(take(), expected);
    ASSERT_TRUE(outbox_.flush(near_.get()));
  }
  EXPECT_TRUE(outbox_.empty());
  EXPECT_EQ(take(), -1);
}

TEST_F(OutboxTest, keeps_descriptors_open_that_the_caller_closes) {
  const int count = fill();
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const base::UniqueFd reading(pipe_ends[0]);
  base::UniqueFd writing(pipe_ends[1]);
  const std::array<int, 1> fds{writing.get()};
  ASSERT_TRUE(outbox_.post(near_.get(), {.header = as_bytes("fd"), .fds = fds}));
  writing.reset();
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(take(), i);
    ASSERT_TRUE(outbox_.flush(near_.get()));
  }
  std::array<std::byte, 16> buffer;
  auto arrival = boot::receive_packet(far_.get(), buffer);
  ASSERT_TRUE(arrival && *arrival && (*arrival)->fds.size() == 1);
  EXPECT_EQ(::write((*arrival)->fds[0].get(), "x", 1), 1);
  EXPECT_TRUE(is_readable(reading.get()));
}

TEST_F(OutboxTest, drops_everything_when_the_other_end_is_gone) {
  fill();
  far_.reset();
  EXPECT_EQ(*outbox_.flush(near_.get()), boot::Sent::gone);
  EXPECT_TRUE(outbox_.empty());
}

}  // namespace
}  // namespace photon::test
