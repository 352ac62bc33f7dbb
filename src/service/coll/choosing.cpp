#include "service/coll/choosing.hpp"

#include <algorithm>
#include <cstring>

namespace photon::service::coll {

namespace {

using schedule::Choices;
using schedule::NamedKind;

base::Log log_for(const Port& port) noexcept { return base::Log(port.config().log, port.rank()); }

// What api/ has refused already is not there; where it was not asked, what is built in is taken.
Choices choices_or_built_in(const base::Config& config) {
  auto read = choices_of(config);
  return read ? *read : Choices();
}

// FNV-1a over who is on whose host, as it is known here.
std::uint64_t hash_of_hosts(const Team& team) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325 ^ static_cast<std::uint64_t>(team.layout);
  if (team.hosts == nullptr) return hash;
  for (std::uint32_t member = 0; member < team.size(); ++member) {
    hash = (hash ^ team.hosts->of(member)) * 0x100000001b3;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

base::Result<Choices> choices_of(const base::Config& config) {
  Choices choices;
  if (config.coll_table_text != nullptr) {
    auto parsed = Choices::parse(*config.coll_table_text);
    if (!parsed) {
      parsed.error().what = "setting coll_table = \"" + std::string(config.coll_table.view()) +
                            "\": " + parsed.error().what;
      return parsed.error();
    }
    choices = *parsed;
  }
  for (NamedKind kind = 0; kind < schedule::kNamedKinds; ++kind) {
    const std::string setting = std::string("coll_") + schedule::name_of_kind(kind);
    const base::Field* const field = base::find_field(setting);
    if (field == nullptr) continue;
    const std::string value = base::value_text(config, *field);
    if (value == "auto") continue;
    const auto algorithm = schedule::find_algorithm(value);
    base::Result<> named = base::Error{PH_ERR_CONFIG, 0, "no such algorithm", PH_ANY_RANK};
    if (algorithm) named = choices.name(kind, *algorithm);
    if (!named) {
      std::string where = "setting ";
      where.append(setting).append(" = \"").append(value).append("\": ");
      named.error().what.insert(0, where);
      return named.error();
    }
  }
  return choices;
}

Choosing::Choosing(Port& port)
    : log_(log_for(port)),
      checks_(port.config().coll_check == base::Switch::on),
      choices_(choices_or_built_in(port.config())) {}

// All members come to the same: of one host each knows who is there; of several either all know all
// (the bootstrap does, or they have told), or none does.
void Choosing::lay_out(const Port& port, Team& team, std::vector<Rank> names) {
  const bool is_one_host =
      std::all_of(team.members.begin(), team.members.end(),
                  [&](const Member& member) { return port.is_here(member.rank); });
  if (is_one_host) return;
  team.layout = schedule::Layout::several_hosts;
  if (names.empty())
    for (const Member& member : team.members) names.push_back(port.host_of(member.rank));
  if (std::find(names.begin(), names.end(), PH_ANY_RANK) != names.end()) return;
  team.hosts = std::make_unique<const schedule::Hosts>(names);
}

void Choosing::begun(const Plan& plan) noexcept {
  const NamedKind kind = plan.kind;
  tally_.count(kind, plan.call.algorithm, plan.size_bytes);
  if (!plan.choice.is_instead() || was_said_[kind]) return;
  was_said_[kind] = true;
  say_instead(plan);
}

// Of a table less is expected than of a setting that names one.
void Choosing::say_instead(const Plan& plan) const noexcept {
  const bool is_named = plan.choice.source == schedule::Source::setting;
  const base::LogLevel level = is_named ? base::LogLevel::warn : base::LogLevel::info;
  if (!log_.enabled(level)) return;
  const char* const kind = schedule::name_of_kind(plan.kind);
  log_.write(level, "%s is done by %s: %s%s%s cannot do it among %u members%s%s", kind,
             schedule::name_of(plan.choice.algorithm), is_named ? "coll_" : "",
             is_named ? kind : "the table's", is_named ? " names one that" : " choice",
             plan.call.size, plan.call.in_order ? ", reproducible" : "",
             plan.call.keeps_order ? ", by a function that does not commute" : "");
}

void Choosing::print() const noexcept {
  tally_.each([&](NamedKind kind, schedule::Algorithm algorithm, const Tally::Row& row) {
    log_.write(base::LogLevel::info, "stats: %s by %s: %llu operations, %llu bytes",
               schedule::name_of_kind(kind), schedule::name_of(algorithm),
               static_cast<unsigned long long>(row.operations),
               static_cast<unsigned long long>(row.bytes));
  });
}

std::uint64_t Choosing::hash_for(const Team& team) const noexcept {
  return choices_.hash() ^ hash_of_hosts(team);
}

ph_status Choosing::tell(Post& post, const Team& team) const {
  if (team.size() == 1) return PH_OK;
  const Member& next = team.members[(team.own + 1) % team.size()];
  const HeadWords head =
      encode({static_cast<std::uint8_t>(Op::choices), {next.slot, team.number, 0, 0, 0}, 0});
  const std::uint64_t words[] = {head[0], head[1], head[2], hash_for(team)};
  return post.words(next.rank, words);
}

bool Choosing::hear(const Message& message, const Team& team, std::uint32_t member,
                    Blame& why) const {
  std::uint64_t words[4];
  if (message.header.size() != sizeof words || !message.payload.empty()) return false;
  std::memcpy(words, message.header.data(), sizeof words);
  const std::uint64_t own = hash_for(team);
  if (words[3] == own) return true;
  why.status = PH_ERR_ARGUMENT;
  why.member = member;
  why.own.kind = why.other.kind = kChoicesKind;
  why.own.member = member;
  why.own.count = words[3];
  why.other.member = team.own;
  why.other.count = own;
  return true;
}

}  // namespace photon::service::coll
