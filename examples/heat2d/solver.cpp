#include "solver.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "stencil.hpp"

namespace heat2d {
namespace {

// Remote ids: parity of the halo's time, or that a whole band has arrived.
constexpr std::uint64_t kBandId = 2;
constexpr std::uint64_t kLocalId = 0;  // local ids are only counted

Band band_of(photon::Rank rank, std::uint32_t bands_count, std::size_t height) {
  if (rank >= bands_count) return {};
  const std::size_t first = height * rank / bands_count;
  return {first, height * (rank + 1) / bands_count - first};
}

}  // namespace

Solver::Solver(photon::Context& context, Extent extent, const photon::Region& whole)
    : context_(context),
      extent_(extent),
      whole_(whole),
      bands_count_(
          static_cast<std::uint32_t>(std::min<std::size_t>(context.size(), extent.height))) {
  const photon::Rank rank = context.rank();
  band_ = band_of(rank, bands_count_, extent.height);
  cells_ = context.allocate<double>(2 * (band_.rows_count + 2) * extent.width);
  const auto regions = context.allgather(cells_.region());
  if (band_.rows_count == 0) return;
  if (rank > 0) add_neighbour(rank - 1, true, regions[rank - 1]);
  if (rank + 1 < bands_count_) add_neighbour(rank + 1, false, regions[rank + 1]);
}

void Solver::add_neighbour(photon::Rank rank, bool is_above, const photon::Region& region) {
  const std::size_t rows_there = band_of(rank, bands_count_, extent_.height).rows_count;
  Neighbour neighbour;
  neighbour.rank = rank;
  neighbour.edge_row = is_above ? 1 : band_.rows_count;
  neighbour.halo_index = is_above ? (rows_there + 1) * extent_.width : 0;
  neighbour.half_cells = (rows_there + 2) * extent_.width;
  neighbour.region = region;
  neighbours_.push_back(neighbour);
}

double* Solver::row(std::size_t time, std::size_t index) {
  return cells_.data() + ((time % 2) * (band_.rows_count + 2) + index) * extent_.width;
}

void Solver::fetch() {
  if (band_.rows_count == 0) return;
  const std::span mine(row(0, 1), band_.rows_count * extent_.width);
  const photon::Target source = photon::at<double>(whole_, band_.first * extent_.width);
  while (!context_.get(0, mine, source, {.local = kLocalId})) take_completions();
  ++locals_pending_;
  while (locals_pending_ > 0) take_completions();
}

void Solver::run(std::size_t steps_count, const std::function<void(std::size_t)>& on_step) {
  if (band_.rows_count == 0) return;
  if (steps_count > 0) send_halos(0);
  for (time_ = 0; time_ < steps_count; ++time_) {
    wait_for_halos(time_);
    advance(time_, 1);
    if (band_.rows_count > 1) advance(time_, band_.rows_count);
    // The neighbours get their halos while we compute what is inside.
    if (time_ + 1 < steps_count) send_halos(time_ + 1);
    for (std::size_t index = 2; index < band_.rows_count; ++index) advance(time_, index);
    on_step(time_ + 1);
  }
}

void Solver::advance(std::size_t time, std::size_t index) {
  const bool is_top = band_.first + index == 1;
  const bool is_bottom = band_.first + index == extent_.height;
  double* const here = row(time, index);
  const Neighbourhood now = {is_top ? here : here - extent_.width, here,
                             is_bottom ? here : here + extent_.width};
  advance_row(row(time + 1, index), now, extent_.width);
}

void Solver::send_halos(std::size_t time) {
  const std::size_t parity = time % 2;
  for (const Neighbour& neighbour : neighbours_) {
    const std::span edge(row(time, neighbour.edge_row), extent_.width);
    const photon::Target halo =
        photon::at<double>(neighbour.region, parity * neighbour.half_cells + neighbour.halo_index);
    const photon::Ids ids = {.local = kLocalId, .remote = parity};
    while (!context_.put(neighbour.rank, edge, halo, ids)) take_completions();
    ++locals_pending_;
    ++halos_sent_count_;
  }
}

void Solver::wait_for_halos(std::size_t time) {
  std::size_t& arrived = halos_arrived_[time % 2];
  // The rows sent last are overwritten one step from now: by then they must be reusable.
  while (arrived < neighbours_.size() || locals_pending_ > 0) take_completions();
  arrived = 0;
}

void Solver::deliver() {
  if (band_.rows_count == 0) return;
  const std::span mine(row(time_, 1), band_.rows_count * extent_.width);
  const photon::Target target = photon::at<double>(whole_, band_.first * extent_.width);
  while (!context_.put(0, mine, target, {.local = kLocalId, .remote = kBandId})) take_completions();
  ++locals_pending_;
  while (locals_pending_ > 0) take_completions();
}

void Solver::wait_for_all_bands() {
  while (bands_arrived_ < bands_count_) take_completions();
}

void Solver::take_completions() {
  std::array<photon::Completion, 16> storage;
  const auto found = context_.probe(storage);
  for (const photon::Completion& completion : found) handle(completion);
  if (found.empty()) context_.wait();
}

void Solver::handle(const photon::Completion& completion) {
  if (completion.status != PH_OK)
    throw std::runtime_error("a transfer to rank " + std::to_string(completion.peer) +
                             " failed: " + ph_status_text(completion.status));
  if (photon::is_local(completion))
    --locals_pending_;
  else if (completion.id == kBandId)
    ++bands_arrived_;
  else
    ++halos_arrived_[completion.id % 2];
}

}  // namespace heat2d
