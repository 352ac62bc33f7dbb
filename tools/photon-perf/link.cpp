#include "link.hpp"

#include <algorithm>
#include <charconv>

#include "checksum.hpp"

namespace photon::perf {
namespace {

std::uint64_t setting_of(const Job& job, std::string_view name, std::uint64_t otherwise) {
  const auto text = job.setting(name, "");
  std::uint64_t value = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool wants_fresh(const Bench& bench, const Link::Shape& shape) {
  return shape.may_be_fresh && bench.options.buffers == BufferKind::fresh;
}

// One-word messages have a source each (streams.cpp numbers them), and fresh ones; others share
// one.
std::size_t sources_of(const Bench& bench, const Link::Shape& shape) {
  const bool has_each = wants_fresh(bench, shape) || shape.size_bytes == sizeof(std::uint64_t);
  return has_each ? std::max(shape.slots, kWindow) : 1;
}

}  // namespace

Link::Link(Bench& bench, Team& team, Shape shape)
    : job_(&bench.job),
      team_(&team),
      shape_(shape),
      source_(bench.job, shape.kind, sources_of(bench, shape) * shape.size_bytes),
      landing_(bench.job, shape.kind, shape.slots * shape.size_bytes),
      inbox_(bench.job) {
  buffers_.size_bytes = shape.size_bytes;
  buffers_.source = source_.data();
  buffers_.is_fresh = wants_fresh(bench, shape);
  if (buffers_.is_fresh) buffers_.source_stride = shape.size_bytes;
  for (std::size_t slot = 0; slot < kWindow; ++slot) {
    buffers_.landing[slot] = landing(slot % shape.slots);
  }
  fill_pattern(source_.data(), shape.size_bytes, team.index() + 1);
  meet();
  introduce(team, buffers_);

  struct Card {
    ph_region source;
    ph_region landing;
  };
  team.exchange(Card{source_.region(), landing_.region()});
  const auto theirs = team.card_of<Card>(team.other());
  peer_source_ = theirs.source;
  peer_landing_ = theirs.landing;
}

// One message each way: paths are made at first contact. A reply, so that none is still under way
// when its sender stops probing.
void Link::meet() {
  const auto greet = [&] { inbox_.post([&] { return notify(0); }, "making contact"); };
  team_->barrier();  // nobody probes for the row before any more
  if (team_->index() == 0) greet();
  inbox_.await_remote();
  if (team_->index() != 0) greet();
}

std::string Link::put_mode() const {
  if (shape_.size_bytes == 0) return "notify";
  const auto path = job_->path_to(peer());
  const bool mapped =
      path.same_process != 0 || (path.arena_mapped != 0 && shape_.kind == MemoryKind::alloc);
  const bool is_moved =
      transport() == "ofi" &&
      std::string_view(path.reason).find("by the provider") != std::string_view::npos &&
      shape_.size_bytes >= setting_of(*job_, "ofi_direct_least_bytes", UINT64_MAX);
  const bool posted = (transport() == "tcp" || is_moved) &&
                      shape_.size_bytes >= setting_of(*job_, "direct_min", UINT64_MAX);
  if (posted) return "posted";
  if (mapped && shape_.size_bytes >= setting_of(*job_, "mapped_min", UINT64_MAX)) return "direct";
  // From there on the engine takes the way that was faster last time.
  if (path.cma != 0 && shape_.size_bytes / 2 >= setting_of(*job_, "bulk_bytes", UINT64_MAX))
    return "bulk or CMA";
  return shape_.size_bytes <= setting_of(*job_, "packed_max", 0) ? "packed" : "bulk";
}

std::string_view Link::buffers_text() const noexcept {
  if (!shape_.may_be_fresh) return "";
  return text_of(is_fresh() ? BufferKind::fresh : BufferKind::same);
}

Row row_of(const Bench& bench, const Contest& contest, const Verdict& verdict, const Link& link) {
  auto row = row_of(bench, contest, verdict);
  row.buffers = link.buffers_text();
  row.transport = link.transport();
  row.memory = text_of(bench.options.memory);
  return row;
}

Link::Shape fresh_shape(const Bench& bench, std::size_t size_bytes) noexcept {
  Link::Shape shape{bench.options.memory, size_bytes};
  shape.may_be_fresh = true;
  return shape;
}

std::vector<std::uint64_t> sizes_or(const Options& options, std::vector<std::uint64_t> defaults) {
  return options.sizes.empty() ? std::move(defaults) : options.sizes;
}

}  // namespace photon::perf
