"""Workspaces, each a library of its own: listed, added and found by name."""

from rag_app.database.session import Database
from rag_app.errors import NotFoundError


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


async def find_workspace(database: Database, name: str) -> int:
    """Return the id of a workspace by its name; raise NotFoundError when there is none."""
    async with database.connection() as connection:
        row = await (
            await connection.execute("select id from workspace where name = %s", (name,))
        ).fetchone()
    if row is None:
        raise NotFoundError(
            f'There is no workspace named "{name}": make it with `workspaces add` first.'
        )
    return int(row["id"])
