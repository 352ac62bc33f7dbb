// The page of a matrix, as Markdown.
#include "netsim/command/paper_page.hpp"

#include <algorithm>

#include "netsim/command/number_text.hpp"
#include "netsim/command/paper_claims.hpp"
#include "netsim/run/keys.hpp"

namespace photon::netsim::command {
namespace {

std::string row_of(const std::vector<std::string>& fields) {
  std::string row = "|";
  for (const std::string& field : fields) row += " " + field + " |";
  return row + "\n";
}

std::string head_of(const std::vector<std::string>& names) {
  std::string line = "|";
  for (std::size_t i = 0; i < names.size(); ++i) line += "---|";
  return row_of(names) + line + "\n";
}

std::string two(double value) { return number_text(value, 2); }

std::string range_of(double least, double most) {
  return two(least) == two(most) ? two(least) : two(least) + " to " + two(most);
}

// The cards beside rvma; those of a form, or all.
std::vector<std::string> others_of(const PaperMatrix& matrix, const std::string& form) {
  std::vector<std::string> others;
  for (const char* side : kSides) {
    const bool is_there =
        form.empty() || matrix.find(matrix.places_of(form).front(), side) != nullptr;
    if (is_there && std::string_view(side) != kRvma) others.emplace_back(side);
  }
  return others;
}

std::string verdicts_of(const std::vector<Claim>& claims) {
  std::string text = "\n## What the paper's text says, and ours\n\n" +
                     head_of({"the paper says", "agrees if", "ours", "verdict"});
  for (const Claim& claim : claims) {
    text += row_of({claim.words, claim.rule, range_of(claim.least(), claim.most()),
                    "**" + claim.verdict() + "**"});
  }
  return text;
}

std::string finding_text(const Claim& claim, const std::string& form, const std::string& side) {
  for (const Finding& finding : claim.findings) {
    if (finding.form != form || finding.side != side) continue;
    return finding.holds ? "**" + two(finding.value) + "**" : two(finding.value);
  }
  return "";
}

// Each claim's figure for each form and card, so that a reader may draw another line.
std::string findings_of(const PaperMatrix& matrix, const std::vector<Claim>& claims) {
  const auto others = others_of(matrix, "");
  std::string text = "\nOurs in full, against each card; bold where it agrees:\n\n" +
                     head_of(joined({"the paper says", "form"}, others));
  for (const Claim& claim : claims) {
    for (const std::string& form : matrix.forms) {
      std::vector<std::string> fields{claim.words, form};
      for (const std::string& side : others) fields.push_back(finding_text(claim, form, side));
      text += row_of(fields);
    }
  }
  return text;
}

// The settings that are not the defaults and that all cells share.
std::string shared_settings(const PaperMatrix& matrix) {
  std::string text;
  for (const Key& key : netsim::keys()) {
    const std::string its = text_of(value_of(matrix.cells[0].settings, key));
    const bool is_shared = std::all_of(
        matrix.cells.begin(), matrix.cells.end(),
        [&](const PaperCell& cell) { return text_of(value_of(cell.settings, key)) == its; });
    if (!is_shared || its == text_of(value_of(Settings{}, key))) continue;
    text += (text.empty() ? "" : ", ") + ("`" + std::string(key.name) + " = " + its + "`");
  }
  return text;
}

std::string cells_text(const PaperMatrix& matrix) {
  const auto own = std::count_if(matrix.cells.begin(), matrix.cells.end(), [](const auto& cell) {
    return complete_text(cell.settings) == complete_text(cell.run_as);
  });
  return std::to_string(matrix.cells.size()) + " cells, of which " + std::to_string(own) +
         " are runs of their own";
}

std::string summary_row(const PaperMatrix& matrix, const std::vector<PaperCell>& places,
                        bool is_mean) {
  std::vector<std::string> fields{is_mean ? "**mean**" : "**greatest**", "", "", ""};
  for (const std::string& side : others_of(matrix, places.front().form)) {
    double sum = 0;
    double most = 0;
    for (const PaperCell& place : places) {
      const double value = speed_up_at(matrix, place, side);
      sum += value;
      most = std::max(most, value);
    }
    fields.push_back("**" + two(is_mean ? sum / static_cast<double>(places.size()) : most) + "**");
  }
  return row_of(fields);
}

std::string form_table(const PaperMatrix& matrix, const std::string& form) {
  const auto places = matrix.places_of(form);
  const auto others = others_of(matrix, form);
  const Settings& settings = places[0].settings;
  std::string text = "\n### " + form + "\n\n`motif.name = " + settings.motif.name +
                     "`, `motif.ranks = " + settings.motif.ranks +
                     "`, `motif.compute_ns = " + number_text(settings.motif.compute_ns, 0) +
                     "`, `run.ranks_per_node = " + std::to_string(settings.ranks_per_node) +
                     "`\n\n" + head_of(joined({"network", "routing", "Gbps", "rvma, us"}, others));
  for (const PaperCell& place : places) {
    std::vector<std::string> fields{place.topology + " " + place.settings.network.shape,
                                    place.routing, std::to_string(place.Gbps),
                                    two(static_cast<double>(place.last_ps) / 1e6)};
    for (const std::string& side : others) {
      fields.push_back(two(speed_up_at(matrix, place, side)));
    }
    text += row_of(fields);
  }
  return text + summary_row(matrix, places, true) + summary_row(matrix, places, false);
}

// The shares of the first rung's time that a step gains, over the places of a form.
struct Shares {
  std::string to;
  std::string effect;
  std::vector<double> values;
};

std::vector<Shares> shares_of(const PaperMatrix& matrix, const std::string& form,
                              const std::string& ladder_name) {
  std::vector<Shares> all;
  for (const PaperCell& place : matrix.places_of(form)) {
    for (const Ladder& ladder : matrix.ladders_at(place)) {
      if (ladder.name != ladder_name) continue;
      const auto cells = matrix.cells_of(place, ladder);
      all.resize(ladder.rungs.size() - 1);
      for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
        const Step step{"", cells[i]->last_ps, cells[i + 1]->last_ps};
        all[i].to = cells[i + 1]->side;
        all[i].effect = ladder.rungs[i + 1].effect;
        all[i].values.push_back(100 * static_cast<double>(step.gain_ps()) /
                                static_cast<double>(cells[0]->last_ps));
      }
    }
  }
  return all;
}

std::string ladder_table(const PaperMatrix& matrix, const std::string& ladder,
                         const std::string& first) {
  std::string text = "\n### " + ladder + "\n\nShares of the time of " + first +
                     " in %: mean (least to most) over the places.\n\n" +
                     head_of({"form", "step to", "effect", "gain, %"});
  for (const std::string& form : matrix.forms) {
    for (const Shares& shares : shares_of(matrix, form, ladder)) {
      double sum = 0;
      for (const double value : shares.values) sum += value;
      const auto [least, most] = std::minmax_element(shares.values.begin(), shares.values.end());
      text += row_of({form, "`" + shares.to + "`", shares.effect,
                      number_text(sum / static_cast<double>(shares.values.size()), 1) + " (" +
                          number_text(*least, 1) + " to " + number_text(*most, 1) + ")"});
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> joined(std::vector<std::string> names,
                                const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

std::string page_of(const PaperMatrix& matrix) {
  const std::string figure = std::to_string(matrix.figure);
  const std::string nodes = std::to_string(matrix.nodes);
  const std::vector<Claim> claims = claims_of(matrix);
  std::string text = std::string("# ") + (matrix.figure == 7 ? "Sweep3D" : "Halo3D") + ", figure " +
                     figure + " of the paper on RVMA: " + nodes + " nodes\n\n" +
                     "`photon-netsim paper --figure " + figure + " --nodes " + nodes +
                     " --into DIR` computed this page from " + cells_text(matrix) + " (model " +
                     std::to_string(kModelVersion) + "). The paper has 8192 nodes.\n";
  text += verdicts_of(claims) + findings_of(matrix, claims);
  text +=
      "\n## Speed-ups of rvma\n\nThe time of the card in the column over that of `rvma`, when "
      "the last rank is done. Of two cells in a line all settings but `nic.protocol` are equal, "
      "and `nic.order = hold` for `rdma-put` where packets may overtake. Cards know the addresses "
      "of their "
      "peers before (`nic.addresses = known`), but for the column that asks. `rdma-equal` and "
      "`rdma-put-imm` are "
      "taken from the cell of `rvma`, as they do the same at the same times where `nic.cq_ns` and "
      "`nic.lookup_ns` are 0. All cells have " +
      shared_settings(matrix) + "; the rest is in the lines or as `photon-netsim keys` says. " +
      "`figure" + figure + ".csv` names each cell's file with its complete settings.\n";
  for (const std::string& form : matrix.forms) text += form_table(matrix, form);
  text += "\n## The ladder\n\nA step is the difference of neighbours; `figure" + figure +
          "-ladder.csv` has the steps of each place.\n";
  text += ladder_table(matrix, "protocols", "`rdma-usual`");
  text += ladder_table(matrix, "order", "`rdma-put` with static routing");
  text += ladder_table(matrix, "addresses", "`rdma-put-ack` that asks each peer once");
  return text;
}

}  // namespace photon::netsim::command
