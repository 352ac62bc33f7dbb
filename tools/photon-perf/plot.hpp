// The picture of a run: what --json would hold, drawn by photon-plot (Python, matplotlib), which is
// started for it. Nothing else of photon-perf needs either.
// Invariant: what can be known to fail fails when the Plot is made, before anything is measured.
// Owner: main.
#pragma once

#include <string>

namespace photon::perf {

// Does photon-plot draw files with this suffix? Throws Failure, naming those it does.
void require_plot_suffix(const std::string& path);

class Plot {
 public:
  // An empty path: nothing to draw. Throws Failure if `path` cannot be written, or if photon-plot
  // cannot work here; it has then said why on stderr.
  explicit Plot(std::string path);

  // Draws rows as of Report::json. Blocks until the picture is written; throws Failure.
  void draw(const std::string& json) const;

 private:
  std::string path_;
};

}  // namespace photon::perf
