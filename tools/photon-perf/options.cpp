#include "options.hpp"

#include <fmt/core.h>
#include <photon/launch.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "coll_kinds.hpp"
#include "failure.hpp"
#include "plot.hpp"
#include "questions.hpp"

namespace photon::perf {
namespace {

constexpr int kUsageStatus = 2;
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 30;
constexpr std::uint64_t kIterationsMax = 1'000'000'000'000;
constexpr std::uint64_t kOpenMax = 100'000'000;

std::uint64_t parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  int shift = 0;
  if (suffix == "K") shift = 10;
  if (suffix == "M") shift = 20;
  if (suffix == "G") shift = 30;
  const bool understood = error == std::errc{} && (suffix.empty() || shift > 0);
  if (!understood || value > (kLargestSize >> shift)) {
    throw Failure(
        fmt::format("--sizes: cannot use '{}'; give bytes up to 1G, e.g. 8,64,4K,1M", text));
  }
  return value << shift;
}

std::string footer() {
  std::string text = "Questions:\n";
  for (const auto& question : questions()) {
    text += fmt::format("  {:<17} {} (-n {} or more)\n", question.name, question.help,
                        question.ranks_min);
  }
  return text +
         "\nExamples:\n"
         "  photonrun -n 2 photon-perf put-latency\n"
         "  photonrun -n 2 photon-perf put-bandwidth --sizes 64K,1M,4M --memory malloc\n"
         "  photonrun -n 2 photon-perf put-latency --transport ofi --provider tcp\n"
         "  photonrun -n 130 photon-perf idle-peers --json idle.json\n"
         "  photonrun -n 2 photon-perf put-latency --plot put-latency.png\n"
         "  photonrun -n 8 photon-perf oversubscribe\n"
         "  photonrun -n 2 photon-perf coll --kind allreduce,bcast --buffers fresh --call begin\n"
         "  photonrun -n 8 photon-perf tune --kind allreduce,bcast --table here.table\n"
         "\nEvery row stands beside its limit, measured in the same run by the same processes.\n"
         "docs/benchmarks.md says what each limit is.\n";
}

// Where it does not matter, who gave it expects that it does.
void require_ofi(const Options& options) {
  if (options.provider.empty() || options.transport == "ofi") return;
  throw Failure(fmt::format("--provider: '{}' is one of libfabric's; give --transport ofi as well",
                            options.provider));
}

void require_mailboxes(const Options& options) {
  if (options.open == 0 || options.question == "mailbox-latency") return;
  throw Failure("--open: ask mailbox-latency; " + options.question + " has no mailboxes to spare");
}

// What belongs to collective operations alone, and the sizes that those can have.
void require_coll(const CLI::App& app, const Options& options) {
  const struct {
    const char* name;
    std::vector<std::string_view> questions;
  } all[] = {{"--kind", {"coll", "coll-overlap", "tune"}},
             {"--call", {"coll", "coll-overlap", "tune"}},
             {"--no-limit", {"coll", "am-latency"}},
             {"--meanwhile", {"coll-overlap"}},
             {"--table", {"tune"}}};
  for (const auto& [name, questions] : all) {
    if (app.count(name) == 0 ||
        std::find(questions.begin(), questions.end(), options.question) != questions.end())
      continue;
    throw Failure(
        fmt::format("{}: ask {}; {} has none", name, questions.front(), options.question));
  }
  if (options.question == "coll-overlap" && app.count("--call") > 0 &&
      options.call == CollCall::run)
    throw Failure(
        "--call run: coll-overlap works while an operation is under way; give begin or "
        "start");
  if (std::find(all[0].questions.begin(), all[0].questions.end(), options.question) ==
      all[0].questions.end())
    return;
  for (const auto size_bytes : options.sizes) {
    if (size_bytes % sizeof(double) == 0) continue;
    throw Failure(fmt::format("--sizes: {} bytes; coll moves doubles of 8", size_bytes));
  }
}

void require_sources(const Question& question, const Options& options) {
  if (options.buffers == BufferKind::same || question.may_be_fresh) return;
  std::string those;
  for (const auto& other : questions()) {
    if (other.may_be_fresh) those += fmt::format("{}{}", those.empty() ? "" : ", ", other.name);
  }
  throw Failure(fmt::format("--buffers fresh: {} does not rewrite its sources; ask {}",
                            question.name, those));
}

void require_sizes(const Question& question, const std::vector<std::uint64_t>& sizes) {
  for (const auto size_bytes : sizes) {
    if (size_bytes >= question.size_min_bytes) continue;
    throw Failure(fmt::format("--sizes: {} bytes; {} needs at least {}", size_bytes, question.name,
                              question.size_min_bytes));
  }
}

}  // namespace

bool is_speaker() noexcept {
  const char* const rank = std::getenv(PH_LAUNCH_RANK_VARIABLE);
  return rank == nullptr || std::string_view(rank) == "0";
}

std::string_view text_of(MemoryKind kind) noexcept {
  return kind == MemoryKind::alloc ? "alloc" : "malloc";
}

std::string_view text_of(BufferKind kind) noexcept {
  return kind == BufferKind::fresh ? "fresh" : "same";
}

std::string_view text_of(CollCall call) noexcept {
  if (call == CollCall::run) return "run";
  return call == CollCall::begin ? "begin" : "start";
}

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  while (!text.empty()) {
    const auto comma = text.find(',');
    sizes.push_back(parse_size(text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return sizes;
}

namespace {

// What has to be looked at before it is an option.
struct OptionWords {
  std::string sizes;
  std::string memory = "alloc";
  std::string buffers = "same";
  std::string kinds = "allreduce";
  std::string call = "run";
  bool has_no_limit = false;
  std::string meanwhile = "compute";
};

void add_coll_options(CLI::App& app, OptionWords& words) {
  app.add_option(
      "--kind", words.kinds,
      "With coll, coll-overlap and tune: kinds of operations, e.g. barrier,bcast; the default: "
      "allreduce");
  app.add_option(
         "--call", words.call,
         "With those: run (the default), or wait for what was begun, or was prepared and is "
         "started: begin, start")
      ->check(CLI::IsMember({"run", "begin", "start"}));
  app.add_flag("--no-limit", words.has_no_limit, "With coll and am-latency: measure ours alone");
  app.add_option("--meanwhile", words.meanwhile,
                 "With coll-overlap: what the caller does while an operation is under way: compute "
                 "(the default) or sleep")
      ->check(CLI::IsMember({"compute", "sleep"}));
}

void add_options(CLI::App& app, OptionWords& words, Options& options) {
  app.add_option("QUESTION", options.question, "What to measure, from the list below")->required();
  app.add_option("--sizes", words.sizes, "Message sizes in bytes, e.g. 8,64,4K,1M");
  app.add_option("--iterations", options.iterations,
                 "Operations a measurement; without it a row takes one to four seconds")
      ->check(CLI::Range(std::uint64_t{1}, kIterationsMax));
  app.add_option("--open", options.open, "With mailbox-latency: so many mailboxes are open")
      ->check(CLI::Range(std::uint64_t{1}, kOpenMax));
  app.add_option("--memory", words.memory,
                 "Memory of the messages: ph_alloc (the default), or the heap, registered (with "
                 "coll: not registered; the default of questions about buffers of tasks)")
      ->check(CLI::IsMember({"alloc", "malloc"}));
  app.add_option("--buffers", words.buffers,
                 "fresh: sources are rewritten before each operation (the default of "
                 "questions about buffers of tasks); same (the default): never")
      ->check(CLI::IsMember({"fresh", "same"}));
  add_coll_options(app, words);
  app.add_option("--table", options.table_path,
                 "With tune: write the table to this file, for the setting coll_table");
  app.add_option("--transport", options.transport, "Use this transport: shm, tcp or ofi");
  app.add_option(
      "--provider", options.provider,
      "With --transport ofi: libfabric's provider, e.g. tcp or verbs; fi_info lists them");
  app.add_option("--json", options.json_path, "Also write the rows to this file, as JSON");
  app.add_option("--plot", options.plot_path,
                 "Also draw the rows: a .png, .pdf or .svg; needs Python with matplotlib");
}

void take_words(const OptionWords& words, Options& options) {
  options.kinds = parse_coll_kinds(words.kinds);
  if (words.call != "run") options.call = words.call == "begin" ? CollCall::begin : CollCall::start;
  options.has_limits = !words.has_no_limit;
  options.is_asleep = words.meanwhile == "sleep";
  options.memory = words.memory == "alloc" ? MemoryKind::alloc : MemoryKind::malloc;
  options.buffers = words.buffers == "fresh" ? BufferKind::fresh : BufferKind::same;
  if (!words.sizes.empty()) options.sizes = parse_sizes(words.sizes);
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  OptionWords words;
  CLI::App app{"Ask one question about Photon's speed on this machine; run under photonrun."};
  app.failure_message([](const CLI::App* which, const CLI::Error& error) {
    return "photon-perf: " + CLI::FailureMessage::simple(which, error);
  });
  app.footer(footer());
  add_options(app, words, options);
  try {
    app.parse(argc, argv);
    take_words(words, options);
    const auto* question = find_question(options.question);
    if (question == nullptr) {
      throw Failure(
          fmt::format("there is no question '{}'; see photon-perf --help", options.question));
    }
    if (question->is_of_heap && app.count("--memory") == 0) options.memory = MemoryKind::malloc;
    if (question->is_of_heap && app.count("--buffers") == 0) options.buffers = BufferKind::fresh;
    require_sizes(*question, options.sizes);
    require_ofi(options);
    require_mailboxes(options);
    require_coll(app, options);
    require_sources(*question, options);
    if (app.count("--plot") > 0) require_plot_suffix(options.plot_path);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, is_speaker() && app.exit(error) != 0 ? kUsageStatus : 0};
  } catch (const Failure& failure) {
    if (!is_speaker()) return {std::nullopt, 0};
    fmt::print(stderr, "photon-perf: {}\n", failure.what());
    return {std::nullopt, kUsageStatus};
  }
  return {std::move(options), 0};
}

}  // namespace photon::perf
