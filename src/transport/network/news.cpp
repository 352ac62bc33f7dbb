#include "transport/network/news.hpp"

#include <algorithm>
#include <utility>

namespace photon::transport::network {

void NewsQueue::take(std::vector<News>& others) {
  waiting_.insert(waiting_.end(), others.begin(), others.end());
  others.clear();
}

bool NewsQueue::has_gone() const noexcept {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const News& one) { return one.kind == News::Kind::gone; });
}

// The engine may call anything from here, so what it adds waits for the next round.
void NewsQueue::tell(Sink& sink) {
  std::swap(waiting_, telling_);
  if (order_ == Order::as_it_came) {
    for (const News& one : telling_) tell(one, sink);
  } else {
    for (const News& one : telling_)
      if (is_early(one)) tell(one, sink);
    for (const News& one : telling_)
      if (!is_early(one)) tell(one, sink);
  }
  telling_.clear();
}

void NewsQueue::tell(const News& one, Sink& sink) {
  NetworkPeer* peer = one.peer;
  const bool is_mine = peer != nullptr && !peer->is_released;
  switch (one.kind) {
    case News::Kind::done: sink.on_done(one.token, one.status); break;
    case News::Kind::link:
      if (!is_mine) break;
      peer->link->set_answered();  // here: the engine reads its Link without our lock
      sink.on_link(peer->rank);
      break;
    case News::Kind::activity:
      if (peer != nullptr) peer->is_touched = false;
      if (is_mine) sink.on_activity(peer->rank);
      break;
    case News::Kind::fragment:
      if (is_mine) sink.on_fragment(peer->rank, one.imm);
      break;
    case News::Kind::gone:
      if (!is_mine || std::exchange(peer->is_gone_told, true)) break;
      sink.on_gone(peer->rank, peer->why);
      break;
  }
}

}  // namespace photon::transport::network
