// One rank's share of the field, and the halo exchange with the ranks above and below.
//
// The field is cut into bands of rows. A band lies in ph_alloc() memory twice, for even and for odd
// times, each with a halo row above and below that the neighbours write:
//
//   time t in half t % 2:   [ halo above | rows ... | halo below ]
//
// Why no barrier is needed. A neighbour overwrites my halo of time t with that of time t + 2. It
// has time t + 2 only after it got my edge row of t + 1, which I sent after I had read that halo
// (both edge rows are computed before either is sent). So a neighbour is never more than one step
// ahead, and arrivals need counting for two times only: the id's parity tells which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <photon/photon.hpp>

#include "field.hpp"

namespace heat2d {

// The rows [first, first + rows_count) of the field; with more ranks than rows the last have none.
struct Band {
  std::size_t first = 0;
  std::size_t rows_count = 0;
};

class Solver {
 public:
  // Collective. `whole` is rank 0's field: read from in fetch(), written to in deliver().
  Solver(photon::Context& context, Extent extent, const photon::Region& whole);

  void fetch();  // my band from rank 0, by get
  void run(std::size_t steps_count, const std::function<void(std::size_t)>& on_step);
  void deliver();             // my band to rank 0, by put
  void wait_for_all_bands();  // rank 0: every band has been delivered

  // By this rank.
  [[nodiscard]] std::uint64_t halos_sent_count() const { return halos_sent_count_; }

 private:
  struct Neighbour {
    photon::Rank rank;
    std::size_t edge_row;    // the row of mine it needs: 1 or the last
    std::size_t halo_index;  // where that goes in its memory: cells from the start of a half
    std::size_t half_cells;  // size of a half there
    photon::Region region;
  };

  void add_neighbour(photon::Rank rank, bool is_above, const photon::Region& region);
  [[nodiscard]] double* row(std::size_t time, std::size_t index);
  void advance(std::size_t time, std::size_t index);
  void send_halos(std::size_t time);
  void wait_for_halos(std::size_t time);
  void take_completions();
  void handle(const photon::Completion& completion);

  photon::Context& context_;
  Extent extent_;
  photon::Region whole_;
  Band band_;
  std::uint32_t bands_count_;
  photon::Allocation<double> cells_;
  std::vector<Neighbour> neighbours_;
  std::size_t time_ = 0;
  std::array<std::size_t, 2> halos_arrived_ = {};  // by parity of the time
  std::size_t bands_arrived_ = 0;
  std::size_t locals_pending_ = 0;  // sources not reusable yet
  std::uint64_t halos_sent_count_ = 0;
};

}  // namespace heat2d
