// Which transport the settings get, and what is taken where shared memory is refused.
#include "api/open_transport.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>

#include "boot/single_boot.hpp"
#include "hosts_boot.hpp"
#include "memory_boot.hpp"

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

// As a sandbox does it, for as long as the process lives.
bool refuse_to_listen() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_listen, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

constexpr int kNoFilter = 77;

// Of two ranks on two hosts, the first, which may not listen. Exit status 0: as it should be.
[[noreturn]] void open_without_network() {
  if (!refuse_to_listen()) ::_exit(kNoFilter);
  test::MemoryJob job(2);
  test::HostsBoot boot(job.boot(0), 2);
  base::Config config;
  config.log = base::LogLevel::warn;
  config.tcp_interface = base::word("127.0.0.1");
  testing::internal::CaptureStderr();
  const auto transport = open_transport(config, boot);
  const std::string logged = testing::internal::GetCapturedStderr();
  const std::string why = transport ? "it was opened" : transport.error().what;
  const bool is_told = why.starts_with("the network to ranks of other hosts: tcp: listening at") &&
                       why.find("shared memory") == std::string::npos && logged.empty();
  if (!is_told) std::fprintf(stderr, "%s\n%s", why.c_str(), logged.c_str());
  ::_exit(is_told ? 0 : 1);
}

TEST(OpenTransport, auto_says_so_where_it_is_the_network_to_other_hosts_that_is_refused) {
  const pid_t child = ::fork();
  if (child == 0) open_without_network();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace photon::api
