"""Work for later: a durable queue on the same PostgreSQL."""
