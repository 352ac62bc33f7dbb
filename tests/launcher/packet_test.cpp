#include "packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "send_descriptors.hpp"

namespace photonrun {
namespace {

// Whose packets arrive when: tests/unit/system/unix_packet_test.cpp.
class LauncherPacket : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ranks_.reset(ends[0]);
    ours_.reset(ends[1]);
  }

  // What the launcher makes of these bytes of a rank.
  Io said(std::span<const std::byte> bytes, std::span<const std::byte> body = {}) {
    EXPECT_EQ(photon::system::try_send(ranks_.get(), {.header = bytes, .body = body, .fds = {}}),
              photon::system::Sent::taken);
    Packet packet;
    return read_packet(ours_.get(), packet);
  }
  // The same of a header that claims so many bytes of body, and of what follows it.
  Io said(std::size_t claimed_bytes, std::size_t body_bytes) {
    ph_launch_header header = make_packet({.type = PH_LAUNCH_GATHER}).header;
    header.body_bytes = static_cast<std::uint32_t>(claimed_bytes);
    const std::vector<std::byte> body(body_bytes);
    return said(photon::system::bytes_of(header), body);
  }

  Fd ranks_;
  Fd ours_;
};

TEST_F(LauncherPacket, header_body_and_descriptors_arrive_and_then_the_end) {
  const std::string_view text = "body";
  Packet sent = make_packet({.type = PH_LAUNCH_FORWARD, .rank = 3}, std::as_bytes(std::span(text)));
  sent.fds.push_back(make_pipe().read);
  ASSERT_EQ(write_packet(ranks_.get(), sent), Io::done);
  Packet got;
  ASSERT_EQ(read_packet(ours_.get(), got), Io::done);
  EXPECT_EQ(got.header.type, static_cast<std::uint32_t>(PH_LAUNCH_FORWARD));
  EXPECT_EQ(got.header.rank, 3u);
  EXPECT_EQ(*got.body, *sent.body);
  EXPECT_EQ(got.fds.size(), 1u);
  EXPECT_EQ(read_packet(ours_.get(), got), Io::again);
  ranks_.reset();
  EXPECT_EQ(read_packet(ours_.get(), got), Io::closed);
  EXPECT_EQ(write_packet(ours_.get(), sent), Io::closed);
}

TEST_F(LauncherPacket, what_is_no_whole_packet_is_malformed) {
  const Packet packet = make_packet({.type = PH_LAUNCH_LEAVE});
  const auto header = photon::system::bytes_of(packet.header);
  EXPECT_EQ(said(header), Io::done);
  EXPECT_EQ(said(header.first(header.size() - 1)), Io::malformed);
  ph_launch_header stranger = packet.header;
  stranger.magic = 1;
  EXPECT_EQ(said(photon::system::bytes_of(stranger)), Io::malformed);
}

TEST_F(LauncherPacket, of_another_length_than_its_header_says_or_than_the_limit_is_malformed) {
  constexpr std::size_t kMost = PH_LAUNCH_MAX_GATHER;
  EXPECT_EQ(said(kMost, kMost), Io::done);
  EXPECT_EQ(said(1, 0), Io::malformed);
  EXPECT_EQ(said(0, 1), Io::malformed);
  EXPECT_EQ(said(kMost + 1, kMost + 1), Io::malformed);
  EXPECT_EQ(said(kMost, kMost + 2), Io::malformed);  // cut as it is read
  EXPECT_EQ(said(kMost + 1, kMost + 2), Io::malformed);
}

TEST_F(LauncherPacket, with_more_descriptors_than_any_of_ours_is_malformed) {
  const Packet packet = make_packet({.type = PH_LAUNCH_HELLO});
  const auto header = photon::system::bytes_of(packet.header);
  Packet got;
  for (const std::size_t count : {photon::system::kMostFds, photon::system::kMostFds + 1}) {
    ASSERT_TRUE(photon::test::send_descriptors(ranks_.get(), header, ranks_.get(), count));
    EXPECT_EQ(read_packet(ours_.get(), got),
              count > photon::system::kMostFds ? Io::malformed : Io::done);
  }
}

TEST_F(LauncherPacket, a_full_socket_is_tried_again) {
  const Packet packet = make_packet({.type = PH_LAUNCH_LEAVE});
  Io last = Io::done;
  for (int i = 0; i < 100000 && last == Io::done; ++i) last = write_packet(ranks_.get(), packet);
  EXPECT_EQ(last, Io::again);
}

}  // namespace
}  // namespace photonrun
