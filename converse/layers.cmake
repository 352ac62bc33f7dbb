# The layers of photon_converse, lowest first (docs/converse.md, "Files"). They stand on the
# installed headers and on nothing of src/ or task/. Read by the build and by the check alone.
photon_layer(converse/base   OUTSIDE LIBRARY converse)
photon_layer(converse/send   OUTSIDE LIBRARY converse USES converse/base)
photon_layer(converse/thread OUTSIDE LIBRARY converse USES converse/base)
photon_layer(converse/collect OUTSIDE LIBRARY converse USES converse/base)
photon_layer(converse/buffer OUTSIDE LIBRARY converse USES converse/base)
# It starts and ends the parts of all others.
photon_layer(converse/run    OUTSIDE LIBRARY converse
  USES converse/base converse/send converse/thread converse/collect converse/buffer)
