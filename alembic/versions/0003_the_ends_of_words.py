"""An index on the reversed words of a library, by which the end of a compound is found."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "create index term_statistics_reversed on term_statistics "
        "(workspace_id, language, reverse(term) text_pattern_ops)"
    )


def downgrade() -> None:
    op.drop_index("term_statistics_reversed", table_name="term_statistics")
