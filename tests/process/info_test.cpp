#include <gtest/gtest.h>
#include <photon/photon.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "command.hpp"

namespace photon::test {
namespace {

nlohmann::json json_of(const std::string& line) {
  const CommandResult result = run_command(line);
  EXPECT_EQ(result.exit_status, 0) << line << "\n" << result.output;
  return nlohmann::json::parse(result.output);
}

std::map<std::string, nlohmann::json> settings_of(const nlohmann::json& info) {
  std::map<std::string, nlohmann::json> settings;
  for (const auto& setting : info.at("settings")) settings[setting.at("environment")] = setting;
  return settings;
}

TEST(Info, names_the_value_and_the_origin_of_each_setting) {
  const auto settings = settings_of(json_of("PHOTON_LEDGER_SLOTS=64 " + kInfo + " --json"));
  ASSERT_GT(settings.size(), 10u);
  EXPECT_EQ(settings.at("PHOTON_LEDGER_SLOTS").at("value"), "64");
  EXPECT_EQ(settings.at("PHOTON_LEDGER_SLOTS").at("origin"), "environment");
  for (const auto& [name, setting] : settings) {
    EXPECT_FALSE(setting.at("help").get<std::string>().empty()) << name;
    EXPECT_FALSE(setting.at("origin").get<std::string>().empty()) << name;
  }
}

TEST(Info, names_the_settings_and_the_limits_of_mailboxes) {
  const auto info = json_of("PHOTON_MAILBOX_CARRIED_MAX=4096 " + kInfo + " --json");
  const auto settings = settings_of(info);
  EXPECT_EQ(settings.at("PHOTON_MAILBOX_CARRIED_MAX").at("value"), "4096");
  EXPECT_EQ(settings.at("PHOTON_MAILBOX_CARRIED_MAX").at("origin"), "environment");
  for (const char* const name : {"PHOTON_MAILBOX_EARLY_BYTES", "PHOTON_MAILBOX_EARLY_TOTAL_BYTES",
                                 "PHOTON_MAILBOX_REFUSALS"})
    EXPECT_EQ(settings.count(name), 1u) << name;
  ASSERT_EQ(info.at("mailbox_limits").size(), 5u);
  const CommandResult text = run_command(kInfo);
  for (const auto& [name, value] : info.at("mailbox_limits").items()) {
    EXPECT_GT(value, 0) << name;
    EXPECT_NE(text.output.find("  " + name + " "), std::string::npos) << text.output;
  }
}

TEST(Info, names_the_settings_and_the_limits_of_active_messages) {
  const auto info = json_of("PHOTON_AM_SLOTS=16 " + kInfo + " --json");
  const auto settings = settings_of(info);
  EXPECT_EQ(settings.at("PHOTON_AM_SLOTS").at("value"), "16");
  for (const char* const name :
       {"PHOTON_AM", "PHOTON_AM_QUEUE_BYTES", "PHOTON_AM_RECORD_MAX", "PHOTON_AM_CARRIED_MAX",
        "PHOTON_AM_AGGREGATE_BYTES", "PHOTON_AM_AGGREGATE_US"})
    EXPECT_EQ(settings.count(name), 1u) << name;
  ASSERT_EQ(info.at("am_limits").size(), 7u);
  EXPECT_EQ(info.at("am_limits").at("am_header_bytes"), PH_AM_HEADER_BYTES);
  const CommandResult text = run_command(kInfo);
  for (const auto& [name, value] : info.at("am_limits").items()) {
    EXPECT_GT(value, 0) << name;
    EXPECT_NE(text.output.find("  " + name + " "), std::string::npos) << text.output;
  }
}

// As many as photon-info says, and not one more.
TEST(Info, says_how_many_buffers_a_mailbox_retains) {
  const auto info = json_of(kInfo + " --json");
  ph_context* context = nullptr;
  ASSERT_EQ(ph_context_create(nullptr, &context, nullptr), PH_OK);
  ph_mailbox_args args{};
  args.size = sizeof args;
  args.source = PH_ANY_RANK;
  args.retained = info.at("mailbox_limits").at("mailbox_retained");
  ph_mailbox box{};
  EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_OK);
  ++args.address;
  ++args.retained;
  EXPECT_EQ(ph_mailbox_open(context, &args, &box), PH_ERR_ARGUMENT);
  ph_context_destroy(context);
}

TEST(Info, prints_the_same_settings_for_people) {
  const auto settings = settings_of(json_of(kInfo + " --json"));
  const CommandResult text = run_command(kInfo);
  EXPECT_EQ(text.exit_status, 0);
  for (const auto& [name, setting] : settings)
    EXPECT_NE(text.output.find(name), std::string::npos) << name;
}

TEST(Info, alone_tries_the_paths_between_two_processes) {
  const auto info = json_of(kInfo + " --json");
  EXPECT_EQ(info.at("launched"), false);
  EXPECT_EQ(info.at("size"), 1);
  ASSERT_EQ(info.at("paths").size(), 1u);
  const auto& path = info.at("paths").at(0);
  EXPECT_EQ(path.at("transport"), "shm");
  EXPECT_EQ(path.at("state"), "connected");
  EXPECT_EQ(path.at("same_process"), false);
  EXPECT_EQ(path.at("arena_mapped"), true);
  EXPECT_EQ(path.at("problem"), "");
  EXPECT_NE(path.at("reason"), "");
}

TEST(Info, says_that_kernel_copies_are_off_when_they_are_switched_off) {
  const auto info = json_of("PHOTON_SHM_CMA=off " + kInfo + " --json");
  const auto& path = info.at("paths").at(0);
  EXPECT_EQ(path.at("cma"), false);
  EXPECT_NE(path.at("reason").get<std::string>().find("shm_cma"), std::string::npos)
      << path.at("reason");
}

TEST(Info, finds_all_transports) {
  const auto info = json_of(kInfo + " --json");
  std::set<std::string> names;
  for (const auto& transport : info.at("transports")) {
    names.insert(transport.at("name"));
    if (transport.at("name") == "ofi" && transport.at("usable") == false)
      EXPECT_NE(transport.at("reason"), "");  // no libfabric here
    else
      EXPECT_EQ(transport.at("usable"), true) << transport;
  }
  EXPECT_EQ(names, (std::set<std::string>{"shm", "tcp", "mixed", "ofi", "sim"}));
}

TEST(Info, says_in_its_own_name_what_it_does_not_understand) {
  const CommandResult result = run_command(kInfo + " --colour red 2>&1");
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.output.find("photon-info: "), 0u) << result.output;
  EXPECT_NE(result.output.find("--colour"), std::string::npos) << result.output;
}

TEST(Info, under_the_launcher_describes_the_path_to_each_peer_of_the_job) {
  const auto info = json_of(kRun + " -n 3 " + kInfo + " --json --rank 1");
  EXPECT_EQ(info.at("launched"), true);
  EXPECT_EQ(info.at("size"), 3);
  EXPECT_EQ(info.at("rank"), 1);
  ASSERT_EQ(info.at("paths").size(), 2u);
  EXPECT_EQ(info.at("paths").at(0).at("rank"), 0);
  EXPECT_EQ(info.at("paths").at(1).at("rank"), 2);
  for (const auto& path : info.at("paths")) EXPECT_EQ(path.at("state"), "connected") << path;
  EXPECT_EQ(info.at("peers").at("peers_same_process"), 0);
  EXPECT_EQ(info.at("peers").at("peers_shared_memory"), 2);
  EXPECT_EQ(info.at("peers").at("peers_network"), 0);
}

TEST(Info, of_all_describes_the_paths_of_every_rank_and_why_each_was_taken) {
  const std::string line = "PHOTON_TRANSPORT=tcp " + kRun + " -n 3 " + kInfo + " --rank all";
  const auto info = json_of(line + " --json");
  ASSERT_EQ(info.at("paths").size(), 6u);
  std::set<std::pair<int, int>> pairs;
  for (const auto& path : info.at("paths")) {
    pairs.emplace(path.at("from"), path.at("rank"));
    EXPECT_EQ(path.at("transport"), "tcp") << path;
    EXPECT_EQ(path.at("state"), "connected") << path;
    EXPECT_NE(path.at("reason").get<std::string>().find("connection from"), std::string::npos);
  }
  EXPECT_EQ(pairs.size(), 6u);
  EXPECT_EQ(info.at("peers").at("peers_network"), 2) << "of the rank that speaks";
  const CommandResult text = run_command(line);
  EXPECT_NE(text.output.find("rank 2 to rank 1: tcp, connected"), std::string::npos) << text.output;
}

TEST(Info, refuses_a_rank_that_is_no_number) {
  const CommandResult result = run_command(kRun + " -n 2 " + kInfo + " --rank some 2>&1");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("'some' is neither a rank nor all"), std::string::npos);
}

TEST(Info, still_reports_when_a_setting_is_wrong) {
  const CommandResult result = run_command("PHOTON_LEDGER_SLOTS=many " + kInfo + " 2>&1");
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.output.find("could not be formed"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("PHOTON_LEDGER_SLOTS"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("many"), std::string::npos) << result.output;
}

TEST(Info, refuses_a_rank_that_the_job_does_not_have) {
  const CommandResult result = run_command(kRun + " -n 2 " + kInfo + " --rank 2 2>&1");
  EXPECT_NE(result.exit_status, 0);
  EXPECT_NE(result.output.find("ranks 0 to 1"), std::string::npos) << result.output;
}

}  // namespace
}  // namespace photon::test
