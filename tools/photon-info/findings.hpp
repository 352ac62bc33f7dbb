// What photon-info found out: plain values, gathered first and printed afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <photon/photon.hpp>

namespace photon_info {

struct Setting {
  std::string name;
  std::string environment;
  std::string value;
  std::string origin;
  std::string help;
};

// A transport of this library, tried by creating a job of one rank on it.
struct Transport {
  std::string name;
  bool is_usable = false;
  std::string reason;  // the error, if not usable
};

struct Path {
  photon::Rank from = 0;
  photon::Rank rank = 0;  // to
  std::string transport;
  std::string state;
  bool same_process = false;
  bool cma = false;
  bool arena_mapped = false;
  std::string reason;
  std::string problem;  // what went wrong when it was tried; usually empty
};

// The peers that are connected, by how they are reached; as ph_counters() has it.
struct PeerCount {
  std::string name;
  std::string help;
  std::uint64_t value = 0;
};

// A system call that the kernel or a sandbox refuses to this process.
struct RefusedCall {
  std::string name;
  std::string why;
  std::string without;  // what happens for want of it
};

struct Limit {
  std::string name;
  std::optional<std::uint64_t> value;  // none: unlimited
  std::string needs;                   // what counts, and who needs it
};

// Who does a collective operation, and how.
struct CollCase {
  std::uint32_t members = 2;
  bool has_several_hosts = false;
  bool is_reproducible = false;
};

// From so many bytes on, up to the next of the same kind and case.
struct CollChoice {
  std::string kind;
  CollCase where;
  std::uint64_t bytes = 0;
  std::string algorithm;
  std::string wanted;  // another one, which cannot do it
  std::string source;  // of what is wanted: setting, table, built-in
};

struct Findings {
  std::string version;
  bool is_launched = false;  // by a launcher; else the paths are those of a pair made to try them
  photon::Rank rank = 0;
  bool is_of_all = false;  // the paths are those of every rank
  std::uint32_t size = 1;
  std::vector<Setting> settings;
  std::vector<Transport> transports;
  std::vector<Path> paths;
  std::vector<PeerCount> peers;  // of this rank
  std::vector<RefusedCall> refused_calls;
  std::vector<Limit> limits;
  std::vector<Limit> mailbox_limits;
  std::vector<Limit> am_limits;
  std::vector<CollChoice> coll;  // with --coll alone
  std::string problem;           // the job could not be formed
};

std::string version_text();

// Settings in force in `context`; null: those that a context created now would have.
std::vector<Setting> find_settings(const ph_context* context);

std::vector<Transport> find_transports();

// Of each kind, for each number of members, on one host and on several.
std::vector<CollChoice> find_coll_choices(photon::Context& context,
                                          const std::vector<std::uint32_t>& members);

// The system calls of start-up and contact that are refused, and the limits in force.
std::vector<RefusedCall> find_refused_calls();
std::vector<Limit> find_limits();
std::vector<Limit> find_mailbox_limits();
std::vector<Limit> find_am_limits();

// Collective: every rank puts to every other; how it went from here.
struct Tried {
  std::vector<Path> paths;
  std::vector<PeerCount> peers;
};
Tried try_paths(photon::Context& context);
// Collective: those that each rank has found, for everybody.
std::vector<Path> gather_paths(photon::Context& context, const std::vector<Path>& own);

}  // namespace photon_info
