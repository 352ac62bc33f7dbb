// Vectored puts: the bytes that we copy ourselves, and the chunks that a target scatters.
//
//   chunk in the bulk ring: table of runs | bytes of the first run | of the second | ...
#include <algorithm>
#include <cstring>

#include "base/finally.hpp"
#include "engine/engine.hpp"
#include "engine/record_io.hpp"
#include "sync/private_copy.hpp"

namespace photon::engine {

namespace {

// What a small block costs, in bytes copied: work per call is bounded by it.
constexpr std::uint64_t kCallCost = 16384;  // by a system call, at the most

struct Way {
  Rank rank;
  bool is_get;
};

// Under the intent, with the key looked at since it was entered.
base::Result<> copy_run(transport::Transport& transport, const transport::Reach& reach,
                        const Layout::Run& run, const Way& way) {
  if (reach.kind == transport::Reach::Kind::mapped) {
    const BlockRow there{reach.local + (run.at.address - run.extent().address), run.stride};
    if (way.is_get)
      copy_blocks(run.own_row(), there, run.size_bytes, run.count);
    else
      copy_blocks(there, run.own_row(), run.size_bytes, run.count);
    return {};
  }
  for (std::uint64_t i = 0; i < run.count; ++i) {
    std::byte* const own = run.own_block(i);
    const std::uint64_t address = run.at.address + i * static_cast<std::uint64_t>(run.stride);
    auto result = way.is_get ? transport.read(way.rank, address, {own, run.size_bytes})
                             : transport.write(way.rank, address, {own, run.size_bytes});
    if (!result) return result;
  }
  return {};
}

}  // namespace

// As much of what comes next as is allowed, one run after the other. Runs of one key share an
// intent.
ph_status Engine::copy_layout(Peer& peer, Layout& layout, bool is_get, Allowance& allowed) {
  const std::uint32_t access = is_get ? PH_ACCESS_READ : PH_ACCESS_WRITE;
  std::optional<std::uint64_t> key;  // whose slot the intent names
  const base::Finally ended([&peer, &key]() noexcept {
    if (key) peer.link->tx_intent->leave();
  });
  ph_status status = PH_OK;
  while (status == PH_OK && allowed.spent < allowed.most && !layout.is_end(layout.next)) {
    const std::uint64_t left = allowed.most - allowed.spent;
    Place after = layout.next;
    const auto first = layout.rest(after);
    auto reach = transport_->reach(peer.rank, first.at.address, first.size_bytes);
    const bool is_call = reach.kind == transport::Reach::Kind::call;
    // A call at a time: the path may go in between.
    const auto run = layout.take(after, {left, is_call ? 1 : left / kBlockCost + 1});
    const wire::Extent extent = run.extent();
    if (!is_call) reach = transport_->reach(peer.rank, extent.address, extent.size_bytes);
    if (!reach.is_ours_to_copy() || peer.regions == nullptr) {
      if (allowed.copied == 0)
        status = fail(PH_ERR_PEER, peer.rank, "the path to the peer's memory is gone");
      break;
    }
    if (run.at.key != key) {
      if (key) peer.link->tx_intent->leave();
      key = run.at.key;
      peer.link->tx_intent->enter(*key & (config_.max_regions - 1), peer.fenced);
    }
    status = check_again(peer, {extent.address, *key}, extent.size_bytes, access);
    if (status != PH_OK) break;
    if (auto copied = copy_run(*transport_, reach, run, {peer.rank, is_get}); !copied)
      status = fail(copied.error());
    if (status != PH_OK) break;
    layout.next = after;
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
  if ((word & wire::kBulkFirst) != 0) peer.bulk_refused = PH_OK;
  return place_runs(peer, runs, bytes) && end_chunk(peer, header, word, reader, taker);
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

}  // namespace photon::engine
