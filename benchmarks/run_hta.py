"""What HolisticTraceAnalysis documents for the question that ``commscope analyze`` answers."""

from __future__ import annotations

import sys

from hta.trace_analysis import TraceAnalysis

if __name__ == "__main__":
    analysis = TraceAnalysis(trace_files=dict(enumerate(sys.argv[1:])))
    print(analysis.get_temporal_breakdown(visualize=False))
    print(analysis.get_comm_comp_overlap(visualize=False))
