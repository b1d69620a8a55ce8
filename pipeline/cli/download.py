"""Subcommands that fetch corpora: data download, data extract."""

from __future__ import annotations

from pathlib import Path

import click

from nmt.cli.options import PATH, parse_settings
from nmt.settings.base import validated
from pipeline.config.catalogue import Source


@click.command(short_help="Download one file from mirrors or its official address.")
@click.option("--url", required=True, help="Official address: http, https or file.")
@click.option(
    "--mirror",
    "mirrors",
    multiple=True,
    help="Folder or URL prefix to try before the official address. Repeat it.",
)
@click.option("--path", required=True, help="Path of the file below a mirror, for example wmt14/dev.tgz.")
@click.option("--bytes", "size", type=int, help="Size that the file must have.")
@click.option("--md5", help="MD5 checksum that the file must have.")
@click.option("--sha256", help="SHA-256 checksum that the file must have.")
@click.option(
    "--alternative",
    "alternatives",
    multiple=True,
    help="Another archive with the same members, tried if the file itself is nowhere to be had: url, path and, if"
    " known, bytes, md5 and sha256, as JSON or the path of a JSON file. Repeat it.",
)
@click.option("--output", required=True, type=PATH, help="Path of the downloaded file.")
def download(
    url: str,
    mirrors: tuple[str, ...],
    path: str,
    size: int | None,
    md5: str | None,
    sha256: str | None,
    alternatives: tuple[str, ...],
    output: Path,
) -> None:
    """Download one file from the first mirror that has it, or from its official address.

    Size and checksums are verified. An interrupted download is kept in OUTPUT.part, and the next call resumes it.
    OUTPUT.json records the source, size and checksums.
    """
    from pipeline.download.download import download as download_file

    known = {"url": url, "path": path, "bytes": size, "md5": md5, "sha256": sha256}
    wanted = validated(Source, known, "nmt data download")
    others = [parse_settings(Source, alternative) for alternative in alternatives]
    source = download_file(wanted, output, mirrors, others)
    click.echo(f"{output}: from {source}", err=True)


@click.command(short_help="Extract both sides of a corpus from their archives, split into shards.")
@click.option(
    "--archive-source", required=True, type=PATH, help="Archive (or text file) with the source side."
)
@click.option(
    "--member-source", help="Member of that archive. Without this option, the file itself is the text."
)
@click.option(
    "--archive-target", required=True, type=PATH, help="Archive (or text file) with the target side."
)
@click.option(
    "--member-target", help="Member of that archive. Without this option, the file itself is the text."
)
@click.option(
    "--output-source", required=True, multiple=True, type=PATH, help="File of a shard. Repeat it, in order."
)
@click.option(
    "--output-target", required=True, multiple=True, type=PATH, help="File of a shard. Repeat it, in order."
)
@click.option("--md5-source", help="MD5 checksum that the source member must have.")
@click.option("--md5-target", help="MD5 checksum that the target member must have.")
@click.option("--pairs", type=click.IntRange(min=1), help="Expected number of pairs.")
@click.option("--counts", required=True, type=PATH, help="JSON file for the counts of lines and words.")
def extract(
    archive_source: Path,
    member_source: str | None,
    archive_target: Path,
    member_target: str | None,
    output_source: tuple[Path, ...],
    output_target: tuple[Path, ...],
    md5_source: str | None,
    md5_target: str | None,
    pairs: int | None,
    counts: Path,
) -> None:
    """Extract both sides of a corpus from their archives, split into shards.

    Archives are tar (also compressed) or zip files, whatever their names. Their members are text, or SGML if the name
    ends in .sgm, and may be compressed. Blocks of 10,000 lines go to the shards in turn. Both sides must have the same
    number of lines. If a member is not at its path, the other folders of the archive are searched for it.
    """
    from pipeline.download import extraction

    source = extraction.Side(archive_source, member_source, output_source, md5_source)
    target = extraction.Side(archive_target, member_target, output_target, md5_target)
    found = extraction.extract(source, target, counts, pairs)
    click.echo(f"{counts}: {found['pairs']:,} pairs", err=True)
