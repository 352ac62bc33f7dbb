// photon-simtest: runs seeds and says which of them break a promise.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simtest/case.hpp"

namespace photon::simtest {
namespace {

using Clock = std::chrono::steady_clock;

struct Choices {
  std::string seeds = "1..1000";
  std::string profile = "all";
  std::string fault = "none";
  std::string lanes = "drawn";
  std::string losses = "drawn";
  std::string peers = "drawn";
  std::string echoes = "drawn";
  std::string wakes = "drawn";
  std::string maps = "drawn";
  std::string mailboxes = "drawn";
  std::string collectives = "drawn";
  std::string ams = "drawn";
  std::uint32_t ranks = 4;
  std::uint32_t operations = 200;
  std::optional<std::uint64_t> replay;
  std::optional<std::uint64_t> shrink;
  bool digests = false;
};

struct Range {
  std::uint64_t first = 1;
  std::uint64_t last = 1;
};

// "A..B" or "A"; nothing if it is neither.
std::optional<Range> range_of(const std::string& text) {
  const auto dots = text.find("..");
  try {
    std::size_t used = 0;
    const std::string first = text.substr(0, dots);
    Range range{std::stoull(first, &used), 0};
    if (used != first.size()) return std::nullopt;
    const std::string last = dots == std::string::npos ? first : text.substr(dots + 2);
    range.last = std::stoull(last, &used);
    if (used != last.size() || range.last < range.first) return std::nullopt;
    return range;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// `drawn`: the seed's own.
std::vector<Profile> profiles_of(const std::string& name, std::uint64_t seed) {
  if (name == "drawn") return {kProfiles[seed % std::size(kProfiles)]};
  for (const Profile profile : kProfiles)
    if (name == kProfileNames[static_cast<int>(profile)]) return {profile};
  return {std::begin(kProfiles), std::end(kProfiles)};
}

const std::map<std::string, transport::sim::Fault::Kind>& faults() {
  using Kind = transport::sim::Fault::Kind;
  static const std::map<std::string, Kind> all = {{"none", Kind::none},
                                                  {"drop", Kind::drop},
                                                  {"swap", Kind::swap},
                                                  {"repeat", Kind::repeat},
                                                  {"early", Kind::early},
                                                  {"credit", Kind::credit},
                                                  {"count", Kind::count},
                                                  {"key", Kind::key},
                                                  {"fence", Kind::fence},
                                                  {"one_wave", Kind::one_wave},
                                                  {"early_return", Kind::early_return},
                                                  {"no_unreplied", Kind::no_unreplied},
                                                  {"reorder_am", Kind::reorder_am},
                                                  {"silence", Kind::silence},
                                                  {"leak", Kind::leak},
                                                  {"rejoin", Kind::rejoin},
                                                  {"lose_message", Kind::lose_message},
                                                  {"repeat_message", Kind::repeat_message}};
  return all;
}

const std::map<std::string, Lanes>& lanes_choices() {
  static const std::map<std::string, Lanes> all = {
      {"drawn", Lanes::drawn}, {"none", Lanes::none}, {"all", Lanes::all}};
  return all;
}

const std::map<std::string, Losses>& losses_choices() {
  static const std::map<std::string, Losses> all = {
      {"drawn", Losses::drawn}, {"none", Losses::none}, {"all", Losses::all}};
  return all;
}

const std::map<std::string, Peers>& peers_choices() {
  static const std::map<std::string, Peers> all = {{"drawn", Peers::drawn}, {"none", Peers::none}};
  return all;
}

const std::map<std::string, Echoes>& echoes_choices() {
  static const std::map<std::string, Echoes> all = {
      {"drawn", Echoes::drawn}, {"none", Echoes::none}, {"all", Echoes::all}};
  return all;
}

const std::map<std::string, Wakes>& wakes_choices() {
  static const std::map<std::string, Wakes> all = {{"drawn", Wakes::drawn}, {"none", Wakes::none}};
  return all;
}

const std::map<std::string, Maps>& maps_choices() {
  static const std::map<std::string, Maps> all = {
      {"drawn", Maps::drawn}, {"none", Maps::none}, {"all", Maps::all}};
  return all;
}

const std::map<std::string, Mailboxes>& mailboxes_choices() {
  static const std::map<std::string, Mailboxes> all = {{"drawn", Mailboxes::drawn},
                                                       {"none", Mailboxes::none},
                                                       {"all", Mailboxes::all},
                                                       {"carried", Mailboxes::carried}};
  return all;
}

const std::map<std::string, Collectives>& collectives_choices() {
  static const std::map<std::string, Collectives> all = {{"drawn", Collectives::drawn},
                                                         {"none", Collectives::none},
                                                         {"all", Collectives::all},
                                                         {"plain", Collectives::plain},
                                                         {"differing", Collectives::differing}};
  return all;
}

const std::map<std::string, Ams>& ams_choices() {
  static const std::map<std::string, Ams> all = {{"drawn", Ams::drawn},
                                                 {"none", Ams::none},
                                                 {"all", Ams::all},
                                                 {"plain", Ams::plain},
                                                 {"landing", Ams::landing}};
  return all;
}

// Where the fault goes in differs from seed to seed.
Case case_of(const Choices& choices, std::uint64_t seed, Profile profile) {
  Case one{seed, profile, choices.ranks, choices.operations, {}, lanes_choices().at(choices.lanes)};
  one.losses = losses_choices().at(choices.losses);
  one.peers = peers_choices().at(choices.peers);
  one.echoes = echoes_choices().at(choices.echoes);
  one.wakes = wakes_choices().at(choices.wakes);
  one.maps = maps_choices().at(choices.maps);
  one.mailboxes = mailboxes_choices().at(choices.mailboxes);
  one.collectives = collectives_choices().at(choices.collectives);
  one.ams = ams_choices().at(choices.ams);
  one.fault.kind = faults().at(choices.fault);
  one.fault.after = seed % 20;
  return one;
}

std::string command_of(const Case& one, const Choices& choices, const char* verb) {
  return fmt::format(
      "photon-simtest --profile {} --ranks {} --operations {}{}{}{}{}{}{}{}{}{}{} --{} {}",
      kProfileNames[static_cast<int>(one.profile)], one.ranks, one.operations,
      choices.fault == "none" ? "" : " --fault " + choices.fault,
      choices.lanes == "drawn" ? "" : " --lanes " + choices.lanes,
      choices.losses == Choices{}.losses ? "" : " --losses " + choices.losses,
      choices.peers == "drawn" ? "" : " --peers " + choices.peers,
      choices.echoes == "drawn" ? "" : " --echoes " + choices.echoes,
      choices.wakes == "drawn" ? "" : " --wakes " + choices.wakes,
      choices.maps == "drawn" ? "" : " --maps " + choices.maps,
      choices.mailboxes == "drawn" ? "" : " --mailboxes " + choices.mailboxes,
      choices.collectives == "drawn" ? "" : " --collectives " + choices.collectives,
      choices.ams == "drawn" ? "" : " --ams " + choices.ams, verb, one.seed);
}

void print_finding(const Case& one, const Choices& choices, const Finding& finding) {
  fmt::print("seed {} ({}): {}: {}\n", one.seed, kProfileNames[static_cast<int>(one.profile)],
             finding.kind, finding.text);
  fmt::print("  the whole story:   {}\n", command_of(one, choices, "replay"));
  fmt::print("  a smaller program: {}\n", command_of(one, choices, "shrink"));
}

// Exit status 0: no seed failed.
int run_seeds(const Choices& choices, const Range& range) {
  const bool shows_progress = ::isatty(STDERR_FILENO) == 1;
  const auto begin = Clock::now();
  std::uint64_t runs = 0, failures = 0, events = 0, recalls = 0;
  for (std::uint64_t seed = range.first; seed <= range.last; ++seed) {
    for (const Profile profile : profiles_of(choices.profile, seed)) {
      const Case one = case_of(choices, seed, profile);
      const Result result = run_case(one, false);
      ++runs;
      events += result.events;
      recalls += result.recalls;
      if (choices.digests)
        fmt::print("{} {} {:016x} {}\n", seed, kProfileNames[static_cast<int>(profile)],
                   result.digest, result.events);
      if (result.finding && ++failures <= 10) print_finding(one, choices, *result.finding);
    }
    if (shows_progress && seed % 64 == 0) {
      const std::chrono::duration<double> elapsed = Clock::now() - begin;
      fmt::print(stderr, "\rseed {} of {}..{}, {:.0f} runs/s, {} failed ", seed, range.first,
                 range.last, static_cast<double>(runs) / elapsed.count(), failures);
    }
    if (seed == UINT64_MAX) break;
  }
  if (shows_progress) fmt::print(stderr, "\r\033[K");
  const std::chrono::duration<double> elapsed = Clock::now() - begin;
  if (!choices.digests)
    fmt::print(
        "{} runs, {} events, {} messages recalled while they landed, {:.0f} runs a minute; {} "
        "failed\n",
        runs, events, recalls, 60 * static_cast<double>(runs) / elapsed.count(), failures);
  return failures == 0 ? 0 : 1;
}

int replay(const Choices& choices, std::uint64_t seed) {
  int status = 0;
  for (const Profile profile : profiles_of(choices.profile, seed)) {
    const Case one = case_of(choices, seed, profile);
    const Result result = run_case(one, true);
    fmt::print("{}{}", text_of(program_of(one)), result.history);
    fmt::print("{} events in {} ns, digest {:016x}\n", result.events, result.simulated_ns,
               result.digest);
    if (!result.finding) continue;
    print_finding(one, choices, *result.finding);
    status = 1;
  }
  return status;
}

int shrink_seed(const Choices& choices, std::uint64_t seed) {
  constexpr unsigned kMostRuns = 5000;
  for (const Profile profile : profiles_of(choices.profile, seed)) {
    const Case one = case_of(choices, seed, profile);
    const Program whole = program_of(one);
    const Result first = run_case(one, whole, false);
    if (!first.finding) continue;
    const Fails fails = fails_with(one, first.finding->kind);
    const Program small = shrink(whole, fails, kMostRuns);
    const Result result = run_case(one, small, true);
    fmt::print("{}{}", text_of(small), result.history);
    fmt::print("{} of {} steps, {} of {} events\n", steps_count(small), steps_count(whole),
               result.events, first.events);
    print_finding(one, choices, *result.finding);
    return 1;
  }
  fmt::print("seed {} does not fail\n", seed);
  return 0;
}

// What programs have.
void add_contents(CLI::App& app, Choices& choices) {
  app.add_option("--lanes", choices.lanes, "which programs open lanes; drawn: one in three")
      ->check(CLI::IsMember(lanes_choices()))
      ->capture_default_str();
  app.add_option("--losses", choices.losses,
                 "which programs lose links; drawn: one in eight of those that can")
      ->check(CLI::IsMember(losses_choices()))
      ->capture_default_str();
  app.add_option("--peers", choices.peers,
                 "which programs contact peers without an id; drawn: one in four")
      ->check(CLI::IsMember(peers_choices()))
      ->capture_default_str();
  app.add_option("--echoes", choices.echoes,
                 "which programs use the echo service; drawn: one in three")
      ->check(CLI::IsMember(echoes_choices()))
      ->capture_default_str();
  app.add_option("--wakes", choices.wakes, "which programs wake their own lanes; drawn: all")
      ->check(CLI::IsMember(wakes_choices()))
      ->capture_default_str();
  app.add_option("--maps", choices.maps, "which programs map memory of peers; drawn: one in three")
      ->check(CLI::IsMember(maps_choices()))
      ->capture_default_str();
  app.add_option("--mailboxes", choices.mailboxes,
                 "which programs use mailboxes; drawn: one in three")
      ->check(CLI::IsMember(mailboxes_choices()))
      ->capture_default_str();
  app.add_option("--collectives", choices.collectives,
                 "which programs use teams and collective operations; drawn: one in three; plain: "
                 "all, without agreements and differing calls; differing: all, with such calls")
      ->check(CLI::IsMember(collectives_choices()))
      ->capture_default_str();
  app.add_option("--ams", choices.ams,
                 "which programs send active messages; drawn: one in three; plain: all, without "
                 "payloads that land; landing: all, with such payloads")
      ->check(CLI::IsMember(ams_choices()))
      ->capture_default_str();
}

int run(int count, char** arguments) {
  Choices choices;
  CLI::App app{"Runs random programs on simulated jobs and checks what the library promises."};
  app.add_option("--seeds", choices.seeds, "A..B, or one seed")->capture_default_str();
  app.add_option("--profile", choices.profile, "the network; drawn: one of them by the seed")
      ->check(CLI::IsMember({"stream", "mapped", "rc", "srd", "unnamed", "all", "drawn"}))
      ->capture_default_str();
  app.add_option("--ranks", choices.ranks, "of each job")
      ->check(CLI::Range(2, 64))
      ->capture_default_str();
  app.add_option("--operations", choices.operations, "of each job, about")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--replay", choices.replay, "run this seed and print what happened");
  app.add_option("--shrink", choices.shrink, "find a smaller program that fails like this seed");
  app.add_option("--fault", choices.fault, "inject a fault that must be found")
      ->check(CLI::IsMember(faults()))
      ->capture_default_str();
  add_contents(app, choices);
  app.add_flag("--digests", choices.digests, "print the digest of each run, to compare builds");
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (choices.replay) return replay(choices, *choices.replay);
  if (choices.shrink) return shrink_seed(choices, *choices.shrink);
  const auto range = range_of(choices.seeds);
  if (!range) {
    fmt::print(stderr, "photon-simtest: --seeds {}: give A..B with A <= B, or one number\n",
               choices.seeds);
    return 2;
  }
  return run_seeds(choices, *range);
}

}  // namespace
}  // namespace photon::simtest

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was found is seen also if the run aborts
  return photon::simtest::run(count, arguments);
}
