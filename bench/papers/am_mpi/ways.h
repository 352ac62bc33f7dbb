/* Ways of a breadth-first search that gather the edges of a level to each peer (section V-F).
 *
 *   ddt        one MPI_Accumulate with MPI_MIN for each peer, whose target datatype names each
 *              vertex once, as MPI wants it: each edge looks whether its vertex is in the list
 *   am         the same with an operation of the program. A level with few edges to a peer goes as
 *              they were gathered: the target datatype may name a vertex as often as there are
 * edges to it, as Photon folds its elements in order. One with many is made compact before it is
 * sent, once for each peer, into runs of vertices in ascending order two-sided  the pairs of vertex
 * and word as one message to each peer, empty ones too
 *
 * The operation gets words that the origin names vertex by vertex, because an accumulate changes
 * nothing but what it names (section VI, (2)): no queue at the target grows by it.
 *
 * Owner: the Search has the lists, from open_lists() to close_lists().
 */
#pragma once

#include "bfs/search.h"

extern const Way kDerivedTypes, kActiveMessages, kTwoSided;

/* Behind open_search(). */
void open_lists(Search* search);
void close_lists(Search* search);
