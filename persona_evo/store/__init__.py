"""Persistent data: run folders (`runs`) and policy files (`policies`), as JSON with a schema version (`schema`)."""
