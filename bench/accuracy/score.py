#!/usr/bin/env python3
"""Score a graph database against what compilers say each name refers to (standard library only).

  score.py --run LANG,CORPUS_DIR,ORACLE_DIR,DB [--run ...] [--json OUT] [--misses N] [--lenient]
  score.py selftest [ORACLE_DIR]

Logical tables expected in the DB (real tables or views):
  files(path, ...)
  symbols(id, file_path, name, qualified, kind, span_start, span_end, signature, parent_symbol)   byte offsets, end exclusive
  refs(from_file, from_span_start, from_span_end, target_name, target_qualified, target_symbol_hint, kind, confidence)
  relations(from_qualified, to_qualified, kind, def_file, def_span_start, def_span_end, confidence)   (counted only)

Rules
  resolution  target_symbol_hint if that symbol's qualified equals target_qualified, else every symbol whose
              qualified = target_qualified; nothing -> unresolved.  Rows that differ only in their target (same span, name,
              kind, confidence) are one ref with several targets.
  matching    a ref belongs to an oracle site when the file is the same, the ref span covers the identifier and target_name
              (its last segment) is the identifier, or the definition's name when imported under an alias.  Same kind is
              preferred, then the narrowest span; every ref serves at most one site.
  correct     one resolved symbol lies in def_path, its span contains the definition's name byte and it bears that name
              (a constructor counts for its class).  --lenient drops the name condition.
  opinion     the site has an in-corpus definition, or the oracle says external / local / field.  `unknown` is no opinion.
              A resolved ref on an external/local/field site is wrong, except that resolving to the very local or field the
              oracle names is neutral (left out).
  recall      over all oracle call sites with an in-corpus definition (one site = one identifier occurrence).
"""

import argparse
import gzip
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict

RUNGS = ["exact", "import_resolved", "same_module", "fuzzy_name"]
FLOOR = {"same_module": set(RUNGS[:3]), "fuzzy_name": set(RUNGS)}
KINDS = {"call": "call", "type": "type", "trait_bound": "type", "use": "import"}
CTORS = {"__init__", "__new__", "constructor", "<init>", "new"}
QUALIFIED = {"module", "package", "namespace", "static_qualifier"}
SEG = re.compile(r"::|[.#/]")


def last(name):
    name = name or ""
    parts = SEG.split(name)
    return parts[-1] or name


def tsv(path):
    with gzip.open(path, "rt", encoding="utf8", newline="\n") as f:
        head = f.readline().rstrip("\n").split("\t")
        for line in f:
            yield dict(zip(head, line.rstrip("\n").split("\t"), strict=False))


class Site:
    __slots__ = ("def_kind", "defs", "end", "ext", "ext_at", "ext_name", "kind", "line", "name", "names", "notes", "path", "selfr", "shape", "start")

    def __init__(self, r):
        self.path, self.start, self.end = r["ref_path"], int(r["ref_start_byte"]), int(r["ref_end_byte"])
        self.line, self.name, self.kind = int(r["ref_line"]), r["name"], r["kind"]
        self.names, self.defs, self.ext, self.ext_at, self.ext_name = {r["name"], last(r["name"])}, [], None, None, ""
        notes = set(r.get("note", "").split(","))
        self.notes = notes
        self.selfr = r["self_receiver"] == "1"
        self.shape = "plain" if r["receiver"] != "1" else "qualified" if notes & QUALIFIED else "member"
        self.def_kind = ""


def load_oracle(d):
    sites = {}
    for r in tsv(os.path.join(d, "edges.tsv.gz")):
        key = (r["kind"], r["ref_path"], r["ref_start_byte"], r["ref_end_byte"])
        s = sites.get(key) or sites.setdefault(key, Site(r))
        s.defs.append((r["def_path"], int(r["def_start_byte_of_name"]), r["def_name"], r["def_kind"]))
        s.names.add(r["def_name"])
        s.def_kind = s.def_kind or r["def_kind"]
    for r in tsv(os.path.join(d, "external.tsv.gz")):
        key = (r["kind"], r["ref_path"], r["ref_start_byte"], r["ref_end_byte"])
        if key in sites:
            continue
        s = sites.setdefault(key, Site(r))
        s.ext = r["ext_class"]
        s.ext_name = r["ext_symbol"]
        if r["def_path"] and r["def_start_byte_of_name"]:
            s.ext_at = (r["def_path"], int(r["def_start_byte_of_name"]))
    return list(sites.values())


class Sym:
    __slots__ = ("a", "b", "id", "kind", "name", "parent", "path", "qual")


class Ref:
    __slots__ = ("a", "b", "conf", "kind", "name", "path", "quals", "sites", "syms")


def norm(p, base):
    p = str(p or "")
    if p.startswith("/") and base:  # absolute paths are made relative to the corpus root
        for b in (os.path.abspath(base), os.path.realpath(base)):
            if p.startswith(b + "/"):
                return p[len(b) + 1 :]
    return p[2:] if p.startswith("./") else p


def load_db(db, base):
    con = sqlite3.connect(f"file:{os.path.abspath(db)}?mode=ro", uri=True)
    byid, byqual, byfile = {}, defaultdict(list), defaultdict(list)
    for row in con.execute("select id, file_path, name, qualified, kind, span_start, span_end, parent_symbol from symbols"):
        s = Sym()
        s.id, s.path, s.name, s.qual, s.kind = str(row[0]), norm(row[1], base), last(row[2]), row[3], row[4]
        s.a, s.b, s.parent = row[5], row[6], None if row[7] is None else str(row[7])
        byid[s.id] = s
        byqual[s.qual].append(s)
        byfile[s.path].append(s)
    groups = {}
    for f, a, b, name, tq, hint, kind, conf in con.execute(
        "select from_file, from_span_start, from_span_end, target_name, target_qualified, target_symbol_hint, kind, confidence from refs"
    ):
        f = norm(f, base)
        key = (f, a, b, name, kind, conf)
        r = groups.get(key)
        if r is None:
            r = groups[key] = Ref()
            r.path, r.a, r.b, r.name, r.kind, r.conf, r.syms, r.quals, r.sites = f, a, b, last(name), KINDS.get(kind, kind), conf, {}, set(), []
        got = []
        if hint is not None and str(hint) in byid and byid[str(hint)].qual == tq:
            got = [byid[str(hint)]]
        elif tq:
            got = byqual.get(tq, [])
        for s in got:
            r.syms[s.id] = s
        if got:
            r.quals.add(tq)
    rel = Counter()
    try:
        for k, c, n in con.execute("select kind, confidence, count(*) from relations group by 1, 2"):
            rel[f"{k}/{c}"] = n
    except sqlite3.Error:
        pass
    try:
        nfiles = con.execute("select count(*) from files").fetchone()[0]
    except sqlite3.Error:
        nfiles = None
    con.close()
    return byid, byfile, list(groups.values()), rel, nfiles


def match(sites, refs):
    """attach refs to sites: site -> [refs on the chosen span]"""
    at = defaultdict(list)
    for r in refs:
        at[(r.path, r.name)].append(r)
    for v in at.values():
        v.sort(key=lambda r: (r.a, -r.b))
    pairs = []
    for s in sites:
        for nm in s.names:
            for r in at.get((s.path, nm), ()):
                if r.a > s.start:
                    break
                if r.b >= s.end:
                    pairs.append((r.kind != s.kind, r.b - r.a, abs(s.start - r.a), s.start, id(s), id(r), s, r))
    pairs.sort(key=lambda p: p[:4])
    chosen, used = {}, set()
    for p in pairs:
        s, r = p[6], p[7]
        if r in used and not (id(s) in chosen and r in chosen[id(s)][1]):
            continue
        if id(s) not in chosen:
            chosen[id(s)] = ((p[0], r.a, r.b), [r])
            used.add(r)
        elif chosen[id(s)][0] == (p[0], r.a, r.b) and r not in chosen[id(s)][1]:
            chosen[id(s)][1].append(r)
            used.add(r)
    return {k: v[1] for k, v in chosen.items()}


def hits(sym, d, byid, lenient):
    path, at, name, kind = d
    if sym.path != path:
        return False
    if kind in ("module", "package"):
        return sym.kind in ("module", "file", "package") or sym.a <= at < sym.b and sym.name == name
    if sym.a <= at < sym.b and (lenient or sym.name == name or sym.name == last(name)):
        return True
    if sym.name in CTORS and sym.parent in byid:
        p = byid[sym.parent]
        return p.name == name and p.path == path and p.a <= at < p.b
    return False


def read_span(path, start, end):
    if not os.path.exists(path):
        return None
    with open(path, "rb") as f:
        return f.read()[start:end]


def evaluate(lang, base, oracle, db, lenient=False, misses=None):
    sites = load_oracle(oracle)
    byid, byfile, refs, rel, nfiles = load_db(db, base)
    if base and os.path.isdir(base):  # guard against a wrong corpus
        bad = [s.path for s in sites[:2000:97] if read_span(os.path.join(base, s.path), s.start, s.end) != s.name.encode()]
        if bad:
            print(f"WARNING: {base} does not look like the corpus of {oracle}: {bad[:3]}", file=sys.stderr)
    C = Counter()
    chosen = match(sites, refs)
    for r in refs:
        for k in ("all", r.kind):
            C["refs", r.conf, k] += 1
            if r.syms:
                C["resolved", r.conf, k] += 1
                if len(r.syms) > 1:
                    C["multi", r.conf, k] += 1
    log = []
    for s in sites:
        mine = chosen.get(id(s), [])
        ok_rungs = set()
        for r in mine:
            if not r.syms:
                continue
            verdict = None
            if s.defs:
                good = [x for x in r.syms.values() if any(hits(x, d, byid, lenient) for d in s.defs)]
                verdict = bool(good)
                truth = {x.qual for d in s.defs for x in byfile.get(d[0], ()) if hits(x, d, byid, False)}
                same_q = bool(good) or bool(truth & r.quals)
            elif s.ext == "unknown":
                continue
            else:
                if s.ext_at and any(x.path == s.ext_at[0] and x.a <= s.ext_at[1] < x.b and x.name == last(s.ext_name) for x in r.syms.values()):
                    C["neutral", r.conf, "all"] += 1
                    continue
                verdict = same_q = False
            for k in ("all", s.kind):
                C["opinion", r.conf, k] += 1
                if verdict:
                    C["correct", r.conf, k] += 1
                    C["expected", r.conf, k] += 1 / len(r.syms)
                if same_q:
                    C["correct_qual", r.conf, k] += 1
                if not verdict and s.ext:
                    C["wrong_" + s.ext, r.conf, k] += 1
            if verdict:
                ok_rungs.add(r.conf)
            elif misses is not None:
                x = next(iter(r.syms.values()))
                log.append((r.conf, s, f"{x.path}:{x.a} {x.qual}"))
        if s.defs and s.kind in ("call", "type"):
            groups = (
                ["all", s.shape]
                + (["self"] if s.selfr else [])
                + (["receiver"] if s.shape != "plain" else [])
                + ["def:" + s.def_kind]
                + (["no_macro"] if s.def_kind not in ("macro", "variable") else [])
                + (["written_type"] if s.kind == "type" and not s.notes & {"qualifier", "annotation"} else [])
            )
            for g in groups:
                C["sites", s.kind, g] += 1
                if mine:
                    C["seen", s.kind, g] += 1
                for fl, ok in FLOOR.items():
                    if ok_rungs & ok:
                        C["found@" + fl, s.kind, g] += 1
            if misses is not None and not ok_rungs and not any(r.syms for r in mine):
                log.append(("missed" if not mine else "unresolved", s, ""))
        elif s.ext:
            C["ext_sites", s.kind, s.ext] += 1
    if misses:
        random.Random(7).shuffle(log)
        for tag, s, got in log[:misses]:
            want = f"{s.defs[0][0]}:{s.defs[0][1]} {s.defs[0][2]} ({s.def_kind})" if s.defs else f"<{s.ext}> {s.ext_name}"
            print(f"{tag:16} {s.kind} {s.path}:{s.line} {s.name} [{s.shape}] want {want} got {got}")
    return C, rel, nfiles, len(byid)


def ratio(a, b):
    return round(a / b, 4) if b else None


def report(C):
    out = {"rungs": {}, "calls": {}, "types": {}}
    confs = RUNGS + sorted({k[1] for k in C if k[0] == "refs"} - set(RUNGS), key=str)

    def line(sel, k):
        def g(n):
            return sum(C[n, c, k] for c in sel)

        return {
            "refs": g("refs"),
            "resolved": g("resolved"),
            "opinion": g("opinion"),
            "correct": g("correct"),
            "precision": ratio(g("correct"), g("opinion")),
            "precision_ignoring_overload": ratio(g("correct_qual"), g("opinion")),
            "precision_if_one_is_picked": ratio(g("expected"), g("opinion")),
            "multi_share": ratio(g("multi"), g("resolved")),
            "wrong_external": g("wrong_external"),
            "wrong_local_or_field": g("wrong_local") + g("wrong_field"),
        }

    for c in confs:
        if C["refs", c, "all"]:
            out["rungs"][str(c)] = {k: line([c], k) for k in ("all", "call", "type", "import")}
    for fl, ok in FLOOR.items():
        out["rungs"]["floor:" + fl] = {k: line(sorted(ok), k) for k in ("all", "call", "type", "import")}
    for kind in ("call", "type"):
        for g in sorted({k[2] for k in C if k[0] == "sites" and k[1] == kind}):
            n = C["sites", kind, g]
            out[kind + "s"][g] = {
                "sites": n,
                "has_ref": ratio(C["seen", kind, g], n),
                "recall@same_module": ratio(C["found@same_module", kind, g], n),
                "recall@fuzzy_name": ratio(C["found@fuzzy_name", kind, g], n),
            }
    return out


def pct(x):
    return "    -" if x is None else f"{100 * x:5.1f}"


def table(title, rep):
    print(f"\n== {title}")
    print(f"  {'rung':18}{'refs':>8}{'resolved':>9}{'opinion':>8}  prec%  call%  type%  1pick%  ovl%  multi%  fp-ext fp-loc")
    for c, v in rep["rungs"].items():
        a = v["all"]
        print(
            f"  {c:18}{a['refs']:8}{a['resolved']:9}{a['opinion']:8}  {pct(a['precision'])}  {pct(v['call']['precision'])}  {pct(v['type']['precision'])}  "
            f"{pct(a['precision_if_one_is_picked'])}  {pct(a['precision_ignoring_overload'])}  {pct(a['multi_share'])}  "
            f"{a['wrong_external']:6}{a['wrong_local_or_field']:7}"
        )
    for kind in ("calls", "types"):
        if not rep[kind]:
            continue
        print(f"  {kind[:-1] + ' recall':18}{'sites':>8}  has-ref%  @same_module%  @fuzzy_name%")
        for g, v in rep[kind].items():
            if kind == "types" and g not in ("all", "written_type"):
                continue
            if v["sites"]:
                print(f"    {g:16}{v['sites']:8}     {pct(v['has_ref'])}          {pct(v['recall@same_module'])}         {pct(v['recall@fuzzy_name'])}")


def schema(con):
    con.executescript("""
    create table files(path text);
    create table symbols(
        id integer primary key, file_path text, name text, qualified text, kind text, span_start int, span_end int, signature text, parent_symbol int);
    create table refs(
        from_file text, from_span_start int, from_span_end int, target_name text, target_qualified text, target_symbol_hint int, kind text, confidence text);
    create table relations(from_qualified text, to_qualified text, kind text, def_file text, def_span_start int, def_span_end int, confidence text);""")


def fake_db(path, oracle, mode):
    """a DB made from the oracle: perfect | wide | shuffled | halffuzzy | with_external | multi"""
    if os.path.exists(path):
        os.remove(path)
    con = sqlite3.connect(path)
    schema(con)
    rnd = random.Random(3)
    ids, rows = {}, []
    seen = set()
    for r in tsv(os.path.join(oracle, "edges.tsv.gz")):
        if r["def_kind"] in ("module", "package"):
            continue
        d = (r["def_path"], int(r["def_start_byte_of_name"]), r["def_name"], r["def_kind"])
        i = ids.setdefault(d, len(ids) + 1)
        k = (r["kind"], r["ref_path"], r["ref_start_byte"])
        if k in seen:
            continue
        seen.add(k)
        rows.append([r["ref_path"], int(r["ref_start_byte"]), int(r["ref_end_byte"]), r["name"], i, "use" if r["kind"] == "import" else r["kind"], "exact"])
    for d, i in ids.items():
        con.execute(
            "insert into symbols values (?,?,?,?,?,?,?,?,?)", (i, d[0], d[2], f"{d[0]}#{d[1]}.{d[2]}", d[3], d[1], d[1] + max(1, len(d[2].encode())), "", None)
        )
    qual = {i: f"{d[0]}#{d[1]}.{d[2]}" for d, i in ids.items()}
    if mode == "shuffled":
        t = [r[4] for r in rows]
        rnd.shuffle(t)
        for r, x in zip(rows, t, strict=True):
            r[4] = x
    if mode == "wide":
        for r in rows:
            r[2] += 1
    if mode == "halffuzzy":
        for n, r in enumerate(rows):
            r[6] = "fuzzy_name" if n % 2 else "same_module"
    if mode == "with_external":
        for r in tsv(os.path.join(oracle, "external.tsv.gz")):
            if r["ext_class"] == "external" and r["kind"] == "call":
                rows.append([r["ref_path"], int(r["ref_start_byte"]), int(r["ref_end_byte"]), r["name"], rnd.randrange(1, len(ids) + 1), "call", "fuzzy_name"])
    for r in rows:
        con.execute("insert into refs values (?,?,?,?,?,?,?,?)", (r[0], r[1], r[2], r[3], qual[r[4]], r[4], r[5], r[6]))
        if mode == "multi":
            x = rnd.randrange(1, len(ids) + 1)
            con.execute("insert into refs values (?,?,?,?,?,?,?,?)", (r[0], r[1], r[2], r[3], qual[x], x, r[5], r[6]))
    con.commit()
    con.close()


def tiny_oracle(d):
    """a hand-made oracle with 40 functions in two files, 200 calls, 50 external calls"""
    ref = "kind ref_path ref_start_byte ref_end_byte ref_line name"
    E = f"{ref} def_path def_start_byte_of_name def_line def_name def_kind receiver self_receiver note".split()
    X = f"{ref} ext_symbol ext_class receiver self_receiver def_path def_start_byte_of_name note".split()
    e, x, pos = [E], [X], 10000
    for n in range(200):
        f = n % 40
        nm = f"f{f}"
        e.append(["call", f"m{n % 2}.py", pos, pos + len(nm), n + 1, nm, f"m{f % 2}.py", 100 * f, f + 1, nm, "function", n % 3 == 0 and 1 or 0, 0, ""])
        pos += 20
    for n in range(50):
        x.append(["call", "m0.py", pos, pos + 5, 300 + n, "print", "builtins:print", "external", 0, 0, "", "", ""])
        pos += 20
    for name, rows in (("edges", e), ("external", x)):
        with gzip.open(os.path.join(d, name + ".tsv.gz"), "wt", encoding="utf8") as f:
            for r in rows:
                f.write("\t".join(str(c) for c in r) + "\n")


def selftest(oracle=None):
    bad = 0
    with tempfile.TemporaryDirectory() as t:
        if oracle is None:
            tiny_oracle(t)
            oracle = t
        db = os.path.join(t, "fake.db")

        def run(mode):
            fake_db(db, oracle, mode)
            return report(evaluate("x", "", oracle, db)[0])

        def check(label, cond, got):
            nonlocal bad
            bad += not cond
            print(("ok   " if cond else "FAIL ") + label, got)

        for mode in ("perfect", "wide"):
            r = run(mode)
            check(f"{mode}: precision 100%", r["rungs"]["exact"]["all"]["precision"] == 1.0, r["rungs"]["exact"]["all"]["precision"])
            check(f"{mode}: call recall 100%", r["calls"]["all"]["recall@same_module"] == 1.0, r["calls"]["all"])
        r = run("shuffled")
        p = r["rungs"]["exact"]["all"]["precision"]
        check("shuffled: precision low", p < 0.2, p)
        check("shuffled: recall low", r["calls"]["all"]["recall@fuzzy_name"] < 0.2, r["calls"]["all"]["recall@fuzzy_name"])
        r = run("halffuzzy")
        c = r["calls"]["all"]
        check("half fuzzy: recall 100% at fuzzy_name, about half at same_module", c["recall@fuzzy_name"] == 1.0 and 0.35 < c["recall@same_module"] < 0.65, c)
        r = run("with_external")
        f = r["rungs"].get("fuzzy_name", {}).get("all", {})
        check("resolved external calls: precision 0 on that rung", f.get("precision") in (0.0, None), f.get("precision"))
        r = run("multi")
        a = r["rungs"]["exact"]["all"]
        check(
            "two targets: precision still 100%, multi high, one-pick about half",
            a["precision"] == 1.0 and a["multi_share"] > 0.8 and a["precision_if_one_is_picked"] < 0.7,
            (a["multi_share"], a["precision_if_one_is_picked"]),
        )
    print("selftest", "FAILED" if bad else "passed")
    return bad


def main():
    if len(sys.argv) > 1 and sys.argv[1] == "selftest":
        sys.exit(1 if selftest(sys.argv[2] if len(sys.argv) > 2 else None) else 0)
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--run", action="append", required=True, metavar="LANG,CORPUS_DIR,ORACLE_DIR,DB")
    ap.add_argument("--json")
    ap.add_argument("--misses", type=int, default=0)
    ap.add_argument("--lenient", action="store_true")
    ap.add_argument("--brief", action="store_true", help="only the per-language tables")
    a = ap.parse_args()
    per_lang, out = defaultdict(Counter), {"corpora": {}, "languages": {}}
    for spec in a.run:
        lang, base, oracle, db = spec.split(",")
        C, rel, nfiles, nsym = evaluate(lang, base, oracle, db, a.lenient, a.misses or None)
        per_lang[lang].update(C)
        rep = report(C)
        rep["relations"] = dict(rel)
        rep["files"] = nfiles
        rep["symbols"] = nsym
        out["corpora"][f"{lang}/{os.path.basename(oracle.rstrip('/'))}"] = rep
        if not a.brief:
            table(f"{lang} / {os.path.basename(oracle.rstrip('/'))}   files {nfiles} symbols {nsym}", rep)
    total = Counter()
    for lang, C in per_lang.items():
        out["languages"][lang] = report(C)
        total.update(C)
        table(f"LANGUAGE {lang}", out["languages"][lang])
    out["all"] = report(total)
    if len(per_lang) > 1:
        table("ALL LANGUAGES (sum)", out["all"])
    if a.json:
        with open(a.json, "w") as f:
            json.dump(out, f, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
