#include "hosts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace photonrun {
namespace {

constexpr auto kLastWordTime = std::chrono::seconds(3);

Frame frame_of(FrameKind kind, int value, std::string_view words) {
  const bool has_words = kind == FrameKind::end || kind == FrameKind::failed;
  return has_words ? words_frame(kind, value, words) : plain_frame(kind, {}, value);
}

std::shared_ptr<HeldFds> held_of(std::size_t fds_limit) {
  return std::make_shared<HeldFds>(HeldFds{.limit = fds_limit, .count = 0});
}

std::string ranks_text(const Share& share) {
  if (share.here == 1) return fmt::format("rank {}", share.first);
  return fmt::format("ranks {}-{}", share.first, share.first + share.here - 1);
}

// Our addresses on the ways to those who joined: each once, and no more than a setting holds.
std::string met_by(const std::vector<Joined>& joined) {
  constexpr std::size_t kMostBytes = 63;
  std::vector<std::string> hosts;
  std::string text;
  for (const Joined& one : joined) {
    const std::string host = own_host(one.socket.get());
    if (std::ranges::find(hosts, host) != hosts.end()) continue;
    if (text.size() + 1 + host.size() > kMostBytes) break;
    text += (text.empty() ? "" : " ") + host;
    hosts.push_back(host);
  }
  return text;
}

}  // namespace

SingleHost::SingleHost(unsigned size, std::size_t fds_limit)
    : share_{.size = size, .first = 0, .here = size},
      generations_(
          [share = share_, held = held_of(fds_limit), secret = make_secret()](unsigned generation) {
            return std::make_unique<Router>(share, held, term_of(generation, secret));
          }) {}

RootHosts::RootHosts(const Share& share, std::size_t fds_limit, std::vector<Joined> joined)
    : share_(share),
      secret_(make_secret()),
      met_(met_by(joined)),
      hosts_(start(share, secret_, std::move(joined))),
      generations_([this, held = held_of(fds_limit)](unsigned generation) {
        auto router = std::make_unique<Router>(share_, held, term_of(generation, secret_));
        for (const Host& host : hosts_) router->add_host(host.share, *host.connection);
        return router;
      }) {}

std::vector<RootHosts::Host> RootHosts::start(const Share& share, const Secret& secret,
                                              std::vector<Joined> joined) {
  std::vector<Host> hosts;
  unsigned next = share.here;
  for (Joined& one : joined) {
    Host& host = hosts.emplace_back();
    host.connection = std::make_unique<HostConnection>(std::move(one.socket), one.name);
    host.share = {.size = share.size, .first = next, .here = one.ranks};
    host.ended.resize(one.ranks);
    host.running_count = one.ranks;
    Start start{.size = share.size, .first = next, .here = one.ranks, .hidden_secret = secret};
    apply_mask(one.mask, start.hidden_secret);
    host.connection->queue(start_frame(start));
    std::vector<pollfd> ignored;
    host.connection->want(ignored);  // it leaves now: our own ranks may take long to start
    next += one.ranks;
  }
  return hosts;
}

void RootHosts::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  for (Host& host : hosts_) host.connection->want(entries);
}

std::vector<News> RootHosts::handle(const std::vector<pollfd>& entries) {
  std::vector<News> news;
  std::size_t at = first_entry_;
  for (Host& host : hosts_) {
    host.connection->handle(entries[at++]);
    while (auto frame = host.connection->next()) {
      if (!take(host, std::move(*frame), news))
        host.connection->lose("it sent what makes no sense");
    }
    if (host.connection->is_lost()) lose(host, news);
  }
  return news;
}

bool RootHosts::take(Host& host, Frame frame, std::vector<News>& news) {
  const FrameHead head = frame.head;
  if (head.kind == FrameKind::signal || head.kind == FrameKind::failed) {
    if (head.kind == FrameKind::signal && !ends_job(head.value)) return false;
    const std::string words = words_of(frame);
    news.push_back({.kind = head.kind,
                    .value = head.kind == FrameKind::signal ? head.value : kLauncherStatus,
                    .end = {},
                    .text = words.empty()
                                ? host.connection->name()
                                : fmt::format("{}, on {}", words, host.connection->name())});
    return true;
  }
  if (!host.share.has(head.rank)) return false;
  return head.kind == FrameKind::ended ? take_end(host, frame, news)
                                       : generations_.handle_frame(std::move(frame));
}

bool RootHosts::take_end(Host& host, const Frame& frame, std::vector<News>& news) {
  const unsigned rank = frame.head.rank;
  const auto body = end_of(frame);
  if (!body || host.ended[rank - host.share.first]) return false;
  host.ended[rank - host.share.first] = true;
  --host.running_count;
  const End end{
      .by_signal = body->by_signal != 0, .value = body->value, .exec_errno = body->exec_errno};
  generations_.rank_ended(rank, gone_of(end));
  news.push_back({.kind = FrameKind::ended,
                  .rank = rank,
                  .end = end,
                  .text = fmt::format("{}, on {}", words_of(frame), host.connection->name())});
  return true;
}

void RootHosts::lose(Host& host, std::vector<News>& news) {
  if (std::exchange(host.is_lost, true) || host.running_count == 0) return;
  const std::string text = fmt::format("lost {}, and {} with it: {}", host.connection->name(),
                                       ranks_text(host.share), host.connection->why_lost());
  news.push_back({.kind = FrameKind::failed, .value = 128 + SIGKILL, .end = {}, .text = text});
  const End end{.by_signal = true, .value = SIGKILL};
  for (unsigned i = 0; i < host.share.here; ++i) {
    if (host.ended[i]) continue;
    const unsigned rank = host.share.first + i;
    host.ended[i] = true;
    generations_.rank_ended(rank, gone_of(end));
    news.push_back(
        {.kind = FrameKind::ended, .rank = rank, .end = end, .text = text, .is_told = true});
  }
  host.running_count = 0;
}

bool RootHosts::waits() const {
  return std::ranges::any_of(hosts_, [](const Host& host) { return host.running_count > 0; });
}

bool RootHosts::runs(unsigned rank) const {
  return std::ranges::any_of(hosts_, [rank](const Host& host) {
    return host.share.has(rank) && !host.ended[rank - host.share.first];
  });
}

void RootHosts::tell(FrameKind kind, int value, std::string_view words) {
  const Frame frame = frame_of(kind, value, words);
  for (Host& host : hosts_) host.connection->queue(frame);
}

std::vector<std::string> RootHosts::give_up() {
  std::vector<News> news;
  for (Host& host : hosts_) {
    if (host.running_count == 0) continue;
    host.connection->lose("it does not end its ranks");
    lose(host, news);
  }
  std::vector<std::string> texts;
  for (News& one : news)
    if (!one.is_told) texts.push_back(std::move(one.text));
  return texts;
}

int RootHosts::close(int status, TimeLimit) {
  tell(FrameKind::over, status, {});
  std::vector<HostConnection*> connections;
  for (const Host& host : hosts_) connections.push_back(host.connection.get());
  HostConnection::close_all(connections, kLastWordTime);
  return status;
}

LeafHosts::LeafHosts(Membership membership, std::size_t fds_limit)
    : share_(membership.share),
      met_(std::move(membership.met)),
      connection_(std::move(membership.connection)),
      generations_(
          [this, held = held_of(fds_limit), secret = membership.secret](unsigned generation) {
            return std::make_unique<Relay>(share_, held, term_of(generation, secret), *connection_);
          }) {}

// The exchange asks first: what it has to tell the root leaves now.
void LeafHosts::want(std::vector<pollfd>& entries) {
  first_entry_ = entries.size();
  connection_->want(entries);
}

std::vector<News> LeafHosts::handle(const std::vector<pollfd>& entries) {
  std::vector<News> news;
  connection_->handle(entries[first_entry_]);
  while (auto frame = connection_->next()) {
    if (!take(std::move(*frame), news)) connection_->lose("it sent what makes no sense");
  }
  if (connection_->is_lost() && !std::exchange(over_, true)) {
    news.push_back(
        {.kind = FrameKind::failed,
         .value = kLauncherStatus,
         .end = {},
         .text = fmt::format("lost {}: {}", connection_->name(), connection_->why_lost())});
  }
  return news;
}

bool LeafHosts::take(Frame frame, std::vector<News>& news) {
  const FrameHead head = frame.head;
  switch (head.kind) {
    case FrameKind::packet:
    case FrameKind::finish:
    case FrameKind::taken: return generations_.handle_frame(std::move(frame));
    case FrameKind::end:
    case FrameKind::kill:
    case FrameKind::signal:
    case FrameKind::over:
      if (head.kind == FrameKind::over) over_ = true;
      news.push_back({.kind = head.kind, .value = head.value, .end = {}, .text = words_of(frame)});
      return true;
    default: return false;
  }
}

void LeafHosts::tell(FrameKind kind, int value, std::string_view words) {
  connection_->queue(frame_of(kind, value, words));
  if (kind == FrameKind::failed) over_ = true;
}

void LeafHosts::tell_ended(unsigned rank, const End& end, std::string_view words) {
  const EndBody body{
      .by_signal = end.by_signal ? 1U : 0U, .value = end.value, .exec_errno = end.exec_errno};
  connection_->queue(ended_frame(rank, body, words));
}

int LeafHosts::close(int status, TimeLimit) {
  HostConnection::close_all({connection_.get()}, kLastWordTime);
  return status;
}

}  // namespace photonrun
