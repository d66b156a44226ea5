"""Workspaces, each a library of its own: listed and added."""

from rag_app.database.session import Database


async def list_workspaces(database: Database) -> list[str]:
    """Return the name of every workspace, in the order they were made."""
    async with database.connection() as connection:
        rows = await (await connection.execute("select name from workspace order by id")).fetchall()
    return [row["name"] for row in rows]


async def add_workspace(database: Database, name: str) -> None:
    """Make an empty workspace, unless there is one of this name."""
    async with database.connection() as connection:
        await connection.execute(
            "insert into workspace (name) values (%s) on conflict (name) do nothing", (name,)
        )
