"""What is kept: run folders (`runs`) and policy files (`policies`), both as JSON with a schema version (`schema`)."""
