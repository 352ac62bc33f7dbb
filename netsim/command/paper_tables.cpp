// The matrix as comma-separated values.
#include "netsim/command/number_text.hpp"
#include "netsim/command/paper_claims.hpp"
#include "netsim/command/paper_page.hpp"

namespace photon::netsim::command {
namespace {

std::string ns_text(Time ps) { return number_text(static_cast<double>(ps) / 1e3, 3); }

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string line_of(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + field;
  return line + "\n";
}

std::vector<std::string> place_fields(const PaperMatrix& matrix, const PaperCell& place) {
  return {std::to_string(matrix.nodes),         quoted(place.form), place.topology,
          quoted(place.settings.network.shape), place.routing,      std::to_string(place.Gbps)};
}

std::string step_line(const PaperMatrix& matrix, const PaperCell& place, const Ladder& ladder,
                      std::size_t step) {
  const auto cells = matrix.cells_of(place, ladder);
  const PaperCell& from = *cells[step];
  const PaperCell& to = *cells[step + 1];
  const Step its{ladder.rungs[step + 1].effect, from.last_ps, to.last_ps};
  const double gain = static_cast<double>(its.gain_ps());
  return line_of(joined(
      place_fields(matrix, place),
      {ladder.name, quoted(ladder.rungs[step].name), quoted(ladder.rungs[step + 1].name),
       quoted(its.effect), ns_text(its.from), ns_text(its.to), number_text(gain / 1e3, 3),
       number_text(gain / static_cast<double>(cells.front()->last_ps), 4), from.name, to.name}));
}

}  // namespace

std::string cells_csv(const PaperMatrix& matrix) {
  std::string text = line_of({"nodes", "form", "topology", "shape", "routing", "Gbps",
                              "ranks_per_node", "protocol", "order", "addresses", "last_ns",
                              "mean_ns", "packets", "hops", "out_of_order_share", "peak_held_bytes",
                              "speed_up_of_rvma", "settings", "settings_of_rvma"});
  for (const PaperCell& cell : matrix.cells) {
    const PaperCell& rvma = *matrix.find(cell, kRvma);
    text += line_of(
        joined(place_fields(matrix, cell),
               {std::to_string(cell.settings.ranks_per_node), cell.settings.nic.protocol,
                cell.settings.nic.order, cell.settings.nic.addresses, ns_text(cell.last_ps),
                number_text(cell.mean_ps / 1e3, 3), std::to_string(cell.packets),
                std::to_string(cell.hops), number_text(cell.out_of_order_share, 6),
                std::to_string(cell.peak_held_bytes),
                number_text(speed_up_at(matrix, cell, cell.side), 4), cell.name, rvma.name}));
  }
  return text;
}

std::string ladders_csv(const PaperMatrix& matrix) {
  std::string text = line_of({"nodes", "form", "topology", "shape", "routing", "Gbps", "ladder",
                              "from", "to", "effect", "from_ns", "to_ns", "gain_ns",
                              "share_of_first", "settings_from", "settings_to"});
  for (const std::string& form : matrix.forms) {
    for (const PaperCell& place : matrix.places_of(form)) {
      for (const Ladder& ladder : matrix.ladders_at(place)) {
        for (std::size_t step = 0; step + 1 < ladder.rungs.size(); ++step) {
          text += step_line(matrix, place, ladder, step);
        }
      }
    }
  }
  return text;
}

}  // namespace photon::netsim::command
