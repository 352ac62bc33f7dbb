// The ranks of one host. Owner: none (a value).
#pragma once

namespace photonrun {

// Of a job of `size` ranks: first .. first + here - 1.
struct Share {
  unsigned size = 0;
  unsigned first = 0;
  unsigned here = 0;

  bool has(unsigned rank) const { return rank - first < here; }  // below it wraps around
};

}  // namespace photonrun
