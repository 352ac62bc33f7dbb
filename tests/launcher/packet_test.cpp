#include "packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string_view>
#include <vector>

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
  Io said(std::span<const std::byte> bytes) {
    EXPECT_EQ(photon::system::try_send(ranks_.get(), {.header = bytes, .body = {}, .fds = {}}),
              photon::system::Sent::taken);
    Packet packet;
    return read_packet(ours_.get(), packet);
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
  ph_launch_header longer = packet.header;
  longer.body_bytes = 1;
  EXPECT_EQ(said(photon::system::bytes_of(longer)), Io::malformed);
  ph_launch_header stranger = packet.header;
  stranger.magic = 1;
  EXPECT_EQ(said(photon::system::bytes_of(stranger)), Io::malformed);
  const std::vector<std::byte> much(sizeof longer + PH_LAUNCH_MAX_GATHER + 1);
  EXPECT_EQ(said(much), Io::malformed);
}

TEST_F(LauncherPacket, a_full_socket_is_tried_again) {
  const Packet packet = make_packet({.type = PH_LAUNCH_LEAVE});
  Io last = Io::done;
  for (int i = 0; i < 100000 && last == Io::done; ++i) last = write_packet(ranks_.get(), packet);
  EXPECT_EQ(last, Io::again);
}

}  // namespace
}  // namespace photonrun
