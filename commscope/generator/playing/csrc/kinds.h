// The kinds of compute that have a kernel of their own; all others run as csg_other.
#pragma once

#define CSG_KINDS(EACH)                                                                         \
  EACH(fwd) EACH(bwd) EACH(opt) EACH(expert) EACH(attention) EACH(router) EACH(embedding)       \
  EACH(head) EACH(loss) EACH(norm) EACH(recompute) EACH(other)
