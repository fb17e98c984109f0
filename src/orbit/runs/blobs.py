"""Blobs: content-addressed bytes, named by their SHA-256, written once, checked on every read."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from orbit.errors import IntegrityError, NotFoundError, UsageError
from orbit.files import sha256_of, temporary, write_whole

_REF = re.compile(r"[0-9a-f]{64}")


class BlobStore:
    """`<folder>/<first two hex>/<sha256>`. Redaction is the caller's, before the hash."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, ref: str) -> Path:
        if not _REF.fullmatch(ref):
            raise UsageError(f"not a blob reference: {ref!r}", hint="a reference is 64 lower-case hex digits")
        return self.folder / ref[:2] / ref

    def put(self, content: bytes) -> str:
        ref = hashlib.sha256(content).hexdigest()
        if not self.path(ref).exists():
            write_whole(self.path(ref), content)
        return ref

    def put_file(self, source: Path) -> str:
        ref = sha256_of(source)
        path = self.path(ref)
        if not path.exists():
            with temporary(path) as copy:
                shutil.copyfile(source, copy)
                if sha256_of(copy) != ref:
                    raise OSError(f"{source.name} changed while it was stored")
        return ref

    def get(self, ref: str) -> bytes:
        path = self.path(ref)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise NotFoundError(f"no blob {ref}", hint="it was removed, or never written; `orbit run verify` tells more") from None
        if hashlib.sha256(content).hexdigest() != ref:
            raise IntegrityError(f"blob {ref} does not hold what its name says", hint="its bytes were changed after they were written")
        return content
