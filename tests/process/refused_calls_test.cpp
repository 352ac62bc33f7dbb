// The system calls of start-up and contact, refused one by one as a seccomp profile does: the job
// goes on another way, which it says, or ends with words that name the call. Never a signal, never
// a hang. The table in docs/containers.md is what comes out:
//   PHOTON_REGENERATE=1 build/release/tests/photon_process_tests --gtest_filter='RefusedCalls.*'
// writes it. What a machine refuses by itself is not compared there (refused_table.hpp).
// PHOTON_SOAK=1: photon-info under each, too.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "command.hpp"
#include "launched.hpp"
#include "refused_table.hpp"

namespace photon::test {
namespace {

const std::string kPage = PHOTON_SOURCE_DIR "/docs/containers.md";
const std::string kBegin =
    "<!-- refused calls: written by tests/process/refused_calls_test.cpp -->\n";
const std::string kEnd = "<!-- end of refused calls -->\n";

struct Row {
  const char* call;
  const char* used_for;  // empty: nothing; not on the page, and refused all the same
};

constexpr Row kRows[] = {
    {"memfd_create", "shared memory"},
    {"ftruncate", "shared memory"},
    {"fcntl(F_ADD_SEALS)", "shared memory that cannot shrink under a peer"},
    {"fcntl(F_GET_SEALS)", "the look whether a peer's cannot"},
    {"mmap(MAP_SHARED)", "shared memory"},
    {"process_vm_readv", "gets of memory that is not `ph_alloc`'s (CMA)"},
    {"process_vm_writev", "puts to memory that is not `ph_alloc`'s (CMA)"},
    {"membarrier", "a sleeper that costs its wakers nothing; calls without a lock"},
    {"madvise", "a fork's child is told so; memory is given back"},
    {"pidfd_open", "the end of a rank, also behind a wrapper"},
    {"pidfd_send_signal", ""},
    {"eventfd2", "waking a rank"},
    {"epoll_create1", "messages between ranks at contact"},
    {"epoll_ctl", "messages between ranks at contact"},
    {"epoll_wait", "tcp: sockets with news"},
    {"ppoll", "a rank that sleeps"},
    {"timerfd_create", "messages between hosts with the caller's bootstrap"},
    {"sendmsg", "messages between ranks at contact, with descriptors"},
    {"recvmsg", "messages between ranks at contact, with descriptors"},
    {"socket", "tcp; the caller's bootstrap"},
    {"socket(AF_UNIX)", "the caller's bootstrap"},
    {"socket(AF_INET)", "tcp"},
    {"socket(AF_NETLINK)", "tcp: the list of interfaces"},
    {"bind", "one context for a rank's place; tcp"},
    {"listen", "tcp"},
    {"accept4", "tcp"},
    {"connect", "tcp; the caller's bootstrap"},
    {"getsockname", "tcp"},
    {"getpeername", "a next job in the same rank (photonrun)"},
    {"getsockopt", "the check of PHOTON_LAUNCH_FD; tcp"},
    {"setsockopt", "tcp"},
    {"socketpair", "photonrun and its ranks"},
    {"pipe2", "photonrun and its ranks"},
    {"signalfd4", "photonrun: signals and the ends of ranks"},
    {"prctl", "photonrun: all that ranks leave behind; names of threads"},
    {"setpgid", "photonrun: a process group for each rank"},
    {"prlimit64", "what the limits are"},
    {"getrandom", "secrets and keys"},
    {"sched_getaffinity", "how many cores there are"},
    {"sched_setaffinity", "`photonrun --bind`"},
    {"sched_yield", "a rank that waits while others want its core"},
    {"clone3", "threads (the C library takes clone)"},
    {"close_range", ""},
    {"fallocate", ""},
    {"waitid", ""},
    {"rseq", ""},
    {"userfaultfd", ""},
    {"ioctl", "output to a terminal"},
    {"mincore", "the look whether a large part of a caller's memory is mapped"},
    {"sendfile", "the look whether a caller's memory can be written"},
    {"mlock", ""},
};

struct Outcome {
  int status = -1;
  std::string output;
};

Outcome run_without(const std::string& error, const Row& row, const std::string& command) {
  // What is told to this test is no setting of theirs.
  const std::string refuse = "env -u PHOTON_REGENERATE -u PHOTON_SOAK " PHOTON_BIN_DIR "/refuse " +
                             error + " '" + row.call + "' ";
  const CommandResult result = run_command(refuse + command + " 2>&1");
  return {result.exit_status, result.output};
}

std::string rest_after(const std::string& text, const std::string& opening) {
  const std::size_t at = text.find(opening);
  return at == std::string::npos ? "" : text.substr(at + opening.size());
}

// A line's words, as far as they are the same on every machine.
std::string short_words(const std::string& text) {
  return text.substr(0, std::min({text.find('\n'), text.find(": Operation"), text.find(';')}));
}

// How a job that has verified its bytes went on; empty: it has not.
std::string how_it_went_on(const Outcome& outcome) {
  const std::string way = rest_after(outcome.output, "verified by ");
  if (outcome.status != 0 || way.empty()) return "";
  std::string words = "goes on (" + way.substr(0, way.find('\n')) + ")";
  const std::string warning = rest_after(outcome.output, "warn: ");
  const std::string line = warning.empty() ? rest_after(outcome.output, "photonrun: ") : warning;
  if (!line.empty()) words += "; says \"" + short_words(line) + "\"";
  return words;
}

// What the page says of an end that is allowed; otherwise the test has failed.
std::string words_of(const Row& row, const Outcome& outcome) {
  EXPECT_LT(outcome.status, 126) << row.call << ": a signal\n" << outcome.output;
  EXPECT_NE(outcome.status, 124) << row.call << ": a hang\n" << outcome.output;
  EXPECT_FALSE(says(outcome.output, "was killed by")) << row.call << outcome.output;
  EXPECT_FALSE(says(outcome.output, "photonrun: after ")) << row.call << outcome.output;
  if (const std::string way = how_it_went_on(outcome); !way.empty()) return way;
  EXPECT_NE(outcome.status, 0) << row.call << outcome.output;
  EXPECT_TRUE(says(outcome.output, "a sandbox")) << row.call << ": no next step\n"
                                                 << outcome.output;
  const std::string of_rank = rest_after(outcome.output, "failed: ");
  const std::string of_launcher = rest_after(outcome.output, "photonrun: ");
  return "error: \"" + short_words(of_rank.empty() ? of_launcher : of_rank) + "\"";
}

// Several at a time: most of it is waiting.
template <class Do>
void for_each_row(const Do& run) {
  constexpr unsigned kAtOnce = 4;
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < kAtOnce; ++i)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < std::size(kRows); at = next++) run(at);
    });
}

std::vector<Outcome> run_all(const std::string& error, const std::string& command) {
  std::vector<Outcome> outcomes(std::size(kRows));
  for_each_row([&](std::size_t at) { outcomes[at] = run_without(error, kRows[at], command); });
  return outcomes;
}

const std::string kTraffic = kRun + " -n 2 --timeout 40 " PHOTON_BIN_DIR "/verified";
const std::string kTcpTraffic = "env PHOTON_TRANSPORT=tcp " + kTraffic;

std::string page() {
  std::ifstream file(kPage);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }

// Jobs to which nothing more is refused show whether it is like the machine that wrote the page.
Machine this_machine() {
  const auto goes_by = [](const std::string& command, const std::string& way) {
    const CommandResult result = run_command(command + " 2>&1");
    return how_it_went_on({result.exit_status, result.output}) == "goes on (" + way + ")";
  };
  return {lines_of(run_command(PHOTON_BIN_DIR "/refuse --already").output),
          goes_by(kTraffic, "shm"), goes_by(kTcpTraffic, "tcp")};
}

// Each call, and how a job ends by `auto` and by tcp.
RefusedTable table_of(const std::vector<Outcome>& by_auto, const std::vector<Outcome>& by_tcp) {
  RefusedTable table;
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    const Row& row = kRows[i];
    const std::string first = words_of(row, by_auto[i]);
    const std::string second = words_of(row, by_tcp[i]);
    if (*row.used_for != 0) table.push_back({row.call, row.used_for, first, second});
  }
  return table;
}

TEST(RefusedCalls, each_leaves_another_way_or_is_named_and_the_page_says_which) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer makes these calls itself, and ends without them";
  const Machine machine = this_machine();
  const RefusedTable table = table_of(run_all("EPERM", kTraffic), run_all("EPERM", kTcpTraffic));
  const std::string text = page();
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = text.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << kPage;
  const std::size_t from = begin + kBegin.size();
  const Comparison compared = compare(table_in(text.substr(from, end - from)), table, machine);
  if (is_set("PHOTON_REGENERATE")) {
    ASSERT_EQ(compared.left_out, "") << "another machine has to write the page";
    std::ofstream(kPage) << text.substr(0, from) << markdown_of(table) << text.substr(end);
    return;
  }
  EXPECT_EQ(compared.differences, "")
      << "docs/containers.md has another table; PHOTON_REGENERATE=1 writes it anew";
  if (!compared.left_out.empty()) GTEST_SKIP() << compared.left_out;
}

// As in a container whose profile refuses some.
TEST(RefusedCalls, a_machine_that_refuses_some_itself_is_compared_by_the_others) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer makes these calls itself, and ends without them";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto without = [&](const std::string& calls) {
    return run_command(
        "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX -u GTEST_OUTPUT " PHOTON_BIN_DIR
        "/refuse EPERM " +
        calls + " " + self + " --gtest_filter=RefusedCalls.each_leaves_another_way_\\* 2>&1");
  };
  const CommandResult one = without("mincore");
  EXPECT_EQ(one.exit_status, 0) << one.output;
  EXPECT_TRUE(says(one.output, "not compared: mincore\n")) << one.output;
  const CommandResult column = without("mincore,memfd_create");
  EXPECT_EQ(column.exit_status, 0) << column.output;
  EXPECT_TRUE(says(column.output, "not compared: memfd_create, mincore; by auto: all of them"))
      << column.output;
}

TEST(RefusedCalls, a_comparison_leaves_out_what_the_machine_refuses_and_nothing_else) {
  const RefusedTable here = {{"one", "it", "goes on (tcp)", "goes on (tcp)"},
                             {"two", "it", "goes on (shm)", "an error"}};
  const std::string page = markdown_of({{"one", "it", "goes on (shm)", "goes on (tcp)"},
                                        {"two", "it", "goes on (shm)", "goes on (tcp)"}});
  const auto differences = [&](const Machine& machine) {
    return compare(table_in(page), here, machine).differences;
  };
  EXPECT_EQ(compare(here, here, {{}, true, true}).differences, "");
  EXPECT_EQ(compare(here, here, {{}, true, true}).left_out, "");
  EXPECT_EQ(differences({{}, true, true}),
            "one, by auto: goes on (shm) on the page, goes on (tcp) here\n"
            "two, by tcp: goes on (tcp) on the page, an error here\n");
  EXPECT_EQ(differences({{"one"}, true, true}),
            "two, by tcp: goes on (tcp) on the page, an error here\n");
  EXPECT_EQ(differences({{}, true, false}),
            "one, by auto: goes on (shm) on the page, goes on (tcp) here\n");
  EXPECT_EQ(differences({{"one", "two"}, true, true}), "");
  EXPECT_EQ(compare({here[0]}, here, {{"one", "two"}, true, true}).differences,
            "the page has other calls\n");
}

TEST(RefusedCalls, a_kernel_without_each_leaves_another_way_or_names_it) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer makes these calls itself, and ends without them";
  const auto outcomes = run_all("ENOSYS", kTraffic);
  for (std::size_t i = 0; i < std::size(kRows); ++i) (void)words_of(kRows[i], outcomes[i]);
}

// Those that a transport needs only when it is asked for: it says what it lacks, and ends.
TEST(RefusedCalls, a_transport_that_is_asked_for_says_what_it_lacks) {
  const auto refused = [](const char* call, const char* transport) {
    return run_without("EPERM", {call, ""},
                       std::string("env PHOTON_TRANSPORT=") + transport + " " + kTraffic);
  };
  for (const char* call : {"memfd_create", "ftruncate", "fcntl(F_ADD_SEALS)", "mmap(MAP_SHARED)"}) {
    const Outcome outcome = refused(call, "shm");
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_TRUE(says(outcome.output, "Operation not permitted; a sandbox")) << outcome.output;
  }
  for (const char* call : {"socket(AF_INET)", "bind", "listen", "getsockname"}) {
    const Outcome outcome = refused(call, "tcp");
    EXPECT_EQ(outcome.status, 1) << outcome.output;
    EXPECT_TRUE(says(outcome.output, "Operation not permitted; a sandbox")) << outcome.output;
  }
}

TEST(RefusedCalls, where_neither_shared_memory_nor_the_network_is_left_both_are_named) {
  const Outcome outcome = run_without("EPERM", {"memfd_create,socket(AF_INET)", ""}, kTraffic);
  EXPECT_EQ(outcome.status, 1) << outcome.output;
  EXPECT_TRUE(says(outcome.output, "memfd_create photon-public")) << outcome.output;
  EXPECT_TRUE(says(outcome.output, "nor is the network there: tcp: a socket")) << outcome.output;
}

// Its peers cannot know in time: both are told, and nothing that was sent is waited for.
TEST(RefusedCalls, a_rank_that_alone_has_no_shared_memory_is_refused_in_words) {
  const CommandResult result = run_command(
      kRun + " -n 2 --timeout 40 sh -c '[ $PHOTON_RANK = 0 ] || refuse=\"" PHOTON_BIN_DIR
             "/refuse EPERM memfd_create\"; exec $refuse " PHOTON_BIN_DIR "/verified' 2>&1");
  EXPECT_EQ(result.exit_status, 1) << result.output;
  EXPECT_TRUE(says(result.output, "it is reached by tcp, and this rank by shared memory"))
      << result.output;
  EXPECT_TRUE(says(result.output, "set PHOTON_TRANSPORT=tcp")) << result.output;
}

// A rank that may start no thread: the C library takes another error than ENOSYS for its answer.
TEST(RefusedCalls, without_threads_a_job_goes_on_without_its_progress_thread_and_says_so) {
  const Outcome outcome =
      run_without("EPERM", {"clone3", ""}, "env PHOTON_PROGRESS_THREAD=on " + kTraffic);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_TRUE(says(outcome.output, "cannot start the progress thread")) << outcome.output;
  EXPECT_TRUE(says(outcome.output, "goes on without")) << outcome.output;
  EXPECT_TRUE(says(outcome.output, "verified by shm")) << outcome.output;
}

// The doctor: a report in any case, which names what is refused.
void expect_report(const Row& row, const Outcome& outcome) {
  EXPECT_LT(outcome.status, 2) << row.call << "\n" << outcome.output;
  for (const char* part : {"\ntransports\n", "\nsystem calls\n", "\nlimits\n", "\nsettings\n"})
    EXPECT_TRUE(says(outcome.output, part)) << row.call << part << outcome.output;
}

TEST(RefusedCalls, photon_info_reports_without_those_that_no_rank_can_start_without) {
  if (is_sanitized()) GTEST_SKIP() << "a sanitizer makes these calls itself, and ends without them";
  const std::string all = "memfd_create,eventfd2,epoll_create1,sendmsg,socketpair,socket,pipe2";
  for (const char* error : {"EPERM", "ENOSYS"}) {
    const Row row{all.c_str(), ""};
    const Outcome outcome = run_without(error, row, kInfo);
    expect_report(row, outcome);
    for (const char* call : {"memfd_create", "eventfd2", "epoll_create1", "socketpair", "pipe2"})
      EXPECT_TRUE(says(outcome.output, std::string(call) + " is refused")) << outcome.output;
    EXPECT_TRUE(says(outcome.output, "could not be formed")) << outcome.output;
  }
  const Outcome launched = run_without("EPERM", {"eventfd2", ""}, kRun + " -n 2 " + kInfo);
  expect_report({"eventfd2", ""}, launched);
  EXPECT_TRUE(says(launched.output, "eventfd2 is refused")) << launched.output;
}

TEST(RefusedCalls, photon_info_reports_without_each) {
  if (!is_set("PHOTON_SOAK")) GTEST_SKIP() << "long: PHOTON_SOAK=1 (make soak) runs it";
  for (const char* error : {"EPERM", "ENOSYS"}) {
    const auto alone = run_all(error, kInfo);
    const auto launched = run_all(error, kRun + " -n 2 --timeout 40 " + kInfo);
    for (std::size_t i = 0; i < std::size(kRows); ++i) {
      expect_report(kRows[i], alone[i]);
      // Where the launcher itself could not start there is nobody to report.
      if (!says(launched[i].output, "refuses photonrun")) expect_report(kRows[i], launched[i]);
    }
  }
}

}  // namespace
}  // namespace photon::test
