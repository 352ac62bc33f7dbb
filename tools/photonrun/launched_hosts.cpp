#include "launched_hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "job_key.hpp"
#include "look_up.hpp"

namespace photonrun {
namespace {

News news_of(const HostProcess& host_process) {
  const End& end = *host_process.end();
  return {.kind = FrameKind::failed,
          .value = end.by_signal ? end.status() : kLauncherStatus,
          .end = {},
          .text = host_process.breakdown()};
}

std::string new_key() {
  std::string key;
  for (const std::byte byte : random_nonce()) {
    char digits[3];
    (void)std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(byte));
    key += digits;
  }
  return key;
}

std::vector<Seat> seats_of(const Options& options) {
  const std::vector<unsigned> counts = spread(options.hosts, options.size);
  std::vector<Seat> seats;
  // Where the last hosts are not needed they are left alone.
  for (std::size_t i = 0; i < counts.size() && counts[i] > 0; ++i) {
    seats.push_back({.name = options.hosts[i].name, .ranks = counts[i]});
  }
  return seats;
}

// How each of them reaches us: at the address from which we would talk to it; if only ssh knows
// what it is called, at one that others are likely to reach.
std::vector<std::string> own_names(const Options& options, std::size_t count,
                                   const StartupWait& startup_wait) {
  const std::string given = options.root.empty() ? "" : parse_host_port(options.root).host;
  if (!given.empty()) return {count, given};
  const auto until =
      StartupWait::Clock::now() + kLookUpTime;  // for all: what serves no name is down
  std::vector<std::string> names;
  std::string outward;
  for (std::size_t i = 0; i < count; ++i) {
    const HostSlots& host = options.hosts[i];
    const std::string called = host.is_here() ? "localhost" : host.host();
    const Found found = look_up({.host = called, .port = "9"}, 0, startup_wait, until);
    names.push_back(address_towards(found.targets));
    if (!names.back().empty()) continue;
    if (outward.empty())
      outward = outward_address(startup_wait, StartupWait::Clock::now() + kLookUpTime);
    startup_wait.say(
        fmt::format("where {} is cannot be looked up here; it is told to join at {} (--root "
                    "says another address)",
                    called, outward));
    names.back() = outward;
  }
  return names;
}

// Open to no more networks than is needed.
std::vector<Fd> listen_for(const Options& options, const std::vector<std::string>& names,
                           const StartupWait& startup_wait) {
  if (!options.root.empty()) return listen_at(parse_host_port(options.root), startup_wait);
  const bool is_one =
      std::ranges::all_of(names, [&](const std::string& name) { return name == names.front(); });
  if (is_one) return listen_at({.host = names.front(), .port = "0"}, startup_wait);
  const bool has_six = std::ranges::any_of(
      names, [](const std::string& name) { return name.find(':') != std::string::npos; });
  // "::" takes IPv4 as well.
  return listen_at({.host = has_six ? "::" : "0.0.0.0", .port = "0"}, startup_wait);
}

}  // namespace

LaunchedHosts::LaunchedHosts(const Share& share, std::size_t fds_limit, std::vector<Joined> joined,
                             std::unique_ptr<HostLauncher> host_launcher)
    : RootHosts(share, fds_limit, std::move(joined)), host_launcher_(std::move(host_launcher)) {
  host_launcher_->begin();
}

void LaunchedHosts::want(std::vector<pollfd>& entries) {
  RootHosts::want(entries);
  host_launcher_->want(entries);
}

std::vector<News> LaunchedHosts::handle(const std::vector<pollfd>& entries) {
  host_launcher_->read(entries);
  std::vector<News> news = RootHosts::handle(entries);
  const bool has_failure = std::ranges::any_of(news, [](const News& one) {
    return one.kind == FrameKind::failed || (one.kind == FrameKind::ended && one.end.failed());
  });
  if (const HostProcess* const broken = has_failure ? host_launcher_->settle() : nullptr) {
    news.insert(news.begin(), news_of(*broken));
  }
  return news;
}

std::vector<News> LaunchedHosts::reaped(pid_t pid, int wait_status) {
  const HostProcess* const broken = host_launcher_->reaped(pid, wait_status);
  return broken ? std::vector<News>{news_of(*broken)} : std::vector<News>{};
}

int LaunchedHosts::close(int status, TimeLimit limit) {
  RootHosts::close(status, limit);
  try {
    return host_launcher_->finish(status, limit);
  } catch (const Interrupted& by) {  // whoever waits wants no more
    return status == 0 ? by.status : status;
  }
}

std::unique_ptr<Hosts> start_hosts(const HostLaunchPlan& plan, const StartupWait& startup_wait,
                                   std::size_t fds_limit) {
  forget_job_key();  // each such job has its own
  const std::vector<Seat> seats = seats_of(plan.options);
  std::vector<std::string> places = own_names(plan.options, seats.size(), startup_wait);
  std::vector<Fd> listeners = listen_for(plan.options, places, startup_wait);
  const std::string port = parse_host_port(own_address(listeners.front().get())).port;
  for (std::string& place : places) place = HostPort{.host = place, .port = port}.text();
  const std::string key = new_key();
  auto host_launcher = std::make_unique<HostLauncher>(plan, startup_wait);
  HostAcceptor acceptor(std::move(listeners), key, seats, *host_launcher, startup_wait);
  host_launcher->start(seats, places, key);
  std::vector<Joined> joined = acceptor.run(plan.options.wait_s.value_or(kRootWaitS));
  const Share share{.size = plan.options.size, .first = 0, .here = 0};
  return std::make_unique<LaunchedHosts>(share, fds_limit, std::move(joined),
                                         std::move(host_launcher));
}

}  // namespace photonrun
