"""Steps without annotations: the period in the sequence of a stream's activities.

What recorded traces teach, and what the thresholds below rest on:

* The steps of a training loop repeat name by name: at the true period practically all activities
  match. The layers of one forward pass repeat too, with 90 % and more, but something else
  (embedding, head, sampling) stands before and after them. So a sequence must be periodic from its
  first activity to its last, or else the device must clearly fall idle between the repetitions.
* The largest gap of a stream is seldom where a step begins: it is a wait for a collective before
  the optimizer, or the host's work inside the optimizer. Only an idle time of the whole device that
  towers above all others tells the begin of a step. Without one, the ends of the recording do:
  profilers are started and stopped between two steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from commscope.columns import NONE, Bool, Int64

#: Fewer activities, or fewer different ones, are a loop around a kernel and not a step.
MIN_LENGTH = 8
MIN_DISTINCT = 3
#: Share of activities that must find their like in the next step.
MIN_SHARE = 0.98
#: Below this many repetitions, not a single activity may differ.
MIN_REPETITIONS = 2.5
#: Share that must match at the bare lag, before surplus activities are forgiven.
MIN_BARE_SHARE = 0.6
#: A shorter period is believed only where gaps or both ends of the recording confirm its phase:
#: layers of one forward pass repeat every 12 to 35 activities in recorded traces, steps that a
#: recording cut in the middle every 300 and more.
MIN_LENGTH_CUT = 100
#: A longer period must match better by this much to win: layers lose to steps, multiples lose too.
MARGIN = 0.005
#: How often the idle time between steps must exceed the next largest to tell where a step begins.
DOMINANCE = 5
#: A recording may miss this share of its last step and still count as begun with a first one.
CUT_TAIL = 0.05
#: How far the length of a step may be from the period.
TOLERANCE = 0.1

#: The lag is sought in this many activities in the middle, then checked on all.
_SEARCHED = 1 << 21
_CONTEXT = 64
_MAX_CANDIDATES = 48
_PROJECTIONS = 3


@dataclass(frozen=True, slots=True)
class Period:
    """Steps found in a sequence of activities.

    ``match_share`` is the share of activities that match the next step, in order. The last step
    may be incomplete. ``phase`` tells how the begin of a step is known: ``gap`` (the device falls
    idle there), ``start`` or ``end`` (the sequence starts or ends there, which is weaker).
    """

    length: int  #: activities a step
    match_share: float
    firsts: Int64  #: index of the first activity of each step
    phase: str


def find_period(names: Int64, starts_ns: Int64, ends_ns: Int64) -> Period | None:
    """The steps in the activities of one stream, or null where no period convinces.

    ``names`` are codes of the names of *all* activities on the busiest compute stream of one rank,
    copies included, in launch order where all launches are known, else in order of start. Leave out
    a run of activities at the begin whose launches were not recorded: they belong to a step that
    began before. Launch shapes in the codes hide periods where shapes vary.

    ``starts_ns`` are their starts, and ``ends_ns`` the times until which the device was busy after
    each: see ``busy_until``. The stream's own ends would make every wait for a collective a gap.
    Activities before the first step belong to no step.
    """
    length = _best_length(names)
    if length is None:
        return None
    template_at = _cleanest(names, length)
    template = names[template_at : template_at + length]
    if np.unique(template).size < MIN_DISTINCT:
        return None
    rough = _boundaries(names, template, _rarest(template))
    if rough.size < 2:
        return None
    share = _match_share(names, rough)
    if share < MIN_SHARE:
        return None
    phase, shift = _phase(names, rough, length, _gaps(starts_ns, ends_ns))
    if phase is None:
        return None
    offset = (_rarest(template) + shift) % length
    firsts = _boundaries(names, template, offset)
    return Period(length, share, firsts, phase) if firsts.size > 1 else None


def busy_until(starts_ns: Int64, device_starts_ns: Int64, device_ends_ns: Int64) -> Int64:
    """For each activity of a stream, until when the device was busy before the stream's next one.

    ``starts_ns`` are the stream's starts in its order; the device's activities, of all streams and
    classes, may come in any order.
    """
    order = np.argsort(device_starts_ns, kind="stable")
    latest = np.maximum.accumulate(device_ends_ns[order])
    before = np.searchsorted(device_starts_ns[order], starts_ns[1:], side="left")
    busy = latest[np.maximum(before - 1, 0)]
    return np.append(busy, latest[-1:])


def _gaps(starts_ns: Int64, ends_ns: Int64) -> Int64:
    gaps = np.zeros(starts_ns.size, np.int64)
    gaps[1:] = np.maximum(starts_ns[1:] - ends_ns[:-1], 0)
    return gaps


def _best_length(names: Int64) -> int | None:
    """The shortest lag at which nearly as many activities match as at any other, if enough do."""
    if names.size < 2 * MIN_LENGTH:
        return None
    lags = _candidates(names)
    shares = np.array([np.mean(names[:-lag] == names[lag:]) for lag in lags])
    good = np.flatnonzero(shares >= shares.max() - MARGIN)
    length = int(lags[good[0]])
    needed = MIN_BARE_SHARE if names.size >= MIN_REPETITIONS * length else 1.0
    return length if shares[good[0]] >= needed else None


def _candidates(names: Int64) -> Int64:
    """Lags, ascending, each of which matches better than all shorter ones.

    The autocorrelation of a random sign for each name is 1 where all match and near 0 where none
    do; summing a few of them keeps different names with like signs apart. The seed is fixed.
    """
    skipped = max(names.size - _SEARCHED, 0) // 2
    searched = names[skipped : names.size - skipped]
    half = searched.size // 2
    pairs = searched.size - np.arange(MIN_LENGTH, half + 1)
    values = _autocorrelation(searched, half)[MIN_LENGTH:] / pairs
    levels = np.floor(values * (2 / MARGIN))
    best = np.maximum.accumulate(levels)
    records = np.flatnonzero(np.append(True, best[1:] > best[:-1]))
    return records[-_MAX_CANDIDATES:] + MIN_LENGTH


def _autocorrelation(names: Int64, half: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    codes = np.unique(names, return_inverse=True)[1]
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (_PROJECTIONS, int(codes.max()) + 1))
    size = 1 << (names.size + half).bit_length()
    power = np.zeros(size // 2 + 1)
    for sign in signs:
        spectrum = np.fft.rfft(sign[codes], size)
        power += spectrum.real**2 + spectrum.imag**2
    return np.asarray(np.fft.irfft(power, size)[: half + 1] / _PROJECTIONS)


def _cleanest(names: Int64, length: int) -> int:
    """Where the step lies that best matches the one after it."""
    matches = np.cumsum(np.append(0, names[:-length] == names[length:]))
    return int(np.argmax(matches[length:] - matches[:-length]))


def _rarest(template: Int64) -> int:
    """Position of the first of the rarest names: where a step is easiest to recognise."""
    _, codes, counts = np.unique(template, return_inverse=True, return_counts=True)
    return int(np.argmin(counts[codes]))


def _boundaries(names: Int64, template: Int64, offset: int) -> Int64:
    """Indices at which a step, taken to begin at that offset of the template, begins.

    Found by the context on both sides, so that surplus or missing activities do not add up. Empty
    where the steps found are not evenly spaced.
    """
    length = template.size
    width = min(_CONTEXT, max(MIN_LENGTH, length // 4))
    context = template[(offset + np.arange(-width, width)) % length]
    hits = _hits(names, context)
    return _complete(_one_each(*hits, length), length)


def _hits(names: Int64, context: Int64) -> tuple[Int64, Int64]:
    """(Indices, scores) where the context matches, its middle standing at the index.

    Most names must be found at their place or next to it, so that a surplus or missing activity in
    the context does no harm; the score counts those at their place.
    """
    width = context.size // 2
    rare = _rarest(context[width:])
    at = np.flatnonzero(names == context[width + rare]) - rare
    at = at[(at >= 0) & (at <= names.size - min(width, MIN_LENGTH))]
    scores = np.zeros(at.size, np.int64)
    near = np.zeros(at.size, np.int64)
    padded = np.pad(names, width + 1, constant_values=NONE)
    for position, name in enumerate(context):
        left, middle, right = (_matches(padded[at + position + side], name) for side in range(3))
        scores += middle
        near += left | middle | right
    good = near >= 1.5 * width
    return at[good], scores[good]


def _matches(names: Int64, name: np.int64) -> Bool:
    """Whether the names are that name; what lies outside the sequence matches."""
    return np.asarray((names == name) | (names == NONE))


def _one_each(at: Int64, scores: Int64, length: int) -> Int64:
    """The best of the hits that lie within half a step of their neighbour."""
    if not at.size:
        return at
    group = np.cumsum(np.append(0, np.diff(at) > length / 2))
    order = np.lexsort((at, -scores, group))
    return at[order[np.flatnonzero(np.append(True, np.diff(group[order])))]]


def _complete(firsts: Int64, length: int) -> Int64:
    """The boundaries with the few missing ones filled in, or none where they do not fit."""
    if firsts.size < 2:
        return firsts
    spans = np.diff(firsts)
    steps = np.maximum(np.rint(spans / length), 1).astype(np.int64)
    fits = np.abs(spans - steps * length) <= np.maximum(TOLERANCE * length, 2)
    if not fits.all() or np.mean(steps == 1) < 1 - TOLERANCE:
        return firsts[:0]
    within = np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)
    filled = np.repeat(firsts[:-1], steps) + within * np.repeat(spans, steps) // np.repeat(
        steps, steps
    )
    return np.append(filled, firsts[-1])


def _match_share(names: Int64, firsts: Int64) -> float:
    """Share of activities that match the next step, aligned at its begin or, past a split, its end.

    So a place with surplus or missing activities costs only those.
    """
    shifts = np.diff(firsts)
    index = np.arange(firsts[0], firsts[-1])
    ahead = np.repeat(shifts, shifts)
    behind = np.repeat(np.append(shifts[1:], shifts[-1]), shifts)
    inside = index + ahead < names.size
    from_begin = _equal_at(names, index, ahead)
    from_end = _equal_at(names, index, behind)
    begins = firsts[:-1] - firsts[0]
    before = np.cumsum(from_begin) - from_begin
    after = np.cumsum(from_end) - from_end
    best = np.maximum.reduceat(before - after, begins)
    totals = np.append(after[begins[1:]], from_end.sum()) - before[begins]
    return float(min((best + totals).sum() / max(inside.sum(), 1), 1.0))


def _equal_at(names: Int64, index: Int64, shift: Int64) -> Int64:
    """1 where the activity has the name of the one that far behind it, else 0."""
    other = index + shift
    inside = other < names.size
    equal = inside & (names[index] == names[np.where(inside, other, 0)])
    return np.asarray(equal, dtype=np.int64)


def _phase(names: Int64, rough: Int64, length: int, gaps: Int64) -> tuple[str | None, int]:
    """(How the begin of a step is known, activities from a rough boundary to it)."""
    whole = _is_whole(names, rough)
    start = int(-rough[0] % length)
    end = int((names.size - rough[-1]) % length)
    if whole and start == end:
        return "start", start
    idle = _dominant_gap(rough, length, gaps)
    if idle is not None:
        return "gap", idle
    if not whole:
        return None, 0
    if (end - start) % length >= (1 - CUT_TAIL) * length:
        return "start", start
    return ("end", end) if length >= MIN_LENGTH_CUT else (None, 0)


def _is_whole(names: Int64, firsts: Int64) -> bool:
    """Whether all before the first boundary and after the last is part of a step too."""
    head, tail = int(firsts[0]), int(names.size - firsts[-1])
    if head > firsts[1] - head or tail > np.diff(firsts).max():
        return False
    start_matches = names[:head] == names[firsts[1] - head : firsts[1]]
    end_matches = names[firsts[-1] :] == names[firsts[-2] : firsts[-2] + tail]
    return bool(start_matches.sum() >= MIN_SHARE * head and end_matches.sum() >= MIN_SHARE * tail)


def _dominant_gap(firsts: Int64, length: int, gaps: Int64) -> int | None:
    """Offset from a boundary to the largest median gap, where no other comes near it."""
    regular = firsts[:-1][np.diff(firsts) == length]
    if regular.size < 2:
        return None
    folded = gaps[regular[:, None] + np.arange(length)]
    median = np.sort(folded, axis=0)[(regular.size - 1) // 2]
    second, largest = np.sort(median)[-2:]
    dominates = largest > 0 and largest >= DOMINANCE * second
    return int(np.argmax(median)) if dominates else None
