// photon-perf with tiny inputs: every question is answered, in the layout that others parse, with
// figures that can be true; and what it cannot use it refuses in words.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "perf_rows.hpp"

namespace photon::test {
namespace {

struct Asked {
  const char* question;
  int ranks_count;
  const char* options;
  std::size_t rows_count;  // at least
};

class Perf : public testing::TestWithParam<Asked> {};

std::string question_of(const testing::TestParamInfo<Asked>& asked) {
  std::string name = asked.param.question;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

TEST_P(Perf, answers_in_the_layout_that_others_parse) {
  const auto& [question, ranks_count, options, rows_count] = GetParam();
  const json rows = rows_of(ranks_count, std::string(question) + " " + options, question);
  ASSERT_TRUE(rows.is_array());
  EXPECT_GE(rows.size(), rows_count);
  for (const auto& row : rows) expect_layout(row, question);
}

const Asked kQuestions[] = {
    {"limits", 2, "--sizes 0,64,4K --iterations 10", 8},
    {"notify-latency", 2, "--iterations 10", 1},
    {"put-latency", 2, "--sizes 8,4088,4K --iterations 10", 3},
    {"get-latency", 2, "--sizes 8,4K --iterations 10", 2},
    {"put-rate", 2, "--iterations 100", 1},
    {"put-bandwidth", 2, "--sizes 8,4K,1M --iterations 4", 3},
    {"get-bandwidth", 2, "--sizes 4K,1M --iterations 4", 2},
    {"idle-peers", 4, "--iterations 10", 2},
    {"first-message", 3, "--iterations 10", 6},
    {"oversubscribe", 4, "--iterations 100", 4},
    {"waiting", 2, "--iterations 20", 1},
    {"memory", 3, "", 2},
    {"atomic-latency", 2, "--iterations 10", 1},
    {"atomic-rate", 2, "--iterations 100", 1},
    {"service-latency", 2, "--iterations 10", 1},
    {"service-rate", 2, "--iterations 100", 1},
    {"am-latency", 2, "--sizes 8,48,4K,64K --iterations 10", 9},
    {"am-rate", 2, "--iterations 100", 2},
    {"am-bandwidth", 2, "--sizes 64K,1M --iterations 4", 2},
    {"am-pipeline", 2, "--sizes 256K --iterations 4", 1},
    {"am-overlap", 2, "--iterations 10", 4},
    {"am-quiesce", 3, "--iterations 10", 1},
    {"mailbox-latency", 2, "--sizes 8,64,64K,256K --iterations 10", 4},
    {"mailbox-rate", 2, "--iterations 1000", 1},
    {"mailbox-memory", 2, "--iterations 100", 3},
    {"mailbox-setup", 2, "--sizes 64,64K --iterations 10", 2},
    {"mailbox-incast", 4, "--iterations 100", 2},
    {"mailbox-take-back", 2, "--iterations 4", 4},
    {"mailbox-away", 2, "--iterations 10", 2},
    {"vectored", 2, "--iterations 10", 8},
    {"rendezvous-latency", 2, "--sizes 8,1M --iterations 4", 2},
    {"registration", 2, "--iterations 10", 4},
    {"busy-receiver", 2, "--sizes 64K --iterations 4", 1},
    {"threads", 2, "--iterations 90", 6},
    {"task-rate", 2, "--iterations 100", 5},
    {"task-switch", 2, "--iterations 100", 4},
    {"task-pingpong", 2, "--iterations 10", 8},
    {"task-fanout", 3, "--sizes 64 --iterations 10", 4},
    {"task-zero-copy", 2, "--sizes 64,4K --iterations 4", 9},
    {"task-siblings", 2, "--sizes 64,64K --iterations 4", 6},
    {"task-registration", 2, "--sizes 4K --iterations 4", 1},
    {"task-memory", 2, "--sizes 1M --iterations 2", 3},
    {"task-waiting", 2, "--iterations 20", 1},
    {"task-ring", 3, "--iterations 10", 1},
    {"get-from-barrier", 2, "--sizes 64K --iterations 4", 4},
    {"ledger-full", 2, "--iterations 10", 1},
    {"overflow", 4, "--iterations 5000", 1},
    {"startup", 5, "", 3},
    {"classic-latency", 3, "--iterations 10", 1},
    {"classic-rate", 2, "--iterations 100", 2},
    {"coll", 2, "--kind barrier,allreduce --sizes 8,4K --iterations 4", 3},
    {"coll-overlap", 2, "--kind barrier,allreduce --sizes 8,64K --iterations 4", 3},
    {"tune", 2, "--kind barrier,allreduce,gatherv --sizes 8,64K --iterations 4", 5},
    {"stats-overhead", 2, "--iterations 10", 2},
};

INSTANTIATE_TEST_SUITE_P(questions, Perf, testing::ValuesIn(kQuestions), question_of);

TEST(PerfHelp, names_every_question_of_these_tests_once_for_all_ranks) {
  const CommandResult help = run_command(on_ranks(2, "--help"));
  ASSERT_EQ(help.exit_status, 0);
  std::size_t listed = 0;
  for (std::size_t at = help.output.find(" or more)\n"); at != std::string::npos;
       at = help.output.find(" or more)\n", at + 1)) {
    ++listed;
  }
  EXPECT_EQ(listed, std::size(kQuestions)) << help.output;
  for (const auto& asked : kQuestions) {
    EXPECT_NE(help.output.find(std::string("\n  ") + asked.question + " "), std::string::npos)
        << help.output;
  }
}

TEST(PerfMemory, is_that_of_the_option) {
  for (const std::string memory : {"alloc", "malloc"}) {
    for (const std::string question : {"put-bandwidth", "get-bandwidth"}) {
      const json rows = rows_of(2, question + " --sizes 64K --iterations 4 --memory " + memory,
                                question + memory);
      ASSERT_EQ(rows.size(), 1u);
      EXPECT_EQ(rows[0].at("memory"), memory);
      EXPECT_EQ(rows[0].at("size_bytes"), 65536);
      EXPECT_EQ(rows[0].at("iterations"), 4);
      EXPECT_EQ(rows[0].at("transport"), "shm");
    }
  }
}

TEST(PerfFirstMessage, of_two_ranks_is_that_of_busy_ones_alone) {
  const json rows = rows_of(2, "first-message --iterations 10", "first_of_two");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("mode"), "warm");
  EXPECT_EQ(rows[1].at("mode"), "busy, half trip");
  EXPECT_EQ(rows[2].at("mode"), "busy, no library, half trip");
  for (const auto& row : rows) expect_layout(row, "first-message");
}

// Beside both limits, in turns; the others beside a put of their size.
TEST(PerfAmLatency, of_8_bytes_stands_beside_a_put_and_a_notification) {
  const json rows = rows_of(2, "am-latency --sizes 8,1K --iterations 10", "am_latency");
  ASSERT_EQ(rows.size(), 7u);
  std::set<std::string> seen;
  for (const auto& row : rows)
    seen.insert(std::string(row.at("mode")) + " / " + std::string(row.at("limit_name")));
  for (const std::string mode : {"message", "answered in the handler", "replied in the handler"})
    for (const std::string limit : {"ph_put_u64", "ph_notify"})
      EXPECT_EQ(seen.count(mode + " / " + limit), 1u) << mode << limit;
}

TEST(PerfAmLatency, leaves_limits_out_where_asked) {
  const json rows = rows_of(2, "am-latency --sizes 8,1K --no-limit --iterations 10", "am_alone");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("mode"), "message") << "bench/peers/run takes the first row";
  for (const auto& row : rows) EXPECT_TRUE(row.at("limit").is_null()) << row;
}

// Pulled payloads, too, are each message's own where sources are rewritten.
TEST(PerfAmLatency, is_asked_with_fresh_sources_of_all_ways) {
  for (const std::string transport : {"shm", "tcp"}) {
    const json rows = rows_of(
        2, "am-latency --sizes 8,1K,256K --buffers fresh --iterations 10 --transport " + transport,
        "am_fresh");
    ASSERT_EQ(rows.size(), 3u);
    for (const auto& row : rows) EXPECT_EQ(row.at("buffers"), "fresh");
  }
}

TEST(PerfMailboxLatency, is_asked_among_many_open_ones) {
  for (const char* const transport : {"shm", "tcp"}) {
    const json rows = rows_of(
        2, std::string("mailbox-latency --open 100 --iterations 10 --transport ") + transport,
        "mailbox_open");
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].at("mode"), "16 in use of 100");
    EXPECT_EQ(rows[0].at("limit_name"), "16 open");
    EXPECT_EQ(rows[1].at("mode"), "any of 100");
    for (const auto& row : rows) expect_layout(row, "mailbox-latency");
  }
}

TEST(PerfMailboxes, are_measured_over_a_network_as_well) {
  for (const char* const question :
       {"mailbox-setup --sizes 64,64K", "mailbox-incast", "mailbox-take-back"}) {
    const std::string line = std::string(question) + " --iterations 4 --transport tcp";
    const std::string name = line.substr(0, line.find(' '));
    const json rows = rows_of(2, line, name + "_tcp");
    EXPECT_FALSE(rows.empty());
    for (const auto& row : rows) {
      expect_layout(row, name);
      EXPECT_EQ(row.at("transport"), "tcp");
    }
  }
}

struct Refused {
  const char* arguments;
  const char* named;  // in the message
};

TEST(PerfOptions, that_cannot_be_used_are_named_once_and_end_the_job) {
  const Refused all[] = {
      {"", "QUESTION is required"},
      {"put-speed", "no question 'put-speed'"},
      {"put-latency --sizes 8,8x", "'8x'"},
      {"put-latency --sizes 8,,16", "--sizes"},
      {"put-latency --sizes 2G", "'2G'"},
      {"put-bandwidth --sizes 4K,0", "at least 1"},
      {"put-latency --iterations 0", "--iterations"},
      {"put-latency --iterations many", "--iterations"},
      {"put-latency --memory stack", "--memory"},
      {"put-latency --open 5", "ask mailbox-latency"},
      {"put-latency --buffers stale", "--buffers"},
      {"put-rate --buffers fresh", "put-rate does not rewrite its sources"},
      {"mailbox-latency --open 0", "--open"},
      {"put-latency --transport pigeon", "pigeon"},
      {"put-latency --colour red", "--colour"},
      {"put-latency --provider tcp", "give --transport ofi as well"},
      {"put-latency --transport tcp --provider verbs", "'verbs'"},
      {"put-latency --json /no/such/folder/x.json", "/no/such/folder/x.json"},
      {"put-latency --plot /no/such/folder/x.png", "/no/such/folder/x.png: No such"},
      {"put-latency --plot x.jpeg", "'x.jpeg'; give a file that ends in .png"},
      {"put-latency --plot /dev/null/x.png", "/dev/null/x.png: Not a directory"},
      {"put-latency --plot png", "'png'"},
      {"oversubscribe", "photonrun -n 3 photon-perf oversubscribe"},
  };
  for (const auto& [arguments, named] : all) {
    const CommandResult result = run_command(on_ranks(2, arguments) + " 2>&1 >/dev/null");
    EXPECT_NE(result.exit_status, 0) << arguments;
    EXPECT_EQ(result.output.find("photon-perf: "), 0u) << result.output;
    const std::size_t first = result.output.find(named);
    ASSERT_NE(first, std::string::npos) << arguments << "\n" << result.output;
    EXPECT_EQ(result.output.find(named, first + 1), std::string::npos) << result.output;
  }
}

void expect_limits(const std::string& transport, const std::string& limit) {
  const std::string with = " --transport " + transport;
  for (const std::string question :
       {"notify-latency --iterations 10", "put-latency --sizes 8,4K,64K --iterations 10",
        "put-rate --iterations 2000", "put-bandwidth --sizes 4K,64K,1M --iterations 10"}) {
    for (const auto& row : rows_of(2, question + with, "limits_" + transport)) {
      expect_layout(row, question.substr(0, question.find(' ')));
      EXPECT_EQ(row.at("transport"), transport);
      ASSERT_TRUE(row.at("limit_name").is_string()) << row;
      EXPECT_EQ(std::string(row.at("limit_name")).rfind(limit, 0), 0u) << row;
    }
  }
}

TEST(PerfNetwork, of_tcp_is_measured_beside_a_bare_socket) { expect_limits("tcp", "raw socket"); }

TEST(PerfNetwork, of_ofi_is_measured_beside_bare_libfabric_of_the_same_provider) {
  if (::dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != nullptr)
    GTEST_SKIP() << "libfabric 1.17 does not give all memory back, which LeakSanitizer reports";
  const CommandResult tried =
      run_command(on_ranks(2, "put-latency --sizes 8 --iterations 10 --transport ofi 2>&1"));
  if (tried.exit_status != 0 && tried.output.find("libfabric") != std::string::npos)
    GTEST_SKIP() << tried.output;
  ASSERT_EQ(tried.exit_status, 0) << tried.output;
  if (tried.output.find("no limit: ") != std::string::npos) GTEST_SKIP() << tried.output;
  expect_limits("ofi", "fi_");
  const CommandResult info = run_command("PHOTON_TRANSPORT=ofi " + kRun + " -n 2 " +
                                         PHOTON_BIN_DIR + "/photon-info --json");
  const std::string reason = json::parse(info.output).at("paths").at(0).at("reason");
  const std::string provider = reason.substr(0, reason.find(" ("));
  EXPECT_NE(tried.output.find(" " + provider + ";"), std::string::npos) << tried.output << reason;
}

// Whether it is the provider that is missing, or libfabric in this build: in words, once.
TEST(PerfProvider, that_there_is_not_is_named_with_what_there_is) {
  const std::string line = on_ranks(2, "put-latency --transport ofi --provider pigeon 2>&1");
  const CommandResult result = run_command(line);
  EXPECT_NE(result.exit_status, 0);
  const auto first = result.output.find("cannot join the job: transport ofi: ");
  ASSERT_NE(first, std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("cannot join", first + 1), std::string::npos) << result.output;
  if (result.output.find("built without libfabric") != std::string::npos)
    GTEST_SKIP() << result.output;
  EXPECT_NE(result.output.find("ofi_provider = pigeon"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("fi_info"), std::string::npos) << result.output;
}

// A user with hours of measurements ahead learns of it now, and others are not kept waiting.
TEST(PerfOutputs, that_cannot_be_written_stop_all_ranks_before_anything_is_measured) {
  for (const std::string option :
       {"--json /no/such/folder/x.json", "--plot /no/such/folder/x.png"}) {
    const std::string line = on_ranks(3, "put-latency " + option);
    EXPECT_EQ(run_command(line + " 2>/dev/null").output, "") << line;
    const CommandResult result = run_command(line + " 2>&1");
    EXPECT_EQ(result.exit_status, 1) << line;
    EXPECT_EQ(result.output.find("could not be formed"), std::string::npos) << result.output;
  }
}

TEST(PerfPlot, without_python_names_the_package_and_measures_nothing) {
  const std::string picture = testing::TempDir() + "/photon_perf_without_python.png";
  const std::string line =
      "PATH=/no/such/folder " + on_ranks(2, "put-latency --plot " + picture + " 2>&1");
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.output.find("python3-matplotlib"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("p50"), std::string::npos) << result.output;
  EXPECT_FALSE(std::filesystem::exists(picture));
}

TEST(PerfAlone, says_how_it_wants_to_be_started) {
  const CommandResult result = run_command(kPerf + " put-latency 2>&1");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.output.find("photonrun -n 2 photon-perf put-latency"), std::string::npos)
      << result.output;
}

}  // namespace
}  // namespace photon::test
