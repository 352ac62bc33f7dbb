// Streams between real processes: peers that are killed, stopped or leave, and programs of others
// that talk over streams without knowing.
#include <gtest/gtest.h>
#include <photon/photon.h>
#include <signal.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "command.hpp"
#include "forked_job.hpp"
#include "pattern.hpp"

namespace photon::test {
namespace {

constexpr std::uint32_t kPort = 3;
constexpr std::int64_t kTimeUs = 30'000'000;
constexpr std::size_t kFirst = 50'000;  // bytes that have certainly gone

class StreamsProcess : public testing::TestWithParam<const char*> {};

// What both ranks of a test have. Every check that fails ends the process with its line.
struct Two {
  explicit Two(const ph_bootstrap& bootstrap, const char* transport) {
    const ph_option option{"transport", transport};
    const ph_config config{sizeof config, &bootstrap, &option, 1};
    need(ph_context_create(&config, &context, nullptr) == PH_OK, __LINE__);
    need(ph_streams_open(context, nullptr, &streams) == PH_OK, __LINE__);
    ph_listener* listener = nullptr;
    if (bootstrap.rank == 1) need(ph_stream_listen(streams, kPort, &listener) == PH_OK, __LINE__);
    const pid_t mine = ::getpid();
    need(ph_allgather(context, &mine, pids.data(), sizeof mine) == PH_OK, __LINE__);
    if (bootstrap.rank == 0)
      need(ph_stream_connect(streams, 1, kPort, &stream) == PH_OK, __LINE__);
    else
      need(ph_stream_accept(listener, &stream, kTimeUs) == PH_OK, __LINE__);
  }
  static void need(bool is_right, int line) {
    if (!is_right) ::_exit(line % 200 + 1);
  }
  // PH_OK: all of it was taken.
  ph_status write(const std::byte* bytes, std::size_t size) const {
    while (size != 0) {
      std::size_t count = 0;
      ph_status status = ph_stream_write(stream, bytes, size, &count);
      if (status == PH_AGAIN) status = ph_stream_wait(stream, PH_STREAM_WRITABLE, nullptr, kTimeUs);
      if (status != PH_OK) return status;
      bytes += count;
      size -= count;
    }
    return PH_OK;
  }
  std::vector<std::byte> read_all(ph_status& status) const {
    std::vector<std::byte> all;
    for (;;) {
      std::array<std::byte, 4096> part;
      std::size_t count = 0;
      status = ph_stream_read(stream, part.data(), part.size(), &count);
      if (status == PH_OK && count == 0) return all;
      all.insert(all.end(), part.begin(), part.begin() + count);
      if (status == PH_AGAIN) status = ph_stream_wait(stream, PH_STREAM_READABLE, nullptr, kTimeUs);
      if (status != PH_OK) return all;
    }
  }
  // `allowed`: of finalize, beside PH_OK. Over a network it speaks of what had gone to a peer that
  // was lost.
  int end(ph_status allowed = PH_OK) {
    need(ph_streams_close(streams, kTimeUs) == PH_OK, __LINE__);
    const ph_status status = ph_finalize(context);
    need(status == PH_OK || status == allowed, __LINE__);
    ph_context_destroy(context);
    return 0;
  }

  ph_context* context = nullptr;
  ph_streams* streams = nullptr;
  ph_stream* stream = nullptr;
  std::array<pid_t, 2> pids{};
};

// The reader keeps all that had come, and then hears how the writer has ended.
int read_up_to(const ph_bootstrap& bootstrap, const char* transport, ph_status wanted) {
  Two two(bootstrap, transport);
  ph_status status = PH_AGAIN;
  const std::vector<std::byte> got = two.read_all(status);
  Two::need(status == wanted, __LINE__);
  Two::need(got.size() >= kFirst, __LINE__);
  Two::need(Pattern(9).first_difference(got.data(), got.size()) == got.size(), __LINE__);
  std::size_t count = 0;
  Two::need(ph_stream_write(two.stream, "x", 1, &count) == wanted, __LINE__);
  std::byte more{};
  Two::need(ph_stream_read(two.stream, &more, 1, &count) == wanted, __LINE__);
  return two.end(wanted);
}

TEST_P(StreamsProcess, a_reader_gets_all_that_had_come_before_its_peer_was_killed) {
  const std::vector<int> ends = fork_ranks(2, [](const ph_bootstrap& bootstrap) {
    if (bootstrap.rank == 1) return read_up_to(bootstrap, GetParam(), PH_ERR_PEER);
    Two two(bootstrap, GetParam());
    std::vector<std::byte> bytes(4 * kFirst);
    Pattern(9).fill(bytes.data(), bytes.size());
    Two::need(two.write(bytes.data(), kFirst) == PH_OK, __LINE__);
    Two::need(ph_flush(two.context, 1, kTimeUs) == PH_OK, __LINE__);
    std::size_t count = 0;
    static_cast<void>(
        ph_stream_write(two.stream, bytes.data() + kFirst, bytes.size() - kFirst, &count));
    ::raise(SIGKILL);
    return 1;
  });
  EXPECT_TRUE(WIFSIGNALED(ends[0]));
  EXPECT_TRUE(WIFEXITED(ends[1]));
  EXPECT_EQ(WEXITSTATUS(ends[1]), 0) << "the line of the check, modulo 200, and 1 more";
}

TEST_P(StreamsProcess, a_reader_gets_all_that_had_come_before_its_peer_has_left) {
  const std::vector<int> ends = fork_ranks(2, [](const ph_bootstrap& bootstrap) {
    if (bootstrap.rank == 1) return read_up_to(bootstrap, GetParam(), PH_ERR_DEPARTED);
    Two two(bootstrap, GetParam());
    std::vector<std::byte> bytes(kFirst);
    Pattern(9).fill(bytes.data(), bytes.size());
    Two::need(two.write(bytes.data(), kFirst) == PH_OK, __LINE__);
    // Its way is not ended: what is missing would not be noticed else.
    Two::need(ph_finalize(two.context) == PH_OK, __LINE__);
    Two::need(ph_streams_close(two.streams, 0) == PH_OK, __LINE__);
    ph_context_destroy(two.context);
    return 0;
  });
  for (const int end : ends) EXPECT_EQ(end, 0);
}

TEST_P(StreamsProcess, a_stopped_peer_takes_nothing_and_closing_says_so) {
  const std::vector<int> ends = fork_ranks(2, [](const ph_bootstrap& bootstrap) {
    Two two(bootstrap, GetParam());
    std::vector<std::byte> bytes(4'000'000);
    if (bootstrap.rank == 0) {
      Pattern(9).fill(bytes.data(), bytes.size());
      Two::need(two.write(bytes.data(), 1) == PH_OK, __LINE__);
      Two::need(::kill(two.pids[1], SIGSTOP) == 0, __LINE__);
      std::size_t all = 1;
      for (ph_status status = PH_OK; status == PH_OK;) {
        std::size_t count = 0;
        status = ph_stream_write(two.stream, bytes.data() + all, bytes.size() - all, &count);
        Two::need(status == PH_OK || status == PH_AGAIN, __LINE__);
        all += count;
      }
      Two::need(all < bytes.size(), __LINE__);
      Two::need(ph_stream_close(two.stream) == PH_OK, __LINE__);
      Two::need(ph_streams_close(two.streams, 20'000) == PH_TIMEOUT, __LINE__);
      Two::need(::kill(two.pids[1], SIGCONT) == 0, __LINE__);
      return two.end();
    }
    ph_status status = PH_AGAIN;
    const std::vector<std::byte> got = two.read_all(status);
    Two::need(status == PH_OK, __LINE__);
    Two::need(Pattern(9).first_difference(got.data(), got.size()) == got.size(), __LINE__);
    return two.end();
  });
  for (const int end : ends) EXPECT_EQ(end, 0);
}

TEST_P(StreamsProcess, carry_http_between_programs_that_know_nothing_of_them) {
  const std::string programs = PHOTON_SOURCE_DIR "/tests/process/programs/";
  const CommandResult result = run_command(
      "python3 " + programs + "http_over_streams.py " + kRun + " " + PHOTON_EXAMPLES_DIR +
      "/stream_bridge --env PHOTON_TRANSPORT=" + GetParam() + " 2>&1");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_NE(result.output.find("every byte is right"), std::string::npos) << result.output;
}

INSTANTIATE_TEST_SUITE_P(Over, StreamsProcess, testing::Values("shm", "tcp", "mixed"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace photon::test
