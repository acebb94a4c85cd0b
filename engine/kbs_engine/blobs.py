"""Files by content: sources, references and reports that jobs and results name by hash."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kbs_engine.durable import write_whole
from kbs_engine.errors import StoreError
from kbs_engine.inputs import read_regular


class BlobStore:
    """A folder of files named by the SHA-256 of their content."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; it is made when something is put."""
        self.folder = folder

    def put(self, data: bytes | str) -> str:
        """Store ``data`` once; its hash."""
        content = data.encode() if isinstance(data, str) else data
        sha256 = hashlib.sha256(content).hexdigest()
        path = self.path(sha256)
        if not path.exists():
            write_whole(path, content)
        return sha256

    def get(self, sha256: str) -> bytes:
        """The content; StoreError when it is missing or does not have its hash any more."""
        path = self.path(sha256)
        try:
            data = read_regular(path)
        except OSError as problem:
            raise StoreError(
                f"no content of hash {sha256[:12]}",
                where=str(path),
                remedy="put the source again, or restore the run folder",
            ) from problem
        if hashlib.sha256(data).hexdigest() != sha256:
            raise StoreError(
                "content does not have the hash of its name any more",
                where=str(path),
                remedy="restore the file, or remove it and put the source again",
            )
        return data

    def text(self, sha256: str) -> str:
        """The content as UTF-8."""
        return self.get(sha256).decode()

    def path(self, sha256: str) -> Path:
        """Where content of this hash stands, whether or not it is there."""
        return self.folder / sha256[:2] / sha256

    def __contains__(self, sha256: object) -> bool:
        """Whether content of this hash is here."""
        return isinstance(sha256, str) and self.path(sha256).exists()
