"""The state machine: stages as nodes, routes as conditional edges. Only wires and routes."""
