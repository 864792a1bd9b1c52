"""Numbers of the fields that are read without the protobuf library, from the same schema."""

from __future__ import annotations

from commscope.parsers.pftrace.schema import message_class


def _number(message: str, field: str) -> int:
    return int(message_class(message).DESCRIPTOR.fields_by_name[field].number)


TIMESTAMP = _number("TracePacket", "timestamp")
CLOCK = _number("TracePacket", "timestamp_clock_id")
SEQUENCE = _number("TracePacket", "trusted_packet_sequence_id")
FLAGS = _number("TracePacket", "sequence_flags")
CLEARED = _number("TracePacket", "incremental_state_cleared")
EVENT = _number("TracePacket", "track_event")

#: Packets with one of these change what later ones mean. They are few: the library reads them.
STATEFUL = tuple(
    _number("TracePacket", field)
    for field in (
        *("clock_snapshot", "interned_data", "trace_stats", "compressed_packets"),
        *("zstd_compressed_packets", "trace_packet_defaults", "track_descriptor"),
    )
)

TYPE = _number("TrackEvent", "type")
TRACK = _number("TrackEvent", "track_uuid")
NAME_ID = _number("TrackEvent", "name_iid")
NAME = _number("TrackEvent", "name")
CATEGORY_ID = _number("TrackEvent", "category_iids")
CATEGORY = _number("TrackEvent", "categories")
ANNOTATION = _number("TrackEvent", "debug_annotations")

ANNOTATION_NAME_ID = _number("DebugAnnotation", "name_iid")
ANNOTATION_NAME = _number("DebugAnnotation", "name")
ANNOTATION_TEXT = _number("DebugAnnotation", "string_value")
ANNOTATION_TEXT_ID = _number("DebugAnnotation", "string_value_iid")
#: Values of annotations that are whole numbers.
ANNOTATION_NUMBERS = tuple(
    _number("DebugAnnotation", field)
    for field in ("bool_value", "uint_value", "int_value", "pointer_value")
)
