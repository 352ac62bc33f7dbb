#include "base/config.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>

namespace photon::base {
namespace {

constexpr const char* kOversubscribed[] = {"auto", "yes", "no"};
constexpr const char* kTransports[] = {"auto", "shm", "sim", "tcp", "mixed", "ofi"};
constexpr const char* kSourceCache[] = {"registered", "all"};
constexpr const char* kShmCma[] = {"auto", "off", "on"};
constexpr const char* kSwitch[] = {"off", "on"};
constexpr const char* kSimProfiles[] = {"stream", "mapped", "rc", "srd", "unnamed"};
constexpr const char* kLogLevels[] = {"error", "warn", "info", "debug"};

constexpr std::string_view kPrefix = "PHOTON_";
constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = kKi * kKi;
constexpr std::uint64_t kTi = kMi * kMi;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();

constexpr Field named(std::string_view name, FieldMember member, const char* help) {
  Field field{.member = member, .help = help};
  std::copy(kPrefix.begin(), kPrefix.end(), field.environment);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    field.name[i] = c;
    field.environment[kPrefix.size() + i] =
        c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return field;
}

struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  bool power_of_two = false;
  std::uint64_t multiple_of = 1;
};

constexpr Field number(std::string_view name, std::uint64_t Config::*member, Range range,
                       const char* help) {
  Field field = named(name, member, help);
  field.min = range.min;
  field.max = range.max;
  field.power_of_two = range.power_of_two;
  field.multiple_of = range.multiple_of;
  return field;
}

constexpr Field choice(std::string_view name, FieldMember member,
                       std::span<const char* const> choices, const char* help) {
  Field field = named(name, member, help);
  field.choices = choices;
  return field;
}

constexpr Field text(std::string_view name, Word Config::*member, const char* words,
                     const char* help) {
  Field field = named(name, member, help);
  field.words = words;
  return field;
}

constexpr Field kFields[] = {
    number("max_cid_size", &Config::max_cid_size, {0, 1024},
           "Longest completion id, in bytes; the same on all ranks."),
    number("ledger_slots", &Config::ledger_slots, {2, 65536, true},
           "Notifications a peer may have under way to this rank before it must queue."),
    number("overflow_bytes", &Config::overflow_bytes, {4 * kKi, 64 * kKi* kMi, true},
           "Room in this rank's memory for notifications to one peer beyond ledger_slots, in bytes "
           "(16 for one of 8 bytes); pages are used only when touched, and given back."),
    number("overflow_total_bytes", &Config::overflow_total_bytes, {0, kTi},
           "Most bytes of all such room of one lane in use at a time; 0: none."),
    number("ring_lines", &Config::ring_lines, {64, 65536, true},
           "Lines of the record ring to each peer: 64 bytes, or 128 where ranks have own cores."),
    number("requests", &Config::requests, {16, kMi, true},
           "Operations of this rank under way or not yet probed; beyond that calls say PH_AGAIN."),
    number("packed_max", &Config::packed_max, {0, 1024},
           "Largest payload carried inside a record, in bytes."),
    number("bulk_bytes", &Config::bulk_bytes, {8 * kKi, 64 * kMi, true},
           "Bytes of the bulk ring to each peer, through which both sides copy; best twice an L2."),
    number("bulk_chunk", &Config::bulk_chunk, {kKi, 16 * kMi},
           "Bytes of one chunk in the bulk ring; at most a quarter of bulk_bytes."),
    number("mapped_min", &Config::mapped_min, {33, kAny},
           "Puts of at least this many bytes are copied straight to memory that is mapped here."),
    number("direct_min", &Config::direct_min, {0, kAny},
           "Puts of at least this many bytes are written straight to memory by network cards."),
    number("piece_bytes", &Config::piece_bytes, {256, 16 * kMi},
           "Most bytes one call copies itself; the rest is copied by later probes."),
    number(
        "posted_piece_bytes", &Config::posted_piece_bytes, {256, 16 * kMi},
        "Bytes of one piece of a put or get that the network moves; tcp copies a piece in one go, "
        "and streams the better the larger they are."),
    number("arena_bytes", &Config::arena_bytes, {kMi, kTi, false, 4 * kKi},
           "Address space for ph_alloc() memory, in bytes; pages are used only when touched."),
    number("max_segments", &Config::max_segments, {1, 16 * kMi},
           "Segments, or blocks of a strided form, of one vectored operation."),
    number("max_regions", &Config::max_regions, {16, kMi, true},
           "Registrations that may exist at the same time."),
    number("max_lanes", &Config::max_lanes, {1, 256},
           "Lanes that a rank may have open at the same time, the context's own included; the same "
           "on all ranks."),
    choice(
        "source_cache", &Config::source_cache, kSourceCache,
        "Memory of this process that stays registered with a network card between operations: "
        "what ph_register() or ph_alloc() covers, or all that any operation has used, if none of "
        "it is ever unmapped."),
    number("source_cache_bytes", &Config::source_cache_bytes, {16 * kKi, kTi},
           "Most bytes of this process's memory registered with a network card at a time; one "
           "registration has at most a quarter."),
    number("source_cache_entries", &Config::source_cache_entries, {1, kMi},
           "Most registrations of this process's memory with a network card at a time."),
    number("finalize_timeout_ms", &Config::finalize_timeout_ms, {0, 1000000000},
           "Longest that ph_finalize() waits for a peer that takes nothing of what was sent, in "
           "milliseconds."),
    number("unregister_timeout_ms", &Config::unregister_timeout_ms, {0, 1000000000},
           "Longest that ph_unregister() waits for copies under way, in milliseconds."),
    number("spin_us", &Config::spin_us, {0, 1000000},
           "How long ph_wait() spins before it sleeps, in microseconds, if a core is free; up to 8 "
           "times as long where waits were seen to end so soon."),
    choice(
        "progress_thread", &Config::progress_thread, kSwitch,
        "A thread for the context, and one for each of its lanes, that serves its peers while the "
        "application makes no calls; it sleeps when there is nothing to do."),
    number("progress_silence_us", &Config::progress_silence_us, {10, 1000000},
           "Microseconds without a turn of progress by the application after which the progress "
           "thread acts; it may take a millisecond longer, after a time of many calls."),
    choice("oversubscribed", &Config::oversubscribed, kOversubscribed,
           "Whether ranks and their lanes outnumber the cores, so that waiting must not spin."),
    choice("transport", &Config::transport, kTransports,
           "How peers are reached; mixed: shm for those of this host, tcp for all others; ofi: by "
           "libfabric; auto takes shm if all ranks are on this host, else mixed."),
    choice("shm_cma", &Config::shm_cma, kShmCma,
           "Copies between processes by the kernel; on: fail to start where that is forbidden."),
    text("tcp_interface", &Config::tcp_interface,
         "auto, the name of a network interface, or an IPv4 or IPv6 address of this host",
         "Where the tcp transport listens; auto: the loopback if all ranks are on this host, else "
         "the first other interface that is up."),
    number("tcp_silence_s", &Config::tcp_silence_s, {6, 3600},
           "A peer whose host has not answered the kernel for so long, though it was asked, is "
           "gone, in seconds; a stopped process's host answers."),
    text("ofi_provider", &Config::ofi_provider, "auto, or a provider as fi_info names it",
         "The provider of libfabric that transport ofi uses, the same on all ranks; auto: the "
         "first that will do."),
    text("ofi_domain", &Config::ofi_domain, "auto, or a domain as fi_info names it",
         "The network card or interface that transport ofi uses."),
    number(
        "ofi_direct_least_bytes", &Config::ofi_direct_least_bytes, {0, kAny},
        "Least bytes of what libfabric moves to its place; 0: none, on all ranks or on no rank."),
    number("sim_seed", &Config::sim_seed, {0, kAny},
           "Seed of the sim transport; a run is a function of seed, settings and program."),
    number("sim_delay_ns", &Config::sim_delay_ns, {0, 1000000000},
           "Longest delay the sim transport adds to a message, in nanoseconds of its clock."),
    choice(
        "sim_profile", &Config::sim_profile, kSimProfiles,
        "The network that the sim transport is: messages in order only (stream), memory of peers "
        "touched directly (mapped), or writes by network cards: as InfiniBand orders them (rc), "
        "in no order (srd), in no order and unannounced (unnamed). Rank 0's counts."),
    choice("log", &Config::log, kLogLevels, "Least important messages written to stderr."),
    number("stats", &Config::stats, {0, 1},
           "1: count operations from the start, and write the counters to stderr at the end."),
};
static_assert(std::size(kFields) == kFieldsCount);

// Variables that are not settings: the launcher's, and those of tests and tools.
constexpr std::string_view kForeignNames[] = {"PHOTON_RANK", "PHOTON_SIZE", "PHOTON_JOB"};
constexpr std::string_view kForeignPrefixes[] = {"PHOTON_LAUNCH", "PHOTON_TEST_", "PHOTON_STRESS_",
                                                 "PHOTON_BENCH_"};

// Of a field that is no Word.
std::uint64_t value_of(const Config& config, const Field& field) {
  return std::visit(
      [&](auto member) -> std::uint64_t {
        using Value = std::remove_cvref_t<decltype(config.*member)>;
        if constexpr (std::is_same_v<Value, Word>)
          return 0;
        else
          return static_cast<std::uint64_t>(config.*member);
      },
      field.member);
}

void assign(Config& config, const Field& field, std::uint64_t value) {
  std::visit(
      [&](auto member) {
        using Value = std::remove_reference_t<decltype(config.*member)>;
        if constexpr (!std::is_same_v<Value, Word>) config.*member = static_cast<Value>(value);
      },
      field.member);
}

// The number or the choice's index; nothing if the text is not an allowed value.
std::optional<std::uint64_t> parse(const Field& field, std::string_view text) {
  if (!field.choices.empty()) {
    const auto found = std::find(field.choices.begin(), field.choices.end(), text);
    if (found == field.choices.end()) return std::nullopt;
    return static_cast<std::uint64_t>(found - field.choices.begin());
  }
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  if (value < field.min || value > field.max) return std::nullopt;
  if (field.power_of_two && (value & (value - 1)) != 0) return std::nullopt;
  if (value % field.multiple_of != 0) return std::nullopt;
  return value;
}

Error config_error(std::string what) {
  return {.status = PH_ERR_CONFIG, .native_errno = 0, .what = std::move(what)};
}

std::string source_text(const Field& field, Origin origin) {
  if (origin == Origin::environment)
    return std::string("environment variable ") + field.environment;
  if (origin == Origin::option) return std::string("option ") + field.name;
  return std::string(origin_text(origin)) + " of " + field.name;
}

struct Given {
  std::string_view text;
  Origin origin;
};

Result<> set(Config& config, const Field& field, Given given) {
  const bool is_word = field.is_word();
  const auto value = is_word ? std::optional<std::uint64_t>() : parse(field, given.text);
  if (is_word ? !(config.*std::get<Word Config::*>(field.member)).set(given.text) : !value) {
    return config_error("setting " + std::string(field.name) + " = \"" + std::string(given.text) +
                        "\" (" + source_text(field, given.origin) + ") must be " +
                        allowed_text(field));
  }
  if (!is_word) assign(config, field, *value);
  config.origins[static_cast<std::size_t>(&field - kFields)] = given.origin;
  return {};
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

// The row whose name or variable is spelled most like `text`.
const Field& nearest(std::string_view text) {
  const Field* best = kFields;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const Field& field : kFields) {
    const std::size_t distance =
        std::min(edit_distance(text, field.name), edit_distance(text, field.environment));
    if (distance < best_distance) best = &field;
    best_distance = std::min(best_distance, distance);
  }
  return *best;
}

const Field* find_field(std::string_view text) {
  const auto is_named = [&](const Field& f) { return text == f.name || text == f.environment; };
  const Field* found = std::find_if(std::begin(kFields), std::end(kFields), is_named);
  return found == std::end(kFields) ? nullptr : found;
}

bool is_foreign(std::string_view variable) {
  return std::ranges::count(kForeignNames, variable) > 0 ||
         std::ranges::any_of(kForeignPrefixes, [&](auto p) { return variable.starts_with(p); });
}

// One pass over the environment: the only place of the library that reads it for settings.
void for_each_variable(const auto& visit) {
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with(kPrefix) || equals == std::string_view::npos) continue;
    visit(text.substr(0, equals), text.substr(equals + 1));
  }
}

Result<> apply_environment(Config& config) {
  Result<> result;
  for_each_variable([&](std::string_view variable, std::string_view value) {
    const Field* field = find_field(variable);
    if (result && field) result = set(config, *field, {value, Origin::environment});
  });
  return result;
}

Result<> apply_option(Config& config, const ph_option& option) {
  if (!option.name) return config_error("an option has no name (null)");
  const std::string name = option.name;
  const Field* field = find_field(name);
  if (!field || name != field->name) {
    return config_error("there is no setting \"" + name + "\"; the nearest is \"" +
                        nearest(name).name + "\" (photon-info lists all)");
  }
  if (!option.value) {
    return config_error("setting " + name + " (option) has no value (null); it must be " +
                        allowed_text(*field));
  }
  return set(config, *field, {option.value, Origin::option});
}

// Rules between settings: what was given must fit, what was not is made to fit.
Result<> settle(Config& config) {
  const std::uint64_t largest = config.bulk_bytes / 4;
  if (config.bulk_chunk <= largest) return {};
  const Field& chunk = *find_field("bulk_chunk");
  Origin& origin = config.origins[static_cast<std::size_t>(&chunk - kFields)];
  if (origin == Origin::built_in) {
    config.bulk_chunk = largest;
    origin = Origin::derived;
    return {};
  }
  return config_error("setting bulk_chunk = \"" + std::to_string(config.bulk_chunk) + "\" (" +
                      source_text(chunk, origin) + ") must be at most a quarter of bulk_bytes = " +
                      std::to_string(config.bulk_bytes));
}

}  // namespace

std::span<const Field> fields() noexcept { return kFields; }

std::string value_text(const Config& config, const Field& field) {
  if (field.is_word()) return std::string((config.*std::get<Word Config::*>(field.member)).view());
  const std::uint64_t value = value_of(config, field);
  if (field.choices.empty()) return std::to_string(value);
  return field.choices[static_cast<std::size_t>(value)];
}

std::string allowed_text(const Field& field) {
  if (field.is_word()) return field.words;
  if (!field.choices.empty()) {
    std::string text = "one of ";
    for (const char* name : field.choices) text.append(name).append(", ");
    return text.substr(0, text.size() - 2);
  }
  std::string kind = field.power_of_two ? "a power of two" : "a whole number";
  if (field.multiple_of > 1) kind = "a multiple of " + std::to_string(field.multiple_of);
  return kind + " in [" + std::to_string(field.min) + ", " + std::to_string(field.max) + "]";
}

const char* origin_text(Origin origin) noexcept {
  switch (origin) {
    case Origin::built_in: return "default";
    case Origin::environment: return "environment";
    case Origin::option: return "option";
    case Origin::derived: return "derived";
  }
  return "?";
}

Result<Config> read_config(std::span<const ph_option> options) {
  Config config;
  if (Result<> done = apply_environment(config); !done) return done.error();
  for (const ph_option& option : options) {
    if (Result<> done = apply_option(config, option); !done) return done.error();
  }
  if (Result<> done = settle(config); !done) return done.error();
  return config;
}

std::vector<std::string> environment_warnings() {
  std::vector<std::string> warnings;
  for_each_variable([&](std::string_view variable, std::string_view) {
    if (find_field(variable) || is_foreign(variable)) return;
    warnings.push_back("environment variable " + std::string(variable) +
                       " is no setting and is ignored; the nearest is " +
                       nearest(variable).environment);
  });
  return warnings;
}

Result<Config> load_config(std::span<const ph_option> options) {
  Result<Config> config = read_config(options);
  if (!config) return config;
  const Log log(config->log);
  if (!log.enabled(LogLevel::warn)) return config;
  for (const std::string& warning : environment_warnings()) {
    PHOTON_LOG(log, warn, "%s", warning.c_str());
  }
  return config;
}

}  // namespace photon::base
