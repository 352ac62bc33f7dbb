// What the tests of the launcher's protocol share: this binary starts itself as ranks of a job.
// What those ranks do is a RankBody, a test that exists in them alone. Owner: none (functions, and
// bodies that live as long as the process).
#pragma once

#include <photon/launch.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "boot/boot.hpp"
#include "launched.hpp"

namespace photon::test {

class RankBody {
 public:
  RankBody(const char* name, void (*body)()) {
    names().insert(name);
    if (std::getenv("PHOTON_TEST_RANK") == nullptr) return;
    testing::RegisterTest("LaunchRank", name, nullptr, nullptr, __FILE__, __LINE__,
                          [body]() -> testing::Test* { return new Body(body); });
  }

  static std::set<std::string>& names() {
    static std::set<std::string> all;
    return all;
  }

 private:
  class Body : public testing::Test {
   public:
    explicit Body(void (*body)()) : body_(body) {}
    void TestBody() override { body_(); }

   private:
    void (*body_)();
  };
};

// A job whose ranks are the body of this name.
inline std::vector<std::string> ranks_of(const std::string& name, const std::string& size,
                                         std::vector<std::string> wrapper = {}) {
  EXPECT_TRUE(RankBody::names().contains(name)) << "ranks without a body would all succeed";
  std::vector<std::string> arguments{"-n", size, "--timeout", "20"};
  arguments.insert(arguments.end(), wrapper.begin(), wrapper.end());
  arguments.insert(arguments.end(),
                   {"env", "PHOTON_TEST_RANK=1", "/proc/" + std::to_string(::getpid()) + "/exe",
                    "--gtest_brief=1", "--gtest_filter=LaunchRank." + name});
  return arguments;
}

inline void expect_success(const std::vector<std::string>& arguments) {
  Launched job(arguments);
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  job.expect_nothing_left();
}

// The same on two photonruns, the first with ranks 0 and 1.
inline void expect_success_on_hosts(const std::string& name, const std::string& size,
                                    const std::string& there) {
  ::setenv("PHOTON_JOB_KEY", "a key of the tests, long enough", 1);
  std::vector<std::string> root = ranks_of(name, size);
  root.insert(root.begin(), {"--root", "127.0.0.1:0", "--here", "2"});
  std::vector<std::string> leaf = ranks_of(name, size);
  leaf.erase(leaf.begin(), leaf.begin() + 4);  // the size and the time are the root's
  Launched a(root);
  a.await_error(" for ");
  const std::size_t place = a.err.find("127.0.0.1:");
  ASSERT_NE(place, std::string::npos) << a.err;
  leaf.insert(leaf.begin(),
              {"--join", a.err.substr(place, a.err.find(' ', place) - place), "--here", there});
  Launched b(leaf);
  EXPECT_EQ(a.wait(), 0) << a.out << a.err;
  EXPECT_EQ(b.wait(), 0) << b.out << b.err;
  a.expect_nothing_left();
  b.expect_nothing_left();
  ::unsetenv("PHOTON_JOB_KEY");
}

inline std::unique_ptr<boot::Boot> join() {
  auto opened = boot::open(nullptr);
  if (opened) return std::move(*opened);
  ADD_FAILURE() << opened.error().what;
  std::exit(1);
}

inline std::optional<boot::Message> await_message(boot::Boot& boot) {
  // By the clock: a message that comes in parts wakes us for each of them.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    auto message = boot.receive();
    if (!message) {
      ADD_FAILURE() << message.error().what;
      return std::nullopt;
    }
    if (*message) return std::move(*message);
    pollfd entry{.fd = boot.poll_fd(), .events = POLLIN, .revents = 0};
    (void)::poll(&entry, 1, 100);
  }
  return std::nullopt;
}

inline void send_number(boot::Boot& boot, ph_rank to, int number, std::span<const int> fds = {}) {
  EXPECT_TRUE(*boot.send(to, std::as_bytes(std::span(&number, 1)), fds));
}

inline int number_in(const boot::Message& message) {
  int number = -1;
  if (message.bytes.size() == sizeof number) {
    std::memcpy(&number, message.bytes.data(), sizeof number);
  }
  return number;
}

}  // namespace photon::test
