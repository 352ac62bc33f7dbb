// Copying bytes ourselves to and from a peer's memory, under an intent (sync/intent.hpp): one
// piece, what comes next of a request, or what comes next of a layout.
#include <algorithm>
#include <cstring>
#include <optional>

#include "base/finally.hpp"
#include "engine/engine.hpp"

namespace photon::engine {

namespace {

// What a small block costs, in bytes copied: work per call is bounded by it.
constexpr std::uint64_t kCallCost = 16384;  // by a system call, at the most

struct Direction {
  Rank rank;
  bool is_get;
};

struct Next {
  Layout::Run run;
  transport::Reach reach;  // of the extent of its blocks
  Place after;
};

// What is copied next, of at most so many bytes: as many blocks as are mapped, or one, for the path
// may go between two calls of the kernel.
Next look_ahead(transport::Transport& transport, Rank rank, const Layout& layout,
                std::uint64_t most) {
  Next part{{}, {}, layout.next};
  const auto first = layout.rest(part.after);
  part.reach = transport.reach(rank, first.at.address, first.size_bytes);
  if (part.reach.kind == transport::Reach::Kind::mapped) {
    part.run = layout.take(part.after, {most, most / kBlockCost + 1});
    if (part.run.count == 1) return part;
    const wire::Extent extent = part.run.extent();
    const auto all = transport.reach(rank, extent.address, extent.size_bytes);
    if (all.kind == transport::Reach::Kind::mapped) {
      part.reach = all;
      return part;
    }
    part.after = layout.next;
  }
  part.run = layout.take(part.after, {most, 1});
  return part;
}

// Under the intent, with the key looked at since it was entered.
base::Result<> copy_part(transport::Transport& transport, const Next& part,
                         const Direction& direction) {
  const Layout::Run& run = part.run;
  const std::uint64_t address = run.at.address;
  if (part.reach.kind != transport::Reach::Kind::mapped)
    return direction.is_get ? transport.read(direction.rank, address, {run.own, run.size_bytes})
                            : transport.write(direction.rank, address, {run.own, run.size_bytes});
  const BlockRow there{part.reach.local + (address - run.extent().address), run.stride};
  if (direction.is_get)
    copy_blocks(run.own_row(), there, run.size_bytes, run.count);
  else
    copy_blocks(there, run.own_row(), run.size_bytes, run.count);
  return {};
}

}  // namespace

// PH_AGAIN: as copy_piece().
ph_status Engine::copy_next(Peer& peer, Request& request, Allowance& allowed) {
  const bool is_get = request.kind == Request::Kind::get;
  if (request.layout != nullptr) {
    const ph_status status = copy_layout(peer, *request.layout, is_get, allowed);
    request.done_bytes += allowed.copied;
    return status;
  }
  const auto rest = rest_of(request);
  Piece piece{rest.at, std::min(rest.size_bytes, allowed.most)};
  piece.way = request.way;
  if (is_get)
    piece.destination = rest.own;
  else
    piece.source = rest.own;
  if (!can_copy(peer.rank, piece, rest.size_bytes)) return PH_ERR_ARGUMENT;
  const ph_status status = copy_piece(peer, piece);
  if (status != PH_OK) return status;
  allowed.spent = allowed.copied = piece.size_bytes;
  request.done_bytes += piece.size_bytes;
  return PH_OK;
}

// Copy under an intent (sync/intent.hpp), so that the owner can take the region back safely.
// PH_AGAIN: there is no path, or none any more.
ph_status Engine::copy_piece(Peer& peer, const Piece& piece) {
  const bool is_get = piece.destination != nullptr;
  const std::uint64_t bytes = piece.size_bytes;
  const auto reach = transport_->reach(peer.rank, piece.at.address, bytes);
  const std::uint32_t access = is_get ? PH_ACCESS_READ : PH_ACCESS_WRITE;
  if (!reach.is_ours_to_copy() || peer.regions == nullptr) return PH_AGAIN;
  const bool is_mapped = reach.kind == transport::Reach::Kind::mapped;
  {
    peer.link->tx_intent->enter(piece.at.key & (config_.max_regions - 1), peer.fenced);
    const base::Finally ended([&peer]() noexcept { peer.link->tx_intent->leave(); });
    const ph_status status = check_again(peer, piece.at, bytes, access);
    if (status != PH_OK) return status;
    if (is_mapped && is_get) {
      std::memmove(piece.destination, reach.local, bytes);
    } else if (is_mapped) {
      peer.store(piece.way, reach.local, piece.source, bytes);
    } else {
      auto result = is_get
                        ? transport_->read(peer.rank, piece.at.address, {piece.destination, bytes})
                        : transport_->write(peer.rank, piece.at.address, {piece.source, bytes});
      if (!result) return result.error().status == PH_AGAIN ? PH_AGAIN : fail(result.error());
    }
  }
  count(peer, is_mapped ? Count::copied_bytes : Count::kernel_bytes, bytes);
  return PH_OK;
}

// As much of what comes next as is allowed, one run after the other. Runs of one key share an
// intent. PH_AGAIN: there is no path, or none any more.
ph_status Engine::copy_layout(Peer& peer, Layout& layout, bool is_get, Allowance& allowed) {
  const std::uint32_t access = is_get ? PH_ACCESS_READ : PH_ACCESS_WRITE;
  std::optional<std::uint64_t> key;  // whose slot the intent names
  const base::Finally ended([&peer, &key]() noexcept {
    if (key) peer.link->tx_intent->leave();
  });
  ph_status status = PH_OK;
  while (status == PH_OK && allowed.spent < allowed.most && !layout.is_end(layout.next)) {
    const Next part = look_ahead(*transport_, peer.rank, layout, allowed.most - allowed.spent);
    if (!part.reach.is_ours_to_copy() || peer.regions == nullptr) {
      if (allowed.copied == 0) status = PH_AGAIN;
      break;
    }
    const Layout::Run& run = part.run;
    const wire::Extent extent = run.extent();
    const bool is_call = part.reach.kind == transport::Reach::Kind::call;
    if (run.at.key != key) {
      if (key) peer.link->tx_intent->leave();
      key = run.at.key;
      peer.link->tx_intent->enter(*key & (config_.max_regions - 1), peer.fenced);
    }
    status = check_again(peer, {extent.address, *key}, extent.size_bytes, access);
    if (status != PH_OK) break;
    if (auto copied = copy_part(*transport_, part, {peer.rank, is_get}); !copied)
      status = copied.error().status == PH_AGAIN ? PH_AGAIN : fail(copied.error());
    if (status != PH_OK) break;
    layout.next = part.after;
    allowed.copied += run.bytes();
    count(peer, is_call ? Count::kernel_bytes : Count::copied_bytes, run.bytes());
    allowed.spent += std::max(run.bytes(), run.count * (is_call ? kCallCost : kBlockCost));
  }
  return status;
}

}  // namespace photon::engine
