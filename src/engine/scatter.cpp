// Vectored puts: the bytes that we copy ourselves, and the chunks that a target scatters.
//
//   chunk in the bulk ring: table of runs | bytes of the first run | of the second | ...
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/finally.hpp"
#include "engine/engine.hpp"
#include "engine/parts/record_io.hpp"
#include "sync/private_copy.hpp"

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

// False: malformed.
bool Engine::take_scatter(Peer& peer, const wire::Header& header, Taker* taker) {
  RecordReader reader(peer.rx);
  static_cast<void>(reader.word());  // for its sender's words, should it be refused
  const std::uint64_t runs = reader.word();
  const std::uint64_t word = reader.word();
  const std::uint64_t bytes = wire::bulk_size(word);
  if (bytes > config_.bulk_bytes / 2 || runs == 0 || runs > bytes / wire::kRunBytes) return false;
  if ((word & wire::kBulkFirst) != 0) peer.begin_bulk();
  return place_runs(peer, runs, bytes) && end_chunk(peer, header, reader, taker);
}

// False: the table and the bytes behind it do not fit each other. A run that is refused is passed
// over; the first one is the verdict.
bool Engine::place_runs(Peer& peer, std::uint64_t runs, std::uint64_t bytes) {
  const std::byte* const table = peer.rx_bulk.place(bytes);
  const std::byte* data = table + runs * wire::kRunBytes;
  std::uint64_t left = bytes - runs * wire::kRunBytes;
  for (std::uint64_t i = 0; i < runs; ++i) {
    // Ours: its sender could change the table.
    const auto run = sync::private_copy<wire::Run>(table + i * wire::kRunBytes);
    const std::uint64_t size = wire::bytes_of(run);
    if (size == 0 || size > left) return false;
    left -= size;
    const auto extent = wire::extent_of(run);
    const ph_status status = !extent ? PH_ERR_RANGE
                                     : check_access(regions_, {extent->address, run.key},
                                                    extent->size_bytes, PH_ACCESS_WRITE);
    if (status == PH_OK) {
      copy_blocks({reinterpret_cast<std::byte*>(run.address), run.stride_bytes},
                  packed_row(data, run.size_bytes), run.size_bytes, run.count);
    } else if (peer.bulk_refused == PH_OK) {
      peer.bulk_refused = status;
    }
    data += size;
  }
  if (left != 0) return false;
  peer.rx_bulk.advance(bytes);
  return true;
}

// The verdict on a chunk, and the id that came with it.
bool Engine::end_chunk(Peer& peer, const wire::Header& header, RecordReader& id, Taker* taker) {
  const ph_status verdict = peer.bulk_refused;
  const auto status = static_cast<std::uint64_t>(verdict);
  if (header.kind == wire::Kind::bulk_acked || header.kind == wire::Kind::scatter_acked) {
    if (!answer(peer, {wire::Kind::ack, {status}})) return false;
  } else if (verdict != PH_OK && !std::exchange(peer.told_bulk_refused, true)) {
    if (!answer(peer, {wire::Kind::refused, {status, peer.rx.head(), 1}})) return false;
  }
  if (!header.has_id()) return true;
  if (verdict == PH_OK) return deliver(peer, id, header, taker);
  id_dropped(peer, header);
  return true;
}

}  // namespace photon::engine
