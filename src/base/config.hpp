// Every setting of a context: one struct with plain members, one table that describes them
// (config_fields.cpp). The table feeds the parser, ph_setting_at() and docs/configuration.md.
// Invariant: a Config that load_config() returned is within the ranges of the table.
// Owner: the Context; never changes after creation.
#pragma once

#include <photon/context.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "base/result.hpp"

namespace photon::base {

// `automatic` is spelled "auto" in settings.
enum class Oversubscribed : std::uint8_t { automatic, yes, no };
enum class TransportChoice : std::uint8_t { automatic, shm, sim, tcp, mixed, ofi };
// The far side of the mixed transport.
enum class NetworkChoice : std::uint8_t { tcp, ofi };
enum class SimProfile : std::uint8_t { stream, mapped, rc, srd, unnamed };
// What memory a NIC keeps registered when no operation uses it.
enum class SourceCacheKeeps : std::uint8_t { registered, all };
enum class ShmCma : std::uint8_t { automatic, off, on };
enum class ShmCopies : std::uint8_t { automatic, plain, streamed, staged };
enum class Switch : std::uint8_t { off, on };
enum class ActiveMessages : std::uint8_t { polled, threaded };

// What the user writes: so many characters and a zero.
template <std::size_t kRoom>
struct Text {
  std::array<char, kRoom> characters{};

  constexpr std::string_view view() const noexcept { return characters.data(); }
  constexpr bool set(std::string_view text) noexcept {
    if (text.empty() || text.size() >= characters.size()) return false;
    characters = {};
    for (std::size_t i = 0; i < text.size(); ++i) characters[i] = text[i];
    return true;
  }
};
// The name of an interface, an address.
using Word = Text<64>;
// The name of a file.
using Path = Text<1024>;
constexpr Word word(std::string_view text) noexcept {
  Word made;
  made.set(text);
  return made;
}
constexpr Path path(std::string_view text) noexcept {
  Path made;
  made.set(text);
  return made;
}

// A name out of the list that its field has (Field::choices): an index; 0 is "auto".
enum class Pick : std::uint8_t {};

// Where a value in force came from. `derived`: adjusted by the library afterwards.
enum class Origin : std::uint8_t { built_in, environment, option, derived };

inline constexpr std::size_t kFieldsCount = 74;
// Begins the environment variable of each.
inline constexpr std::string_view kVariablePrefix = "PHOTON_";

// Defaults stand here; meanings, units and ranges in the table (config_fields.cpp).
struct Config {
  std::uint64_t max_cid_size = 8;
  std::uint64_t ledger_slots = 512;
  std::uint64_t overflow_bytes = 32 << 20;
  std::uint64_t overflow_total_bytes = 1 << 30;
  std::uint64_t ring_lines = 512;
  std::uint64_t requests = 4096;
  std::uint64_t packed_max = 192;
  std::uint64_t bulk_bytes = 2 << 20;
  std::uint64_t bulk_chunk = 32 << 10;
  std::uint64_t mapped_min = 33;  // what finds no room beside its id in one line
  std::uint64_t direct_min = 4096;
  std::uint64_t piece_bytes = 256 << 10;
  std::uint64_t posted_piece_bytes = 1 << 20;
  std::uint64_t arena_bytes = 1 << 30;
  std::uint64_t mailbox_carried_max = 64 << 10;
  std::uint64_t mailbox_early_bytes = 256 << 10;
  std::uint64_t mailbox_early_total_bytes = 64 << 20;
  Switch mailbox_refusals = Switch::on;
  Word coll = word("default");
  std::uint64_t coll_window = 16;
  std::uint64_t coll_early_bytes = 64 << 10;
  Switch coll_lines = Switch::on;
  Path coll_table = path("none");
  Switch coll_check = Switch::off;
  Pick coll_barrier{};
  Pick coll_bcast{};
  Pick coll_reduce{};
  Pick coll_allreduce{};
  Pick coll_scan{};
  Pick coll_exscan{};
  Pick coll_gather{};
  Pick coll_gatherv{};
  Pick coll_scatter{};
  Pick coll_scatterv{};
  Pick coll_allgather{};
  Pick coll_allgatherv{};
  Pick coll_alltoall{};
  Pick coll_alltoallv{};
  Pick coll_reduce_scatter_block{};
  Pick coll_reduce_scatter{};
  ActiveMessages am = ActiveMessages::polled;
  std::uint64_t am_slots = 128;
  std::uint64_t am_queue_bytes = 64 << 20;
  std::uint64_t am_record_max = 192;
  std::uint64_t am_carried_max = 32 << 10;
  std::uint64_t am_aggregate_bytes = 4096;
  std::uint64_t am_aggregate_us = 20;
  std::uint64_t max_segments = 65536;
  std::uint64_t max_regions = 131072;
  std::uint64_t max_lanes = 8;
  SourceCacheKeeps source_cache = SourceCacheKeeps::registered;
  std::uint64_t source_cache_bytes = 1 << 30;
  std::uint64_t source_cache_entries = 1024;
  std::uint64_t finalize_timeout_ms = 10000;
  std::uint64_t unregister_timeout_ms = 1000;
  std::uint64_t spin_us = 30;
  Switch progress_thread = Switch::off;
  std::uint64_t progress_silence_us = 100;
  Oversubscribed oversubscribed = Oversubscribed::automatic;
  TransportChoice transport = TransportChoice::automatic;
  NetworkChoice network = NetworkChoice::tcp;
  ShmCma shm_cma = ShmCma::automatic;
  ShmCopies shm_copies = ShmCopies::automatic;
  Word tcp_interface = word("auto");
  Word tcp_preferred = word("none");
  std::uint64_t tcp_silence_s = 30;
  Word ofi_provider = word("auto");
  Word ofi_domain = word("auto");
  std::uint64_t ofi_direct_least_bytes = 64 << 10;
  std::uint64_t sim_seed = 1;
  std::uint64_t sim_delay_ns = 1000;
  SimProfile sim_profile = SimProfile::stream;
  LogLevel log = LogLevel::warn;
  std::uint64_t stats = 0;

  std::array<Origin, kFieldsCount> origins{};          // in the order of fields()
  std::shared_ptr<const std::string> coll_table_text;  // what is in that file; null: none
};

using FieldMember =
    std::variant<std::uint64_t Config::*, Oversubscribed Config::*, TransportChoice Config::*,
                 NetworkChoice Config::*, SourceCacheKeeps Config::*, ShmCma Config::*,
                 ShmCopies Config::*, SimProfile Config::*, LogLevel Config::*, Switch Config::*,
                 ActiveMessages Config::*, Word Config::*, Path Config::*, Pick Config::*>;

// One row of the table.
struct Field {
  char name[32] = {};         // as in ph_option
  char environment[40] = {};  // PHOTON_ + upper case
  FieldMember member;
  std::uint64_t min = 0;  // numbers only
  std::uint64_t max = 0;
  std::uint64_t multiple_of = 1;
  bool power_of_two = false;
  std::span<const char* const> choices;  // by enum value; empty for numbers
  const char* words = "";                // of a Word: what it may be
  const char* help = "";                 // one sentence with the unit

  bool is_word() const noexcept {
    return std::holds_alternative<Word Config::*>(member) ||
           std::holds_alternative<Path Config::*>(member);
  }
};

std::span<const Field> fields() noexcept;
// Null: there is no setting of that name.
const Field* find_field(std::string_view name) noexcept;

// What is in force, as text that the parser would accept.
std::string value_text(const Config& config, const Field& field);
// "a power of two in [2, 65536]", "one of auto, yes, no".
std::string allowed_text(const Field& field);
const char* origin_text(Origin origin) noexcept;

// Option, else environment, else default. PH_ERR_CONFIG names the setting, its value, where it came
// from and what is allowed. Of two options with one name the later counts.
Result<Config> read_config(std::span<const ph_option> options);

// PHOTON_* variables that are neither settings nor the launcher's, each in a sentence with the
// nearest name there is.
std::vector<std::string> environment_warnings();

// read_config(), and the warnings to the log: what creating a context does.
Result<Config> load_config(std::span<const ph_option> options);

}  // namespace photon::base
