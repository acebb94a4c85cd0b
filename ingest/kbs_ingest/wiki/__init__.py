"""The wiki's files as engine records, each with the line that states it."""

from kbs_ingest.wiki.load import list_wiki, load_files, load_wiki
from kbs_ingest.wiki.model import Chunk, Wiki

__all__ = ["Chunk", "Wiki", "list_wiki", "load_files", "load_wiki"]
