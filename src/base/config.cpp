#include "base/config.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/unique_fd.hpp"

namespace photon::base {
namespace {

// Variables that are not settings: the launcher's, and those of tests and tools.
constexpr std::string_view kForeignNames[] = {"PHOTON_RANK", "PHOTON_SIZE", "PHOTON_JOB"};
constexpr std::string_view kForeignPrefixes[] = {"PHOTON_LAUNCH", "PHOTON_TEST_", "PHOTON_STRESS_",
                                                 "PHOTON_BENCH_"};

// Of a field that is no Word.
std::uint64_t value_of(const Config& config, const Field& field) {
  return std::visit(
      [&](auto member) -> std::uint64_t {
        using Value = std::remove_cvref_t<decltype(config.*member)>;
        if constexpr (std::is_same_v<Value, Word> || std::is_same_v<Value, Path>)
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
        if constexpr (!std::is_same_v<Value, Word> && !std::is_same_v<Value, Path>)
          config.*member = static_cast<Value>(value);
      },
      field.member);
}

// Of a field that is a Word or a Path.
bool assign_text(Config& config, const Field& field, std::string_view text) {
  if (const auto* const member = std::get_if<Word Config::*>(&field.member))
    return (config.*(*member)).set(text);
  return (config.*std::get<Path Config::*>(field.member)).set(text);
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

std::size_t place_of(const Field& field) {
  return static_cast<std::size_t>(&field - fields().data());
}

struct Given {
  std::string_view text;
  Origin origin;
};

Result<> set(Config& config, const Field& field, Given given) {
  const bool is_word = field.is_word();
  const auto value = is_word ? std::optional<std::uint64_t>() : parse(field, given.text);
  if (is_word ? !assign_text(config, field, given.text) : !value) {
    return config_error("setting " + std::string(field.name) + " = \"" + std::string(given.text) +
                        "\" (" + source_text(field, given.origin) + ") must be " +
                        allowed_text(field));
  }
  if (!is_word) assign(config, field, *value);
  config.origins[place_of(field)] = given.origin;
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
  const Field* best = fields().data();
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const Field& field : fields()) {
    const std::size_t distance =
        std::min(edit_distance(text, field.name), edit_distance(text, field.environment));
    if (distance < best_distance) best = &field;
    best_distance = std::min(best_distance, distance);
  }
  return *best;
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
    if (!text.starts_with(kVariablePrefix) || equals == std::string_view::npos) continue;
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

// A number that was given must fit; one that was not is made to fit.
Result<> keep_below(Config& config, std::string_view name, std::uint64_t Config::*member,
                    std::uint64_t largest, const std::string& what) {
  const Field& field = *find_field(name);
  Origin& origin = config.origins[place_of(field)];
  if (config.*member <= largest) return {};
  if (origin == Origin::built_in) {
    config.*member = largest;
    origin = Origin::derived;
    return {};
  }
  return config_error("setting " + std::string(name) + " = \"" + std::to_string(config.*member) +
                      "\" (" + source_text(field, origin) + ") must be at most " + what);
}

// Handlers run beside the caller in the progress thread alone.
Result<> settle_thread(Config& config) {
  if (config.am != ActiveMessages::threaded || config.progress_thread == Switch::on) return {};
  const Field& thread = *find_field("progress_thread");
  Origin& origin = config.origins[place_of(thread)];
  if (origin != Origin::built_in)
    return config_error("setting progress_thread = \"off\" (" + source_text(thread, origin) +
                        ") must be on where am = threaded");
  config.progress_thread = Switch::on;
  origin = Origin::derived;
  return {};
}

// Rules between settings.
Result<> settle(Config& config) {
  Result<> done = keep_below(config, "bulk_chunk", &Config::bulk_chunk, config.bulk_bytes / 4,
                             "a quarter of bulk_bytes = " + std::to_string(config.bulk_bytes));
  if (done)
    done =
        keep_below(config, "am_aggregate_bytes", &Config::am_aggregate_bytes, config.am_carried_max,
                   "am_carried_max = " + std::to_string(config.am_carried_max));
  return done ? settle_thread(config) : done;
}

// The file is read once, so that all lanes have the same.
Result<> read_table(Config& config) {
  constexpr std::size_t kMostBytes = 1 << 20;
  const std::string_view name = config.coll_table.view();
  if (name == "none") return {};
  const auto refuse = [&](const std::string& why) {
    const Field& field = *find_field("coll_table");
    return config_error("setting coll_table = \"" + std::string(name) + "\" (" +
                        source_text(field, config.origins[place_of(field)]) + "): " + why);
  };
  const UniqueFd file(::open(config.coll_table.characters.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return refuse(std::string("it cannot be opened: ") + std::strerror(errno));
  std::string text(kMostBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(std::string("it cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMostBytes) return refuse("it is larger than 1 MiB, and so no table");
  text.resize(size);
  config.coll_table_text = std::make_shared<const std::string>(std::move(text));
  return {};
}

}  // namespace

const Field* find_field(std::string_view text) noexcept {
  const auto is_named = [&](const Field& f) { return text == f.name || text == f.environment; };
  const auto found = std::ranges::find_if(fields(), is_named);
  return found == fields().end() ? nullptr : &*found;
}

std::string value_text(const Config& config, const Field& field) {
  if (const auto* const word = std::get_if<Word Config::*>(&field.member))
    return std::string((config.*(*word)).view());
  if (const auto* const path = std::get_if<Path Config::*>(&field.member))
    return std::string((config.*(*path)).view());
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
  if (Result<> done = read_table(config); !done) return done.error();
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
