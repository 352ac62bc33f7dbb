#include "kronecker.h"

typedef struct Edge {
  int64_t from, to;
} Edge;

typedef struct Maker {
  int scale;
  uint64_t seed;
  int64_t* places; /* the permutation */
} Maker;

uint64_t random_of(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* From 0 to below 1. */
static double chance_of(uint64_t seed, uint64_t n) {
  return (double)(random_of(seed, n) >> 11) * 0x1p-53;
}

static int64_t* permutation(int scale, uint64_t seed) {
  const int64_t vertices = INT64_C(1) << scale;
  int64_t* const places = memory_of((size_t)vertices * sizeof *places);
  for (int64_t i = 0; i < vertices; ++i) places[i] = i;
  for (int64_t i = vertices - 1; i > 0; --i) {
    const int64_t other = (int64_t)(random_of(seed, (uint64_t)i) % (uint64_t)(i + 1));
    const int64_t kept = places[i];
    places[i] = places[other];
    places[other] = kept;
  }
  return places;
}

static Edge edge_of(const Maker* maker, uint64_t number) {
  const double kA = 0.57, kB = 0.19, kC = 0.19;
  Edge edge = {0, 0};
  for (int bit = 0; bit < maker->scale; ++bit) {
    const double chance = chance_of(maker->seed, number * kMostScale + (uint64_t)bit);
    const int is_right = (chance >= kA && chance < kA + kB) || chance >= kA + kB + kC;
    const int is_below = chance >= kA + kB;
    edge.from = edge.from * 2 + is_below;
    edge.to = edge.to * 2 + is_right;
  }
  return (Edge){maker->places[edge.from], maker->places[edge.to]};
}

/* With `ends` NULL it counts each vertex's neighbours, else it writes them to where ends[] is. */
static void take(Part* part, int64_t* ends, int64_t from, int64_t to) {
  const int64_t place = from - part->first;
  if (place < 0 || place >= part->count) return;
  if (ends == NULL)
    ++part->starts[place + 1];
  else
    part->neighbours[ends[place]++] = to;
}

static void take_all(const Maker* maker, Part* part, int64_t* ends) {
  const uint64_t edges = (uint64_t)kEdgesOfVertex << maker->scale;
  for (uint64_t number = 0; number < edges; ++number) {
    const Edge edge = edge_of(maker, number);
    if (edge.from == edge.to) continue;
    take(part, ends, edge.from, edge.to);
    take(part, ends, edge.to, edge.from);
  }
}

Part make_part(int scale, uint64_t seed, int64_t first, int64_t count) {
  const size_t bytes = ((size_t)count + 1) * sizeof(int64_t);
  const uint64_t of_edges = random_of(seed, 0), of_vertices = random_of(seed, 1);
  Maker maker = {scale, of_edges, permutation(scale, of_vertices)};
  Part part = {first, count, memory_of(bytes), NULL};
  int64_t* const ends = memory_of(bytes);
  memset(part.starts, 0, bytes);
  take_all(&maker, &part, NULL);
  for (int64_t i = 0; i < count; ++i) part.starts[i + 1] += part.starts[i];
  part.neighbours = memory_of((size_t)part.starts[count] * sizeof(int64_t));
  memcpy(ends, part.starts, bytes);
  take_all(&maker, &part, ends);
  free(ends);
  free(maker.places);
  return part;
}

void release_part(Part* part) {
  free(part->starts);
  free(part->neighbours);
}
