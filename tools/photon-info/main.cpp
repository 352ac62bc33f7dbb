// What Photon would do here, and why: settings with their origin, transports, paths between ranks.
// Alone it makes a job of two processes to try them; under photonrun it looks at that job.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <photon/launch.h>
#include <photon/photon.hpp>

#include "findings.hpp"
#include "pair_job.hpp"
#include "report.hpp"

namespace photon_info {
namespace {

constexpr int kUsageStatus = 2;

struct Options {
  bool json = false;
  bool is_coll = false;
  std::string rank_text = "0";
  bool is_of_all = false;
  photon::Rank rank = 0;  // whose words they are
};

// Throws CLI::ParseError.
void read_rank(Options& options) {
  options.is_of_all = options.rank_text == "all";
  if (options.is_of_all) return;
  const std::string& text = options.rank_text;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), options.rank);
  if (error == std::errc{} && rest == text.data() + text.size()) return;
  throw CLI::ValidationError("--rank", "'" + text + "' is neither a rank nor all");
}

void print(const Findings& findings, const Options& options) {
  std::string text;
  if (options.is_coll)
    text = options.json ? coll_as_json(findings) : coll_as_text(findings);
  else
    text = options.json ? as_json(findings) : as_text(findings);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

Findings look_around(photon::Context& context, bool is_launched) {
  Findings findings;
  findings.version = version_text();
  findings.is_launched = is_launched;
  findings.rank = context.rank();
  findings.size = is_launched ? context.size() : 1;
  findings.settings = find_settings(context.c_context());
  if (context.size() == 1) return findings;
  Tried tried = try_paths(context);
  findings.paths = std::move(tried.paths);
  findings.peers = std::move(tried.peers);
  return findings;
}

// Finds what can be seen without a job.
void look_at_host(Findings& findings) {
  findings.transports = find_transports();
  findings.refused_calls = find_refused_calls();
  findings.limits = find_limits();
  findings.mailbox_limits = find_mailbox_limits();
  findings.am_limits = find_am_limits();
}

// No job could be formed: that is what somebody runs this program for, so say all that is known.
int report_failure(const std::exception& error, const Options& options) {
  Findings findings;
  findings.version = version_text();
  findings.problem = error.what();
  findings.settings = find_settings(nullptr);
  look_at_host(findings);
  print(findings, options);
  return 1;
}

int report_pair_of(const PairJob& pair, const Options& options) {
  try {
    photon::Context context({{}, &pair.bootstrap()});
    Findings findings = look_around(context, false);
    if (pair.is_child()) return 0;
    look_at_host(findings);
    print(findings, options);
    return 0;
  } catch (const photon::Error& error) {
    return pair.is_child() ? 1 : report_failure(error, options);
  }
}

// No peer is needed for what the settings say.
int report_coll(const Options& options) {
  try {
    photon::Context context;
    Findings findings;
    findings.version = version_text();
    findings.is_launched = std::getenv(PH_LAUNCH_FD_VARIABLE) != nullptr;
    findings.size = context.size();
    if (context.rank() != 0) return 0;
    const std::vector<std::uint32_t> members = context.size() > 1
                                                   ? std::vector<std::uint32_t>{context.size()}
                                                   : std::vector<std::uint32_t>{2, 4, 8, 16, 64};
    findings.coll = find_coll_choices(context, members);
    print(findings, options);
    return 0;
  } catch (const photon::Error& error) {
    fmt::print(stderr, "photon-info: {}\n", error.what());
    return 1;
  }
}

int report_pair(const Options& options) {
  std::optional<PairJob> pair;
  try {
    pair.emplace();
  } catch (const std::system_error& error) {
    return report_failure(error, options);
  }
  return report_pair_of(*pair, options);
}

int report_job(photon::Context& context, const Options& options) {
  if (options.rank >= context.size()) {
    // One rank says so and fails for all: another that failed first would have it ended unheard.
    if (context.rank() != 0) return 0;
    fmt::print(stderr, "photon-info: --rank {}: the job has ranks 0 to {}\n", options.rank,
               context.size() - 1);
    return kUsageStatus;
  }
  Findings findings = look_around(context, true);
  findings.is_of_all = options.is_of_all;
  if (options.is_of_all && context.size() > 1)
    findings.paths = gather_paths(context, findings.paths);
  if (context.rank() != options.rank) return 0;
  look_at_host(findings);
  print(findings, options);
  return 0;
}

int run(int argc, char** argv) {
  CLI::App app{
      "What Photon does here, and why: settings, transports, paths between ranks.\n"
      "photon-info, or photonrun -n N photon-info"};
  app.failure_message([](const CLI::App* which, const CLI::Error& error) {
    return "photon-info: " + CLI::FailureMessage::simple(which, error);
  });
  Options options;
  app.add_flag("--json", options.json, "One JSON object instead of text");
  app.add_flag("--coll", options.is_coll,
               "By which algorithm each kind of collective operation is done, and why, instead");
  app.add_option("--rank", options.rank_text,
                 "Under a launcher: whose view to print; all: the paths of every rank")
      ->capture_default_str();
  const char* const launched_as = std::getenv(PH_LAUNCH_RANK_VARIABLE);
  const bool is_launched = std::getenv(PH_LAUNCH_FD_VARIABLE) != nullptr;
  const bool is_speaker = !is_launched || launched_as == nullptr || launched_as == std::string("0");
  try {
    app.parse(argc, argv);
    read_rank(options);
  } catch (const CLI::ParseError& error) {
    if (!is_speaker) return 0;  // all ranks read the same line; one fails for all
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
  if (options.is_coll) return report_coll(options);
  if (!is_launched) return report_pair(options);
  try {
    photon::Context context;
    return report_job(context, options);
  } catch (const photon::Error& error) {
    if (is_speaker) return report_failure(error, options);
    // The speaker fails for all, with a report: a rank that failed first would have it ended
    // unheard. All have the same settings, so that these need no second line.
    if (error.status() != PH_ERR_CONFIG)
      fmt::print(stderr, "photon-info: rank {}: {}\n", launched_as == nullptr ? "?" : launched_as,
                 error.what());
    return 0;
  }
}

}  // namespace
}  // namespace photon_info

int main(int argc, char** argv) {
  try {
    return photon_info::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "photon-info: {}\n", error.what());
    return 1;
  }
}
