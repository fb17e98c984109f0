#!/usr/bin/env bash
# fetch_corpus.sh <corpus name | path to SOURCE.txt> <dest dir>
# Fetches one pinned corpus by registry name only (pip download / npm pack / apt-get source / apt-get download / cargo vendor / mvn dependency:get)
# and leaves in <dest dir> exactly the "keep" paths named by its SOURCE.txt.
# Every path in edges.tsv.gz / external.tsv.gz is relative to <dest dir>.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
[ $# -eq 2 ] || { echo "usage: $0 <corpus|SOURCE.txt> <dest>" >&2; exit 2; }
if [ -f "$1" ]; then src="$1"; else
  src="$(ls "$here"/dev/*/"$1"/SOURCE.txt 2>/dev/null | head -1 || true)"
fi
[ -n "${src:-}" ] && [ -f "$src" ] || { echo "no SOURCE.txt for $1" >&2; exit 2; }
field() { sed -n "s/^$1: //p" "$src" | head -1; }
registry="$(field registry)"; pkg="$(field package)"; ver="$(field version)"; keep="$(field keep)"; inner="$(field inner)"; want="$(field tree_sha256)"
dest="$2"; mkdir -p "$dest"; dest="$(cd "$dest" && pwd)"
[ -z "$(ls -A "$dest")" ] || { echo "dest $dest is not empty" >&2; exit 2; }
tmp="$(mktemp -d)"; trap 'rm -rf "$tmp"' EXIT
cd "$tmp"; mkdir dl root
case "$registry" in
  pypi-sdist)
    python3 -m pip download -q --no-deps --no-binary :all: -d dl "$pkg==$ver" >&2
    tar -xf dl/*.tar.gz -C root --strip-components=1 ;;
  npm)
    (cd dl && npm pack --silent --ignore-scripts "$pkg@$ver" >/dev/null)
    tar -xf dl/*.tgz -C root --strip-components=1 ;;
  debian-source)
    # a private apt state with "deb-src" switched on, derived from the machine's own sources
    mkdir -p apt/parts apt/lists/partial apt/cache/archives/partial
    for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
      [ -f "$f" ] || continue
      case "$f" in
        *.sources) sed -E 's/^Types:.*/Types: deb-src/' "$f" > "apt/parts/$(basename "$f")" ;;
        *) sed -nE 's/^deb(-src)? /deb-src /p' "$f" | sort -u > "apt/parts/$(basename "$f" .list).list" ;;
      esac
    done
    opt=(-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$tmp/apt/parts"
         -o Dir::State::Lists="$tmp/apt/lists" -o Dir::Cache="$tmp/apt/cache" -o APT::Sandbox::User=root)
    apt-get "${opt[@]}" -qq update >&2
    (cd dl && apt-get "${opt[@]}" -qq source --download-only "$pkg=$ver" >&2)
    rmdir root; dpkg-source --no-check -x dl/*.dsc root >/dev/null ;;
  debian-binary)
    chmod 755 "$tmp" dl; (cd dl && apt-get -qq -o APT::Sandbox::User=root download "$pkg=$ver" >&2)
    dpkg-deb -x dl/*.deb root ;;
  crate)
    mkdir -p dl/src; touch dl/src/lib.rs
    printf '[package]\nname = "fetched"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' "$pkg" "$ver" > dl/Cargo.toml
    (cd dl && cargo vendor --quiet vendored >/dev/null)
    cp -r "dl/vendored/$pkg/." root/ ;;
  maven-sources)
    # package is group:artifact
    mvn -q -B dependency:get -Dartifact="$pkg:$ver:jar:sources" -Dtransitive=false >&2
    mvn -q -B dependency:copy -Dartifact="$pkg:$ver:jar:sources" -DoutputDirectory="$tmp/dl" >&2
    python3 -m zipfile -e dl/*.jar root ;;
  *) echo "unknown registry $registry" >&2; exit 2 ;;
esac
cd "root/$inner"
for k in $keep; do
  for p in $k; do [ -e "$p" ] || { echo "missing $p in $pkg $ver" >&2; exit 1; }; (tar -cf - "$p") | tar -xf - -C "$dest"; done
done
got="$(cd "$dest" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -d' ' -f1)"
for m in go.mod Cargo.toml package.json tsconfig.json pyproject.toml setup.cfg; do [ -e "$m" ] && [ ! -e "$dest/$m" ] && cp "$m" "$dest/" || true; done  # manifests, outside the hash
echo "tree_sha256: $got"
if [ -n "$want" ] && [ "$want" != "$got" ]; then echo "WARNING: tree differs from the one the oracle was built on ($want)" >&2; exit 3; fi
