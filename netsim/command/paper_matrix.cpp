#include "netsim/command/paper_matrix.hpp"

#include <algorithm>

#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

// The shapes that a number of nodes has. The smaller ones are made like those of 8,192 nodes: as
// many links up as down in the fat tree, about one global link a host in the dragonfly.
struct Shapes {
  std::uint32_t nodes;
  TopologySettings dragonfly;
  TopologySettings hyperx;
  TopologySettings fat_tree;
  TopologySettings torus;
  const char* sweep_ranks;       // a rank a node
  const char* many_sweep_ranks;  // 32 ranks a node
  const char* halo_ranks;
};

const Shapes kShapes[] = {
    {64,
     {"dragonfly", "2:4:1:8"},
     {"hyperx", "4x4", "static", 4, 2},
     {"fattree", "4,4:4,4:4"},
     {"torus", "4x4x4"},
     "8x8",
     "32x64",
     "4x4x4"},
    {512,
     {"dragonfly", "4:8:2:16"},
     {"hyperx", "4x4x4", "static", 8, 2},
     {"fattree", "8,8:8,8:8"},
     {"torus", "8x8x8"},
     "16x32",
     "128x128",
     "8x8x8"},
    {8192,
     {"dragonfly", "16:32:32:16"},
     {"hyperx", "8x8x8", "static", 16, 2},
     {"fattree", "32,32:32,32:8"},
     {"torus", "32x16x16"},
     "64x128",
     "512x512",
     "32x16x16"},
};

// A form of a motif, and where it is run.
struct Form {
  std::string words;
  MotifSettings motif;
  std::uint32_t ranks_per_node = 1;
  std::vector<TopologySettings> networks;  // with static routing
  std::vector<std::uint32_t> rates;
};

MotifSettings sweep_of(const char* ranks, double compute_ns) {
  MotifSettings motif;
  motif.name = "sweep3d";
  motif.ranks = ranks;
  motif.compute_ns = compute_ns;
  return motif;
}

MotifSettings halo_of(const char* name, const char* ranks) {
  MotifSettings motif;
  motif.name = name;
  motif.ranks = ranks;
  motif.nx = motif.ny = motif.nz = 32;
  motif.compute_ns = 0;
  return motif;
}

std::vector<Form> forms_of(std::uint32_t figure, const Shapes& shapes) {
  const std::vector<TopologySettings> networks{shapes.dragonfly, shapes.hyperx, shapes.fat_tree,
                                               shapes.torus};
  const std::vector<std::uint32_t> rates(std::begin(kRates), std::end(kRates));
  if (figure == 8) {
    return {{"halo3d", halo_of("halo3d", shapes.halo_ranks), 1, networks, rates},
            {"halo3d26", halo_of("halo3d26", shapes.halo_ranks), 1, networks, rates}};
  }
  return {{"sweep3d, minimal compute, 32 ranks a node",
           sweep_of(shapes.many_sweep_ranks, 1),
           32,
           {shapes.dragonfly},
           {100, 2000}},
          {"sweep3d, minimal compute", sweep_of(shapes.sweep_ranks, 1), 1, networks, rates},
          {"sweep3d, 11.2 us of compute a block", sweep_of(shapes.sweep_ranks, 140), 1, networks,
           rates}};
}

Settings settings_of(const Form& form, const TopologySettings& network, std::uint32_t Gbps) {
  Settings settings;
  settings.network = network;
  settings.link_GBps = Gbps / 8.0;
  settings.flit_bytes = 64;  // of 16 B a picosecond's rounding would be 0.8% at 2,000 Gbps
  settings.motif = form.motif;
  settings.ranks_per_node = form.ranks_per_node;
  return settings;
}

void add_place(PaperMatrix& matrix, const Form& form, const Settings& settings,
               std::uint32_t Gbps) {
  const TopologySettings& network = settings.network;
  for (const char* side : kSides) {
    PaperCell cell;
    cell.form = form.words;
    cell.topology = network.topology;
    cell.routing = network.routing;
    cell.Gbps = Gbps;
    cell.side = side;
    cell.settings = with_protocol(settings, side);
    if (cell.side == "rdma-put") cell.settings = told_by_last_byte(settings, network.routing);
    if (cell.side == kAsking) cell.settings = asking_for_addresses(settings);
    if (cell.side == kAsking && form.ranks_per_node > 1) continue;
    cell.run_as = cell.settings;
    cell.run_as.nic = nic::stand_in_for(cell.settings.nic);
    matrix.cells.push_back(std::move(cell));
  }
}

void add_form(PaperMatrix& matrix, const Form& form) {
  matrix.forms.push_back(form.words);
  for (const TopologySettings& network : form.networks) {
    const std::string adaptive = adaptive_routing_of(network);
    for (const std::string& routing : {network.routing, adaptive}) {
      if (routing.empty()) continue;
      for (const std::uint32_t Gbps : form.rates) {
        Settings settings = settings_of(form, network, Gbps);
        settings.network.routing = routing;
        add_place(matrix, form, settings, Gbps);
      }
    }
  }
}

std::string side_of(const nic::Settings& card) {
  const bool is_asking = card.protocol == "rdma-put-ack" && card.addresses == "asked";
  return is_asking ? kAsking : card.protocol;
}

bool is_same_place(const PaperCell& one, const PaperCell& other) {
  return one.form == other.form && one.topology == other.topology && one.routing == other.routing &&
         one.Gbps == other.Gbps;
}

}  // namespace

const PaperCell* PaperMatrix::find(const PaperCell& place, std::string_view side) const {
  const auto found = std::find_if(cells.begin(), cells.end(), [&](const PaperCell& cell) {
    return cell.side == side && is_same_place(cell, place);
  });
  return found == cells.end() ? nullptr : &*found;
}

std::vector<PaperCell> PaperMatrix::places_of(std::string_view form) const {
  std::vector<PaperCell> places;
  for (const PaperCell& cell : cells) {
    if (cell.side == kRvma && cell.form == form) places.push_back(cell);
  }
  return places;
}

std::vector<Ladder> PaperMatrix::ladders_at(const PaperCell& place) const {
  std::vector<Ladder> ladders = ladders_of(place.settings);
  std::erase_if(ladders, [&](const Ladder& ladder) {
    const bool is_beside = ladder.name == "order" && place.routing == "static";
    return is_beside || cells_of(place, ladder).empty();
  });
  return ladders;
}

std::vector<const PaperCell*> PaperMatrix::cells_of(const PaperCell& place,
                                                    const Ladder& ladder) const {
  std::vector<const PaperCell*> found;
  for (const Rung& rung : ladder.rungs) {
    PaperCell its = place;
    its.routing = rung.settings.network.routing;
    const PaperCell* cell = find(its, side_of(rung.settings.nic));
    if (cell == nullptr || complete_text(cell->settings) != complete_text(rung.settings)) return {};
    found.push_back(cell);
  }
  return found;
}

Result<PaperMatrix> paper_matrix(const std::string& figure, const std::string& nodes) {
  if (figure != "7" && figure != "8") return Error{"--figure " + figure + ": allowed is 7 or 8"};
  for (const Shapes& shapes : kShapes) {
    if (nodes != std::to_string(shapes.nodes)) continue;
    PaperMatrix matrix;
    matrix.figure = figure == "7" ? 7 : 8;
    matrix.nodes = shapes.nodes;
    for (const Form& form : forms_of(matrix.figure, shapes)) add_form(matrix, form);
    return matrix;
  }
  return Error{"--nodes " + nodes + ": allowed is 64, 512 or 8192"};
}

}  // namespace photon::netsim::command
