/*
 * Random programs need datatypes: a layout is a datatype that puts `count` elements of a basic type
 * into a span of so many elements, each at most once, so that it may stand at both sides. All ranks
 * draw the same layouts from the same seed.
 */
#pragma once

#include "check.h"

static uint64_t random_state;

static void seed_random(uint64_t seed) { random_state = seed * 0x9e3779b97f4a7c15u + 1; }

/* 0 .. below - 1. */
static int draw(int below) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  uint64_t mixed = random_state >> 33;
  mixed ^= random_state >> 17;
  return (int)(mixed % (uint64_t)below);
}

struct layout {
  MPI_Datatype type;
  int count; /* of `type` in a call */
};

enum { kMostElements = 64 };

/* Elements with gaps, in one piece for each; some of the gaps are none. */
static MPI_Datatype scattered_type(MPI_Datatype basic, int elements, int span) {
  int lengths[kMostElements], places[kMostElements];
  int pieces = 0, at = 0, left = elements;
  while (left > 0) {
    const int room = span - at - left;
    const int length = 1 + draw(left < 4 ? left : 4);
    at += room > 0 ? draw((room < 5 ? room : 5) + 1) : 0;
    lengths[pieces] = length;
    places[pieces++] = at;
    at += length;
    left -= length;
  }
  MPI_Datatype type;
  if (draw(2) == 0) {
    MPI_Type_indexed(pieces, lengths, places, basic, &type);
    return type;
  }
  int size;
  MPI_Aint offsets[kMostElements];
  MPI_Datatype types[kMostElements];
  MPI_Type_size(basic, &size);
  for (int i = 0; i < pieces; ++i) {
    offsets[i] = (MPI_Aint)places[i] * size;
    types[i] = basic;
  }
  MPI_Type_create_struct(pieces, lengths, offsets, types, &type);
  return type;
}

/* One element of each `stride`. */
static MPI_Datatype strided_type(MPI_Datatype basic, int elements, int stride) {
  MPI_Datatype type;
  int size;
  MPI_Type_size(basic, &size);
  if (draw(2) == 0)
    MPI_Type_vector(elements, 1, stride, basic, &type);
  else
    MPI_Type_create_hvector(elements, 1, (MPI_Aint)stride * size, basic, &type);
  return type;
}

/* A part of rows and columns; 0 elements for what is no rectangle of the span. */
static MPI_Datatype rectangle_type(MPI_Datatype basic, int elements, int span) {
  for (int columns = 8; columns > 1; --columns) {
    const int rows = elements / columns;
    if (elements % columns != 0 || rows * (columns + 1) > span) continue;
    const int sizes[2] = {rows, columns + 1}, parts[2] = {rows, columns};
    const int starts[2] = {0, draw(2)};
    MPI_Datatype type;
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, basic, &type);
    return type;
  }
  return MPI_DATATYPE_NULL;
}

static struct layout committed(MPI_Datatype type, int count) {
  MPI_Type_commit(&type);
  return (struct layout){type, count};
}

/* A type of a type: each resized so that the next one begins behind its gap. */
static struct layout nested_layout(MPI_Datatype basic, int elements, int span) {
  for (int inner = 8; inner > 1; --inner) {
    const int outer = elements / inner;
    if (elements % inner != 0 || outer * inner * 2 > span) continue;
    MPI_Datatype strided = strided_type(basic, inner, 2), resized, type;
    int size;
    MPI_Type_size(basic, &size);
    MPI_Type_create_resized(strided, 0, (MPI_Aint)inner * 2 * size, &resized);
    MPI_Type_free(&strided);
    if (draw(2) == 0) return committed(resized, outer);
    MPI_Type_contiguous(outer, resized, &type);
    MPI_Type_free(&resized);
    return committed(type, 1);
  }
  return committed(scattered_type(basic, elements, span), 1);
}

static struct layout draw_layout(MPI_Datatype basic, int elements, int span) {
  MPI_Datatype type;
  switch (draw(6)) {
    case 0: MPI_Type_contiguous(1, basic, &type); return committed(type, elements);
    case 1: MPI_Type_contiguous(elements, basic, &type); return committed(type, 1);
    case 2: return committed(strided_type(basic, elements, span / elements), 1);
    case 3: return nested_layout(basic, elements, span);
    case 4:
      type = rectangle_type(basic, elements, span);
      if (type != MPI_DATATYPE_NULL) return committed(type, 1);
      return committed(scattered_type(basic, elements, span), 1);
    default: return committed(scattered_type(basic, elements, span), 1);
  }
}
