"""Takes secrets out of text before it is written: values of secret-looking environment variables, authorization headers, tokens, the home folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, BinaryIO

from orbit.config import environment, home

ENV, AUTH, KEY = "[REDACTED_ENV]", "[REDACTED_AUTH]", "[REDACTED_API_KEY]"
_SECRET_NAME = re.compile(r"SECRET|TOKEN|PASSWORD|PASSWD|PASSCODE|API_?KEY|PRIVATE|CREDENTIAL|COOKIE|SESSION|BEARER|AUTH|_KEY$")
# Words that stand in such variables without being secret; taking them out would only garble the record.
_PLAIN_VALUES = frozenset({"true", "false", "none", "null", "auto", "always", "never", "basic", "default"})
_SECRET_FIELD = (
    r"(?:proxy-)?authorization|x-api-key|api[-_]?key|(?:access|auth|refresh)[-_]?token|client[-_]?secret|secret|token|passwd|password|(?:set-)?cookie"
)

# (pattern, replacement), applied in this order.
_PATTERNS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), KEY),
    # JSON field; then header line or assignment; then a flag followed by its value
    (re.compile(rf'("(?:[\w-]*[-_])?(?:{_SECRET_FIELD})"\s*:\s*)"(?:[^"\\]|\\.)*"', re.IGNORECASE), rf'\1"{AUTH}"'),
    (re.compile(r"\b((?:proxy-)?authorization|x-api-key|api-key|set-cookie|cookie)(\s*[:=]\s*)[^\r\n\"']+", re.IGNORECASE), rf"\1\2{AUTH}"),
    (re.compile(rf"((?:\b|_|--)(?:{_SECRET_FIELD})\s*=\s*)(?:\"[^\"\n]*\"|'[^'\n]*'|[^\s\"'&,;]+)", re.IGNORECASE), rf"\1{AUTH}"),
    (re.compile(rf"(--(?:[\w-]+-)?(?:{_SECRET_FIELD})\s+)(?!-)[^\s\"']+", re.IGNORECASE), rf"\1{AUTH}"),
    (re.compile(r"\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), rf"\1 {AUTH}"),
    (re.compile(r"(://[^\s/:@]*):[^\s/@]+@"), rf"\1:{AUTH}@"),
    (
        re.compile(
            r"\b(?:sk-[\w-]{16,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|npm_\w{30,})"
        ),
        KEY,
    ),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}"), KEY),
)
# Lower-case marks, one of which is in any text a pattern can match: a cheap way past the patterns.
_MARKS = ("authorization", "key", "token", "secret", "passw", "cookie", "bearer", "basic", "://", "sk-", "gh", "glpat-", "xox", "akia", "aiza", "npm_", "eyj")
_SECRET_FLAG = re.compile(rf"--?(?:[\w-]+-)?(?:{_SECRET_FIELD})", re.IGNORECASE)
_HELD = 65536  # bytes of an unfinished line or key block a writer holds back at most


class Redactor:
    """The secrets of one environment, as of its making."""

    def __init__(self, variables: Mapping[str, str] | None = None, home_folder: str | None = None) -> None:
        variables = environment() if variables is None else variables
        found = {value for name, value in variables.items() if len(value) >= 4 and value.lower() not in _PLAIN_VALUES and _SECRET_NAME.search(name.upper())}
        self._secrets = sorted(found, key=lambda value: (-len(value), value))
        folder = home() if home_folder is None else home_folder
        self._home = re.compile(re.escape(folder) + r"(?![\w.-])") if folder else None
        self._home_text = folder
        self.text = lru_cache(maxsize=2048)(self._encodable_text)

    def _encodable_text(self, text: str) -> str:
        """Cleaned, and free of the lone surrogates that stand for undecodable bytes in names and arguments."""
        cleaned = self._clean_text(text)
        return cleaned if cleaned.isascii() else cleaned.encode("utf-8", "backslashreplace").decode()

    def _clean_text(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, ENV)
        lowered = text.lower()
        if any(mark in lowered for mark in _MARKS):
            for pattern, replacement in _PATTERNS:
                text = pattern.sub(replacement, text)
        if self._home is not None and self._home_text is not None and self._home_text in text:
            text = self._home.sub("~", text)
        return text

    def value(self, value: Any) -> Any:
        """The same value with every string in it cleaned; keys are names, not secrets, and stay."""
        if type(value) is str:
            return self.text(value) if len(value) < 4096 else self._encodable_text(value)
        if type(value) is dict:
            return {key: AUTH if type(item) is str and item and _is_secret_key(key) else self.value(item) for key, item in value.items()}
        if type(value) is list or type(value) is tuple:
            return self.argv(value) if all(type(item) is str for item in value) else [self.value(item) for item in value]
        return value

    def argv(self, words: Iterable[str]) -> list[str]:
        """Command words: also the word after a flag such as --password."""
        cleaned: list[str] = []
        hide = False
        for word in words:
            cleaned.append(AUTH if hide and not word.startswith("-") else self.text(word))
            hide = bool(_SECRET_FLAG.fullmatch(word))
        return cleaned

    def bytes(self, content: bytes) -> bytes:
        """Text in any mixture of encodings; bytes that are not UTF-8 pass through."""
        text = content.decode("utf-8", "surrogateescape")
        cleaned = self._clean_text(text)
        return content if cleaned == text else cleaned.encode("utf-8", "surrogateescape")


@lru_cache(maxsize=1024)
def _is_secret_key(key: Any) -> bool:
    return type(key) is str and re.fullmatch(rf"(?:[\w-]*[-_])?(?:{_SECRET_FIELD})", key, re.IGNORECASE) is not None


class RedactingWriter:
    """Passes bytes on in whole lines, cleaned, so that no secret reaches the file in two halves."""

    def __init__(self, target: BinaryIO, redactor: Redactor) -> None:
        self._target, self._redactor = target, redactor
        self._pending = b""

    def write(self, chunk: bytes) -> None:
        self._pending += chunk
        cut = self._pending.rfind(b"\n") + 1
        opened = self._pending.rfind(b"-----BEGIN ", 0, cut)
        if opened >= 0 and b"-----END " not in self._pending[opened:cut]:
            cut = opened
        if len(self._pending) - cut > _HELD:
            cut = len(self._pending)
        ready, self._pending = self._pending[:cut], self._pending[cut:]
        if ready:
            self._target.write(self._redactor.bytes(ready))

    def finish(self) -> None:
        if self._pending:
            self._target.write(self._redactor.bytes(self._pending))
            self._pending = b""
