// Some puts and gets become vectored ones: the same bytes in rows, with gaps where nobody else
// goes.
#include "simtest/program_generator.hpp"
#include "simtest/rows.hpp"

namespace photon::simtest {

void Generator::cut_up(Step& step) {
  constexpr std::uint64_t kMostRows = 300;
  if (step.verb != Verb::put && step.verb != Verb::get) return;
  if (rows_.up_to(99) >= shape_.vector_percent) return;
  const bool is_list = rows_.up_to(1) == 0;
  constexpr std::array<std::uint64_t, 8> kRows = {1, 5, 8, 16, 64, 100, 500, 3000};
  step.row_bytes = std::max(kRows[rows_.up_to(kRows.size() - 1)], step.size_bytes / kMostRows + 1);
  step.order = rows_.next();
  const bool put = step.verb == Verb::put;
  step.verb = is_list ? (put ? Verb::put_vector : Verb::get_vector)
                      : (put ? Verb::put_strided : Verb::get_strided);
  draw_rows(step, is_list);
}

void Generator::draw_rows(Step& step, bool is_list) {
  // Others of its segments may land before one is refused: they need a place.
  if (step.verb == Verb::put_vector && step.fault >= Fault::wrong_key) own_range(step);
  // Whole rows; what is to leave its region must stay as long as it is.
  if (!is_list && step.size_bytes % step.row_bytes != 0 &&
      (step.row_bytes > step.size_bytes || step.fault != Fault::none))
    step.row_bytes = std::max<std::uint64_t>(1, step.size_bytes);
  if (!is_list) step.size_bytes -= step.size_bytes % step.row_bytes;
  if (rows_.up_to(2) != 0) step.own_gap_bytes = rows_.up_to(40);
  const std::uint64_t rows = Rows(step).count();
  const bool may_spread = (step.area == Area::window && is_put(step)) || step.area == Area::library;
  if (!may_spread || rows < 2 || rows_.up_to(2) == 0) return;
  if (step.area == Area::window) {
    step.far_gap_bytes = rows_.up_to(40);
    next_free_[step.peer] += step.far_gap_bytes * (rows - 1);  // it was drawn last
    return;
  }
  const std::uint64_t end = step.offset + step.size_bytes;
  if (step.fault >= Fault::wrong_key || end > kLibraryBytes) return;
  step.far_gap_bytes = rows_.up_to(std::min<std::uint64_t>(40, (kLibraryBytes - end) / (rows - 1)));
}

}  // namespace photon::simtest
