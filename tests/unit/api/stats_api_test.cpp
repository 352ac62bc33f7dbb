// What only the interface of the counters checks, and what PHOTON_STATS=1 writes.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <photon/photon.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "watchdog.hpp"

namespace photon {
namespace {

class StatsApi : public testing::Test {
 protected:
  void open(const char* stats, const char* transport = "auto") {
    const ph_option options[] = {{"stats", stats}, {"transport", transport}};
    const ph_config config = {sizeof config, nullptr, options, 2};
    ASSERT_EQ(ph_context_create(&config, &context_, nullptr), PH_OK);
  }
  void TearDown() override { ph_context_destroy(context_); }
  std::uint64_t value(const char* name, ph_rank rank = PH_ANY_RANK) {
    std::size_t count = 0;
    EXPECT_EQ(ph_counters(context_, rank, nullptr, 0, &count), PH_OK);
    std::vector<ph_counter> counters(count);
    EXPECT_EQ(ph_counters(context_, rank, counters.data(), count, &count), PH_OK);
    for (const ph_counter& one : counters) {
      EXPECT_GT(std::strlen(one.help), 10u) << one.name;
      if (std::string(one.name) == name) return one.value;
    }
    ADD_FAILURE() << "no counter " << name;
    return 0;
  }

  ph_context* context_ = nullptr;
};

TEST_F(StatsApi, counts_when_told_to_and_not_before) {
  open("0");
  ASSERT_EQ(ph_notify(context_, 0, 1), PH_OK);
  EXPECT_EQ(value("notifications"), 0u);
  ASSERT_EQ(ph_count(context_, 1), PH_OK);
  ASSERT_EQ(ph_notify(context_, 0, 1), PH_OK);
  EXPECT_EQ(value("notifications"), 1u);
  EXPECT_EQ(value("notifications", 0), 1u);
  ASSERT_EQ(ph_count(context_, 0), PH_OK);
}

TEST_F(StatsApi, a_short_array_gets_the_first_ones) {
  open("1");
  ph_counter few[2] = {};
  std::size_t count = 0;
  ASSERT_EQ(ph_counters(context_, 0, few, 1, &count), PH_OK);
  EXPECT_GT(count, 2u);
  EXPECT_STREQ(few[0].name, "puts");
  EXPECT_EQ(few[1].name, nullptr);
}

TEST_F(StatsApi, refuses_what_it_cannot_use) {
  open("0");
  std::size_t count = 0;
  EXPECT_EQ(ph_counters(context_, 7, nullptr, 0, &count), PH_ERR_RANK);
  EXPECT_EQ(ph_counters(context_, 0, nullptr, 3, &count), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_counters(context_, 0, nullptr, 0, nullptr), PH_ERR_ARGUMENT);
  EXPECT_EQ(ph_counters(nullptr, 0, nullptr, 0, &count), PH_ERR_STATE);
  EXPECT_EQ(ph_count(nullptr, 1), PH_ERR_STATE);
}

// Who connects to the port that the path to the rank itself names, and says nonsense.
class Passer {
 public:
  explicit Passer(const std::string& reason) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port =
        htons(static_cast<std::uint16_t>(std::stoi(reason.substr(reason.rfind(':') + 1))));
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << reason;
    const char nonsense[64] = "GET / HTTP/1.1\r\n\r\n";
    EXPECT_EQ(::send(socket_, nonsense, sizeof nonsense, MSG_NOSIGNAL), ssize_t{sizeof nonsense});
  }
  ~Passer() { ::close(socket_); }
  Passer(const Passer&) = delete;
  Passer& operator=(const Passer&) = delete;

 private:
  int socket_;
};

TEST_F(StatsApi, strangers_at_a_port_are_counted_by_why_they_were_turned_away) {
  const photon::test::Watchdog watchdog{std::chrono::seconds(60)};
  open("0", "tcp");
  ph_path path{};
  path.size = sizeof path;
  ASSERT_EQ(ph_path_to(context_, 0, &path), PH_OK);
  const Passer passer(path.reason);
  testing::internal::CaptureStderr();
  while (value("rejected_garbage") == 0) {
    ph_completion none;
    std::size_t count = 0;
    ASSERT_EQ(ph_probe(context_, {PH_ANY_RANK, PH_EITHER, nullptr}, &none, 1, &count), PH_OK);
  }
  EXPECT_EQ(value("rejected_wrong_secret"), 0u);
  EXPECT_EQ(ph_finalize(context_), PH_OK);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("refused a connection"), std::string::npos);
}

TEST_F(StatsApi, the_setting_writes_them_at_the_end) {
  open("1");
  ASSERT_EQ(ph_notify(context_, 0, 1), PH_OK);
  testing::internal::CaptureStderr();
  EXPECT_EQ(ph_finalize(context_), PH_OK);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("photon[0]: info: stats: in all: notifications 1"), std::string::npos)
      << text;
  EXPECT_NE(text.find("stats: rank 0: notifications 1"), std::string::npos) << text;
}

}  // namespace
}  // namespace photon
