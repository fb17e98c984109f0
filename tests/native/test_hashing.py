"""Batches of files: what is there, what it holds, and what is said when it cannot be had."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from orbit_native import hashing

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX file names, links or pipes")
BUFFER = 4 << 20  # the size of the buffer that files are read into


@pytest.fixture(params=[pytest.param("native", marks=posix_only), "portable"], autouse=True)
def _implementation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs on both implementations: they must not differ."""
    monkeypatch.setattr(hashing, "_portable", request.param == "portable")


def write(root: Path, **contents: bytes) -> list[bytes]:
    for name, content in contents.items():
        (root / name).write_bytes(content)
    return [name.encode() for name in contents]


def digests(root: Path, paths: list[bytes]) -> list[tuple[bytes, int, int]]:
    hashes, sizes, status = hashing.hash_files(os.fsencode(root), paths)
    assert hashes.shape == (len(paths), 16)
    return [(row.tobytes(), int(size), int(state)) for row, size, state in zip(hashes, sizes, status, strict=True)]


def test_stat_agrees_with_lstat(tmp_path: Path) -> None:
    paths = write(tmp_path, empty=b"", small=b"x" * 100)
    (tmp_path / "folder").mkdir()
    paths += [b"folder", b"nowhere", b"small/below-a-file"]
    rows = hashing.stat_files(str(tmp_path), paths)
    expected = []
    for path in paths[:3]:
        seen = os.lstat(os.fsencode(tmp_path) + b"/" + path)
        expected.append((seen.st_size, seen.st_mtime_ns, seen.st_ino, hashing.DIRECTORY if path == b"folder" else hashing.REGULAR))
    assert rows.tolist() == [*expected, (0, 0, 0, hashing.MISSING), (0, 0, 0, hashing.MISSING)]


@posix_only
def test_links_and_pipes_are_told_apart_and_never_followed(tmp_path: Path) -> None:
    write(tmp_path, target=b"secret")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    paths = [b"link", b"dangling", b"folder", b"pipe"]
    assert hashing.stat_files(str(tmp_path), paths)["kind"].tolist() == [hashing.SYMLINK, hashing.SYMLINK, hashing.DIRECTORY, hashing.OTHER]
    contents, status = hashing.read_files(str(tmp_path), paths, 100)
    assert (contents, status.tolist()) == ([None] * 4, [hashing.NOT_REGULAR] * 4)
    assert digests(tmp_path, paths) == [(bytes(16), 0, hashing.NOT_REGULAR)] * 4


@pytest.mark.parametrize("size", [0, 1, 240, 241, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER, 2 * BUFFER + 7])
def test_a_file_of_any_size_hashes_like_its_bytes(tmp_path: Path, size: int) -> None:
    content = np.random.default_rng(size).bytes(size)
    paths = write(tmp_path, before=b"a", file=content, after=b"b")
    assert digests(tmp_path, paths) == [(xxhash.xxh3_128_digest(body), len(body), hashing.READ) for body in (b"a", content, b"b")]
    contents, status = hashing.read_files(str(tmp_path), paths, size + 1)
    assert contents == [b"a", content, b"b"]
    assert status.tolist() == [hashing.READ] * 3


@given(st.binary(max_size=2000))
def test_bytes_hash_as_xxhash_says(content: bytes) -> None:
    assert hashing.hash_bytes(content) == xxhash.xxh3_128(content).digest()


def test_files_over_the_limit_are_left_unread(tmp_path: Path) -> None:
    paths = write(tmp_path, small=b"12345", large=b"123456")
    contents, status = hashing.read_files(str(tmp_path), [*paths, b"gone"], 5)
    assert contents == [b"12345", None, None]
    assert status.tolist() == [hashing.READ, hashing.TOO_LARGE, hashing.VANISHED]


@posix_only
def test_a_file_without_permission_is_unreadable() -> None:
    with tempfile.TemporaryDirectory() as folder:  # not tmp_path, whose parents only their owner may enter
        paths = write(Path(folder), locked=b"x", free=b"y")
        Path(folder).chmod(0o755)
        Path(folder, "locked").chmod(0)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)  # root may read everything
        try:
            found = digests(Path(folder), paths)
        finally:
            os.seteuid(was)
    assert found == [(bytes(16), 0, hashing.UNREADABLE), (xxhash.xxh3_128_digest(b"y"), 1, hashing.READ)]


@posix_only
def test_names_need_not_be_utf8(tmp_path: Path) -> None:
    name = b"caf\xe9 \n"
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"body")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    assert hashing.stat_files(str(tmp_path), [name])["kind"].tolist() == [hashing.REGULAR]
    assert digests(tmp_path, [name]) == [(xxhash.xxh3_128_digest(b"body"), 4, hashing.READ)]


def test_thousands_of_files_come_back_in_order(tmp_path: Path) -> None:
    bodies = [str(number).encode() * (number % 50) for number in range(3000)]
    for number, body in enumerate(bodies):
        (tmp_path / str(number)).write_bytes(body)
    paths = [str(number).encode() for number in range(3000)]
    assert hashing.stat_files(str(tmp_path), paths)["size"].tolist() == [len(body) for body in bodies]
    assert digests(tmp_path, paths) == [(xxhash.xxh3_128_digest(body), len(body), hashing.READ) for body in bodies]
    assert hashing.read_files(str(tmp_path), paths, 1000)[0] == bodies


def test_no_paths_give_empty_answers(tmp_path: Path) -> None:
    assert hashing.stat_files(str(tmp_path), []).tolist() == []
    assert hashing.read_files(str(tmp_path), [], 10)[0] == []
    assert digests(tmp_path, []) == []


@pytest.mark.parametrize("path", [b"", b"/etc/hostname", b"..", b"a/../../b", b"a\0b"])
def test_a_path_that_leaves_the_root_is_refused(tmp_path: Path, path: bytes) -> None:
    for call in (hashing.stat_files, hashing.hash_files, lambda root, paths: hashing.read_files(root, paths, 10)):
        with pytest.raises(ValueError, match="not a path below the root"):
            call(str(tmp_path), [b"fine", path])


@pytest.mark.parametrize("path", [b"..\\up", b"C:/x", b"a\\..\\..\\b"])
def test_where_paths_have_drives_those_are_refused_too(tmp_path: Path, path: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_has_drives", True)
    with pytest.raises(ValueError, match="not a path below the root"):
        hashing.stat_files(str(tmp_path), [path])


def test_dots_inside_a_name_are_no_way_up(tmp_path: Path) -> None:
    (tmp_path / "a..b").write_bytes(b"x")
    assert digests(tmp_path, [b"a..b"]) == [(xxhash.xxh3_128_digest(b"x"), 1, hashing.READ)]


def test_a_path_must_be_bytes(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="expected bytes as path, got str"):
        hashing.stat_files(str(tmp_path), ["name"])  # type: ignore[list-item]


def test_a_missing_root_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        hashing.stat_files(str(tmp_path / "nowhere"), [b"a"])


@posix_only  # elsewhere an open file cannot be replaced
def test_a_file_rewritten_meanwhile_is_whole_or_told_as_changed(tmp_path: Path) -> None:
    """Whatever a racing writer does, a hash that is given is the hash of one of the versions written."""
    versions = [bytes([65 + number]) * (200_000 + number) for number in range(4)]
    known = {xxhash.xxh3_128_digest(body) for body in versions}
    target = tmp_path / "busy"
    target.write_bytes(versions[0])
    stop = threading.Event()

    def rewrite() -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            fresh = tmp_path / f"fresh{turn % 2}"
            fresh.write_bytes(versions[turn % len(versions)])
            fresh.replace(target)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = [row for _ in range(50) for row in digests(tmp_path, [b"busy"] * 4)]
    finally:
        stop.set()
        writer.join()
    assert {state for _, _, state in seen} <= {hashing.READ, hashing.CHANGED, hashing.VANISHED}
    assert {digest for digest, _, state in seen if state == hashing.READ} <= known


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs a file whose size is a lie")
def test_a_file_with_more_bytes_than_its_size_is_changed() -> None:
    contents, status = hashing.read_files("/proc/self", [b"status"], 1 << 20)
    assert (contents, status.tolist()) == ([None], [hashing.CHANGED])


def test_threads_hash_side_by_side(tmp_path: Path) -> None:
    paths = write(tmp_path, **{f"f{number}": bytes([number]) * 5000 for number in range(200)})
    expected = digests(tmp_path, paths)
    found: list[list[tuple[bytes, int, int]]] = []
    threads = [threading.Thread(target=lambda: found.append(digests(tmp_path, paths))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
