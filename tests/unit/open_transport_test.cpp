// Which transport the settings get, and what is taken where shared memory is refused.
#include "api/open_transport.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "boot/single_boot.hpp"

namespace photon::api {
namespace {

using base::TransportChoice;

// The name of what is opened, or the error's words.
std::string opened(TransportChoice choice) {
  auto boot = boot::SingleBoot::open();
  if (!boot) return boot.error().what;
  base::Config config;
  config.transport = choice;
  config.log = base::LogLevel::error;
  auto transport = open_transport(config, **boot);
  return transport ? (*transport)->name() : transport.error().what;
}

// The same where no file may be larger than a page; what the process is then is not given back.
bool is_opened_under_a_limit(TransportChoice choice, const std::string& part) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{4096, 4096};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    ::_exit(opened(choice).find(part) != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;  // SIGXFSZ is none
}

TEST(OpenTransport, each_choice_is_what_is_opened_and_auto_on_one_host_is_shared_memory) {
  EXPECT_EQ(opened(TransportChoice::automatic), "shm");
  EXPECT_EQ(opened(TransportChoice::shm), "shm");
  EXPECT_EQ(opened(TransportChoice::tcp), "tcp");
  EXPECT_EQ(opened(TransportChoice::mixed), "mixed");
}

TEST(OpenTransport, auto_takes_the_network_where_shared_memory_is_refused) {
  EXPECT_TRUE(is_opened_under_a_limit(TransportChoice::automatic, "tcp"));
}

TEST(OpenTransport, shared_memory_that_was_asked_for_and_is_refused_is_an_error) {
  for (const auto choice : {TransportChoice::shm, TransportChoice::mixed})
    EXPECT_TRUE(is_opened_under_a_limit(choice, "RLIMIT_FSIZE"));
}

}  // namespace
}  // namespace photon::api
