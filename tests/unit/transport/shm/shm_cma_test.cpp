#include "transport/shm/shm_cma.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "refused_copies.hpp"

namespace photon::transport::shm {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// A child that only waits; its memory is a copy of ours, at the same addresses.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0)
      for (;;) ::pause();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  pid_t pid() const { return pid_; }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

class CmaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto allowed = allow_cma(); !allowed) GTEST_SKIP() << allowed.error().what;
    nonce_.fill(std::byte{0x5a});
  }
  Offer offer_of(pid_t pid) const {
    Offer offer;
    offer.pid = static_cast<std::uint64_t>(pid);
    offer.nonce_address = address_of(nonce_.data());
    offer.nonce = nonce_;
    return offer;
  }

  Nonce nonce_{};
};

TEST_F(CmaTest, reads_and_writes_another_process) {
  std::vector<char> data(100'000, 'a');
  Child child;
  Cma cma;
  cma.probe(offer_of(child.pid()));
  if (cma.state() != Cma::State::works) GTEST_SKIP() << cma.reason();
  std::memset(data.data(), 'b', data.size());  // the child still has 'a'
  std::vector<std::byte> copy(data.size());
  ASSERT_TRUE(cma.read(address_of(data.data()), copy));
  EXPECT_EQ(copy.front(), std::byte{'a'});
  EXPECT_EQ(copy.back(), std::byte{'a'});
  ASSERT_TRUE(cma.write(address_of(data.data()), std::as_bytes(std::span(data))));
  ASSERT_TRUE(cma.read(address_of(data.data()), copy));
  EXPECT_EQ(copy.back(), std::byte{'b'});
}

TEST_F(CmaTest, is_refused_where_the_pid_is_somebody_else) {
  Child child;
  Offer offer = offer_of(child.pid());
  offer.nonce[0] = std::byte{1};
  Cma cma;
  cma.probe(offer);
  EXPECT_EQ(cma.state(), Cma::State::refused);
  EXPECT_NE(cma.reason().find("somebody else"), std::string::npos);
}

TEST_F(CmaTest, names_the_pid_namespace_where_somebody_else_lacks_the_address) {
  Child child;
  Offer offer = offer_of(child.pid());
  offer.nonce_address = 8;  // nobody maps the first page
  Cma cma;
  cma.probe(offer);
  EXPECT_EQ(cma.state(), Cma::State::refused);
  EXPECT_NE(cma.reason().find("another pid namespace"), std::string::npos) << cma.reason();
}

TEST_F(CmaTest, is_refused_where_there_is_no_process_and_stays_so) {
  Child child;
  const pid_t pid = child.pid();
  child.end();
  Cma cma;
  cma.probe(offer_of(pid));
  EXPECT_EQ(cma.state(), Cma::State::refused);
  cma.probe(offer_of(::getpid()));
  EXPECT_EQ(cma.state(), Cma::State::refused);
}

// Who ended is told by its end.
TEST_F(CmaTest, is_refused_when_the_process_ended_meanwhile) {
  Child child;
  Cma cma;
  cma.probe(offer_of(child.pid()));
  if (cma.state() != Cma::State::works) GTEST_SKIP() << cma.reason();
  child.end();
  std::array<std::byte, 8> bytes{};
  const auto read = cma.read(address_of(nonce_.data()), bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().status, PH_AGAIN);
  EXPECT_EQ(read.error().native_errno, ESRCH);
  EXPECT_EQ(cma.state(), Cma::State::refused);
}

// 0: after such refusals the copies stand as they should; else the line that says no.
int copy_in_sandbox(const Offer& peer, int number) {
  Cma cma;
  cma.probe(peer);
  if (cma.state() != Cma::State::works) return __LINE__;
  Nonce bytes{};
  if (!cma.read(peer.nonce_address, bytes) || bytes != peer.nonce) return __LINE__;
  if (!test::refuse_copies(number)) return __LINE__;
  const int most = number == ENOMEM ? 8 : 1;
  for (int calls = 1; calls <= most; ++calls) {
    if (cma.state() != Cma::State::works) return __LINE__;
    const auto result =
        calls % 2 == 0 ? cma.read(peer.nonce_address, bytes) : cma.write(peer.nonce_address, bytes);
    if (result || result.error().native_errno != number) return __LINE__;
    if (number == EFAULT)
      return result.error().status == PH_ERR_ACCESS && cma.state() == Cma::State::works ? 0
                                                                                        : __LINE__;
    if (result.error().status != PH_AGAIN) return __LINE__;
  }
  if (cma.state() != Cma::State::refused) return __LINE__;
  return cma.reason().find("they worked, and then were refused") != std::string::npos ? 0
                                                                                      : __LINE__;
}

TEST_F(CmaTest, whatever_refuses_later_is_not_asked_again_but_a_bad_address_and_short_memory_are) {
  for (const int number : {EPERM, EACCES, ENOSYS, ESRCH, EINVAL, ENOMEM, EFAULT}) {
    Child child;
    Cma cma;
    cma.probe(offer_of(child.pid()));
    if (cma.state() != Cma::State::works) GTEST_SKIP() << cma.reason();
    const pid_t sandbox = ::fork();
    if (sandbox == 0) ::_exit(copy_in_sandbox(offer_of(child.pid()), number) % 256);
    int status = 0;
    ::waitpid(sandbox, &status, 0);
    EXPECT_EQ(status, 0) << "errno " << number << ", line " << WEXITSTATUS(status);
  }
}

TEST_F(CmaTest, says_whose_memory_is_not_mapped) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  Child child;
  Cma cma;
  cma.probe(offer_of(child.pid()));
  if (cma.state() != Cma::State::works) GTEST_SKIP() << cma.reason();
  std::vector<std::byte> bytes(2 * page);
  const std::span bad(static_cast<std::byte*>(pages), 2 * page);
  const auto read = cma.read(address_of(pages), bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().status, PH_ERR_ACCESS);
  const auto written = cma.write(address_of(pages), bytes);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().status, PH_ERR_ACCESS);
  EXPECT_NE(written.error().what.find("process_vm_writev"), std::string::npos);
  const auto into = cma.read(address_of(nonce_.data()), bad);
  ASSERT_FALSE(into);
  EXPECT_EQ(into.error().status, PH_ERR_ARGUMENT);
  const auto from = cma.write(address_of(bytes.data()), bad);
  ASSERT_FALSE(from);
  EXPECT_EQ(from.error().status, PH_ERR_ARGUMENT);
  EXPECT_NE(from.error().what.find("own memory"), std::string::npos);
  EXPECT_EQ(cma.state(), Cma::State::works);
  ::munmap(pages, 2 * page);
}

TEST_F(CmaTest, of_nothing_succeeds) {
  Cma cma;
  cma.probe(offer_of(::getpid()));
  EXPECT_TRUE(cma.read(0, {}));
  EXPECT_TRUE(cma.write(0, {}));
}

}  // namespace
}  // namespace photon::transport::shm
