"""The part of Perfetto's trace format that is read: messages, and the numbers of their fields.

The numbers are those of https://github.com/google/perfetto, protos/perfetto/trace. What is not
declared here the protobuf library passes over.
"""

from __future__ import annotations

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.message import Message

_PACKAGE = "commscope.perfetto"

#: Message -> field -> (number, type). A type in capitals is a message of its own, * is repeated.
_MESSAGES: dict[str, dict[str, tuple[int, str]]] = {
    "Trace": {"packet": (1, "*TracePacket")},
    "TracePacket": {
        "clock_snapshot": (6, "ClockSnapshot"),
        "timestamp": (8, "uint64"),
        "trusted_packet_sequence_id": (10, "uint32"),
        "track_event": (11, "TrackEvent"),
        "interned_data": (12, "InternedData"),
        "sequence_flags": (13, "uint32"),
        "trace_stats": (35, "TraceStats"),
        "incremental_state_cleared": (41, "bool"),
        "previous_packet_dropped": (42, "bool"),
        "compressed_packets": (50, "bytes"),
        "timestamp_clock_id": (58, "uint32"),
        "trace_packet_defaults": (59, "TracePacketDefaults"),
        "track_descriptor": (60, "TrackDescriptor"),
        "zstd_compressed_packets": (133, "bytes"),
    },
    "TracePacketDefaults": {
        "track_event_defaults": (11, "TrackEventDefaults"),
        "timestamp_clock_id": (58, "uint32"),
    },
    "TrackEventDefaults": {"track_uuid": (11, "uint64")},
    "ClockSnapshot": {"clocks": (1, "*Clock"), "primary_trace_clock": (2, "uint32")},
    "Clock": {
        "clock_id": (1, "uint32"),
        "timestamp": (2, "uint64"),
        "is_incremental": (3, "bool"),
        "unit_multiplier_ns": (4, "uint64"),
    },
    "TraceStats": {"buffer_stats": (1, "*BufferStats")},
    "BufferStats": {"chunks_overwritten": (3, "uint64"), "chunks_discarded": (18, "uint64")},
    "TrackDescriptor": {
        "uuid": (1, "uint64"),
        "name": (2, "bytes"),
        "process": (3, "ProcessDescriptor"),
        "thread": (4, "ThreadDescriptor"),
        "parent_uuid": (5, "uint64"),
        "counter": (8, "CounterDescriptor"),
        "static_name": (10, "bytes"),
    },
    "ProcessDescriptor": {"pid": (1, "int32"), "process_name": (6, "bytes")},
    "ThreadDescriptor": {"pid": (1, "int32"), "tid": (2, "int64"), "thread_name": (5, "bytes")},
    "CounterDescriptor": {"type": (1, "uint32")},
    "InternedData": {
        "event_categories": (1, "*Interned"),
        "event_names": (2, "*Interned"),
        "debug_annotation_names": (3, "*Interned"),
        "debug_annotation_string_values": (29, "*InternedBytes"),
    },
    "Interned": {"iid": (1, "uint64"), "name": (2, "bytes")},
    "InternedBytes": {"iid": (1, "uint64"), "str": (2, "bytes")},
    "TrackEvent": {
        "category_iids": (3, "*uint64"),
        "debug_annotations": (4, "*DebugAnnotation"),
        "type": (9, "uint32"),
        "name_iid": (10, "uint64"),
        "track_uuid": (11, "uint64"),
        "categories": (22, "*bytes"),
        "name": (23, "bytes"),
    },
    "DebugAnnotation": {
        "name_iid": (1, "uint64"),
        "bool_value": (2, "bool"),
        "uint_value": (3, "uint64"),
        "int_value": (4, "int64"),
        "double_value": (5, "double"),
        "string_value": (6, "bytes"),
        "pointer_value": (7, "uint64"),
        "name": (10, "bytes"),
        "string_value_iid": (17, "uint64"),
    },
}
_SCALARS = {
    "bool": Field.TYPE_BOOL,
    "bytes": Field.TYPE_BYTES,
    "double": Field.TYPE_DOUBLE,
    "int32": Field.TYPE_INT32,
    "int64": Field.TYPE_INT64,
    "uint32": Field.TYPE_UINT32,
    "uint64": Field.TYPE_UINT64,
}


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="commscope/perfetto.proto", package=_PACKAGE, syntax="proto2"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            message.field.append(_field(field, number, kind))
    return file


def _field(name: str, number: int, kind: str) -> Field:
    label = Field.LABEL_REPEATED if kind.startswith("*") else Field.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind in _SCALARS:
        return Field(name=name, number=number, label=label, type=_SCALARS[kind])
    of = f".{_PACKAGE}.{kind}"
    return Field(name=name, number=number, label=label, type=Field.TYPE_MESSAGE, type_name=of)


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())


def _class(name: str) -> type[Message]:
    descriptor = _pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    found: type[Message] = message_factory.GetMessageClass(descriptor)
    return found


#: All of them, kept: releases before 4.25 crash on a part whose class is gone.
_CLASSES = {name: _class(name) for name in _MESSAGES}


def message_class(name: str) -> type[Message]:
    """The class of a message that is declared here."""
    return _CLASSES[name]
