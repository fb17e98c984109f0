"""Artifact roles reserved for maintained consumers. Other roles are allowed; these mean one thing everywhere."""

from __future__ import annotations

RUNNER_TRANSCRIPT = "runner_transcript"
RUNNER_FINAL_RESPONSE = "runner_final_response"
RUNNER_METADATA = "runner_metadata"
POLICY_SUMMARY = "policy_summary"
VALIDATION_REPORT = "validation_report"
VALIDATION_STDOUT = "validation_stdout"
VALIDATION_STDERR = "validation_stderr"
PLANNER_DECISION = "planner_decision"
GATE_REQUEST = "gate_request"
GATE_OUTCOME = "gate_outcome"
WORKSPACE_DIFF = "workspace_diff"
WORKSPACE_STATUS = "workspace_status"

RESERVED = frozenset(value for name, value in list(globals().items()) if name.isupper())
