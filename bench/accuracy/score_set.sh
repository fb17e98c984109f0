#!/usr/bin/env bash
# score_set.sh dev <dir with one fetched corpus per subdirectory> <dir with <corpus>.db files> [score.py options]
here="$(cd "$(dirname "$0")" && pwd)"; st=$1; src=$2; dbs=$3; shift 3; args=()
for d in "$here/$st"/*/*; do c=$(basename "$d"); l=$(basename "$(dirname "$d")")
  if [ -f "$dbs/$c.db" ]; then args+=(--run "$l,$src/$c,$d,$dbs/$c.db"); else echo "no $dbs/$c.db: $st/$l/$c not scored" >&2; fi; done
exec python3 "$here/score.py" "${args[@]}" "$@"
