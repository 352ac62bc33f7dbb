#include "transport/tcp/tcp_transport.hpp"

#include <dirent.h>
#include <fcntl.h>

#include "few_descriptors.hpp"
#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

std::size_t descriptors_open() {
  std::size_t count = 0;
  DIR* all = ::opendir("/proc/self/fd");
  while (::readdir(all) != nullptr) ++count;
  ::closedir(all);
  return count;
}

TEST(TcpTransport, leaves_no_descriptor_behind) {
  const std::size_t before = descriptors_open();
  for (int round = 0; round < 3; ++round) {
    TcpRanks ranks(4);
    Stranger stranger(ranks[0].tcp().address());
    for (Rank a = 0; a < 4; ++a)
      for (Rank b = 0; b < a; ++b) ASSERT_TRUE(ranks.join(a, b));
  }
  EXPECT_EQ(descriptors_open(), before);
}

TEST(TcpTransport, every_descriptor_is_closed_by_exec) {
  std::set<int> before;
  for (int fd = 0; fd < 1024; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) before.insert(fd);
  TcpRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  Stranger stranger(ranks[0].tcp().address());
  ranks.settle();
  unsigned looked_at = 0;
  for (int fd = 0; fd < 1024; ++fd) {
    const int flags = ::fcntl(fd, F_GETFD);
    if (flags < 0 || before.count(fd) != 0) continue;
    ++looked_at;
    EXPECT_NE(flags & FD_CLOEXEC, 0) << fd;
  }
  EXPECT_GT(looked_at, 8u);
}

TEST(TcpTransport, an_address_of_another_host_is_refused_by_name) {
  base::Config config = tcp_config();
  config.tcp_interface = base::word("192.0.2.1");  // of documents
  MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = open_tcp(config, *boot);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("192.0.2.1"), std::string::npos) << opened.error().what;
  EXPECT_NE(opened.error().what.find("tcp_interface"), std::string::npos);
}

// Each of those that it needs is missing once.
TEST(TcpTransport, without_descriptors_it_says_what_it_could_not_have_and_why) {
  std::set<std::string> missed;
  bool is_open = false;
  for (std::size_t left_count = 0; !is_open; ++left_count) {
    MemoryJob job(1);
    const auto boot = job.boot(0);
    const photon::test::FewDescriptors few(left_count);
    const auto opened = open_tcp(tcp_config(), *boot);
    is_open = static_cast<bool>(opened);
    if (is_open) break;
    EXPECT_EQ(opened.error().native_errno, EMFILE);
    photon::test::expect_names_limit(opened.error().what, few.limit());
    missed.insert(opened.error().what.substr(0, opened.error().what.find(": Too many open files")));
  }
  EXPECT_EQ(missed, (std::set<std::string>{"list the network interfaces", "tcp: epoll",
                                           "tcp: eventfd", "tcp: a descriptor in reserve"}));
  base::Config config = tcp_config();
  config.tcp_interface = base::word("127.0.0.1");
  MemoryJob job(1);
  const auto boot = job.boot(0);
  const photon::test::FewDescriptors none(0);
  const auto opened = open_tcp(config, *boot);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what.find("tcp: a socket to listen at: "), 0u) << opened.error().what;
  photon::test::expect_names_limit(opened.error().what, none.limit());
}

TEST(TcpTransport, says_where_it_listens_and_how_peers_are_reached) {
  TcpRanks ranks(2);
  ph_path path{};
  ranks[0].transport->describe(0, path);
  EXPECT_STREQ(path.transport, "self");
  EXPECT_NE(std::string(path.reason).find("127.0.0.1:"), std::string::npos) << path.reason;
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[0].transport->describe(1, path);
  EXPECT_STREQ(path.transport, "tcp");
}

TEST(TcpTransport, no_more_lanes_than_configured) {
  base::Config config = tcp_config();
  config.max_lanes = 2;
  TcpRanks ranks(1, config);
  const auto boot = ranks.job().boot(0);
  const auto lane = ranks[0].transport->open_lane(1, *boot);
  ASSERT_TRUE(lane) << lane.error().what;
  const auto beyond = ranks[0].transport->open_lane(2, *boot);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().status, PH_ERR_MEMORY);
}

}  // namespace
}  // namespace photon::transport::tcp::test
