"""All that is known of a worktree's code: files, and definitions by container and name. Whatever is asked for is noted.

Texts, files and kinds are ids; the caller says what they stand for. Files come from `add_file` and `index`, all at once, or through a loader, when
first asked for.
"""
from libc.stdint cimport int32_t

from orbit_native.definitions cimport Facts, File, Index, Symbol, make_symbol
from orbit_native.tables cimport NumberSet, Table

cdef enum:
    STAR = 1                                     # of an import
    FORM_FIELD = 2                               # binding forms, as the caller numbers them
    FORM_RETURN = 5


MODULES, OWNED = IN_MODULES, AS_OWNED


cpdef int inside(int file):
    """Where names are looked up that a file says something about besides defining them: imports, exports, bindings."""
    return IN_FILE - file


cpdef int fingerprint(int where, int name):
    """A number for a name looked up in a container or the like. Two pairs may share one: then a file is resolved again without need."""
    cdef unsigned int mixed = <unsigned int>where * 0x9E3779B1u ^ (<unsigned int>name * 0x85EBCA77u + 0x165667B1u)
    mixed ^= mixed >> 15
    return <int>((mixed * 0xC2B2AE3Du) >> 1)


cpdef int hint(int name):
    """The number under which a name is noted that imports mention as written: when a file of that name comes or goes, they are aimed again."""
    return name | 1 << 30 if name >= 0 else name


cdef class Catalogue:
    """The files of a worktree and their definitions."""

    def __init__(self, texts, kind_bits, loader=None):
        self.texts, self.loader, self.kind_bits = texts, loader, list(kind_bits)
        self.facts, self.files, self.owned = {}, {}, {}
        self.members, self.modules = Table(), Table()
        self.noted, self.prints = NumberSet(), NumberSet()
        self.paths, self.type_paths, self.joined, self.near, self.empty = {}, {}, {}, {}, NOTHING

    def add_file(self, Facts facts not None):
        """Make a file known."""
        self.facts[facts.id] = facts

    def index(self, Py_ssize_t name_count):
        """Let lookups find the definitions of all files added so far, which are all there are; they were added in order of path."""
        cdef Facts facts
        self.all = Index(list(self.facts.values()), name_count)
        for facts in self.facts.values():
            held = self.modules.get(facts.module, facts.rules.family, 0)
            if held is None:
                self.modules.put(facts.module, facts.rules.family, 0, [facts.id])
            else:
                (<list>held).append(facts.id)

    def forget(self):
        """Drop what was made out of the arrays so far: it is made again when it is asked for."""
        self.files.clear()
        self.members.clear()
        self.paths.clear()
        self.joined.clear()
        self.near.clear()

    cdef int note(self, int where, int name) except -1:
        """A name is being looked up there: in a container, or in one of the places numbered below zero."""
        self.noted.add(name)
        self.prints.add(fingerprint(where, name))
        return 0

    cdef File make_file(self, Facts facts):
        cdef File file = File.__new__(File)
        cdef const int32_t[:, ::1] rows
        cdef Py_ssize_t i
        cdef int scope
        file.id, file.module, file.rules, file.facts = facts.id, facts.module, facts.rules, facts
        file.symbols, file.stars, file.relations = [None] * facts.definitions.shape[0], [], facts.relations.tolist()
        file.named, file.binds, file.fields, file.exports, file.returns = {}, {}, {}, {}, {}
        for module_id, name, local, flags, within in facts.imports.tolist():
            if flags & STAR:
                for target in self.star_targets(file, module_id, within):
                    file.stars.append((target, flags))
            elif local != NOTHING:
                file.named.setdefault(local, []).append((module_id, name, flags, within))
        rows = facts.binds
        for i in range(rows.shape[0]):
            scope = rows[i, 4]
            if rows[i, 0] == FORM_FIELD:
                holder = scope if scope >= 0 and self.kind_bits[file.at(scope).kind] & VARIANT_KIND else self.type_scope(file, scope)
                if holder == NOTHING and file.rules.makes_objects:
                    holder = self.object_scope(file, scope)
                file.fields.setdefault((holder, rows[i, 1]), []).append((rows[i, 2], rows[i, 3], scope))
            elif rows[i, 0] == FORM_RETURN:
                file.returns.setdefault(scope, []).append((rows[i, 5], rows[i, 3]))
            else:
                if file.rules.implicit_self and rows[i, 1] in file.rules.self_names:
                    file.binds_self = True
                key = place(scope, rows[i, 1])
                made = (rows[i, 5], rows[i, 0], rows[i, 2], rows[i, 3])
                held = file.binds.get(key)
                if held is None:
                    file.binds[key] = [made]
                else:
                    (<list>held).append(made)
        for name, value in facts.exports.tolist():
            file.exports.setdefault(name, value)
        return file

    cdef list star_targets(self, File file, int module, int scope):
        """What a star import may mean: inside a namespace also what stands in the namespaces around it."""
        cdef str text, separator = file.rules.separator
        found = [module]
        if not file.rules.nested_modules or module == NOTHING:
            return found
        text = self.text(module)
        while scope >= 0:
            if self.kind_bits[file.at(scope).kind] & MODULE_KIND:
                around = self.text(file.at(scope).qualified)
                while around:
                    found.insert(len(found) - 1, self.id_of(around + separator + text))
                    around = around.rpartition(separator)[0]
                break
            scope = file.at(scope).parent
        return found

    cdef int type_scope(self, File file, int scope):
        """The type definition around a scope, or NOTHING."""
        cdef Symbol symbol
        while scope >= 0:
            symbol = file.at(scope)
            if self.kind_bits[symbol.kind] & (TYPE_KIND | MODULE_KIND if file.rules.class_sides else TYPE_KIND):
                return scope
            scope = symbol.parent
        return NOTHING

    cdef int object_scope(self, File file, int scope):
        """The outermost function around a scope, or the one of this file whose method that is assigned to be."""
        cdef Symbol symbol
        cdef int last = NOTHING
        while scope >= 0:
            last, symbol = scope, file.at(scope)
            if symbol.owner != NOTHING:
                for other in file.own_members(file.module, symbol.owner):
                    return (<Symbol>other).index
            scope = symbol.parent
        return last

    cdef File get_file(self, int id):
        found = self.files.get(id)
        if found is None:
            facts = self.facts.get(id)
            if facts is None:
                facts = self.loader.load_file(id) if self.loader is not None else None
                if facts is None:
                    return None
                self.facts[id] = facts
            found = self.make_file(facts)
            self.files[id] = found
        return <File>found

    cdef list find_members(self, int family, int container, int name):
        """Definitions called `name` inside `container`, in order of path and position; of very many only the first."""
        self.note(container, name)
        found = self.members.get(container, name, family)
        if found is None:
            found = self.all.find(family, container, name) if self.all is not None else self.loaded(family, self.loader.members(family, container, name))
            self.members.put(container, name, family, found)
        return <list>found

    cdef list owned_members(self, int family, int name):
        """Definitions called `name` that say which type they belong to, in order of path and position."""
        self.note(AS_OWNED, name)
        key = (family, name)
        found = self.owned.get(key)
        if found is None:
            found = self.all.find_owned(family, name) if self.all is not None else self.loaded(family, self.loader.owned(family, name))
            self.owned[key] = found
        return <list>found

    cdef list loaded(self, int family, rows):
        cdef int32_t row[12]
        cdef int column
        made = []
        for file, index, held in rows:
            for column in range(12):
                row[column] = held[column]
            made.append(make_symbol(file, index, family, row))
        return made

    cdef list module_files(self, int family, int module):
        self.note(IN_MODULES, module)
        found = self.modules.get(module, family, 0)
        if found is None:
            found = self.loader.module_files(family, module) if self.loader is not None else []
            self.modules.put(module, family, 0, found)
        return found

    cdef int module_of(self, int id):
        facts = self.facts.get(id)
        if facts is not None:
            return (<Facts>facts).module
        file = self.get_file(id)
        return (<File>file).module if file is not None else NOTHING

    cdef int common_folders(self, int one, int other):
        """How many folders the paths of two modules begin with alike."""
        cdef int count = 0
        known = self.near.get(<long long>one << 32 | <unsigned int>other)
        if known is not None:
            return known
        for a, b in zip(self.text(one).rpartition("/")[0].split("/"), self.text(other).rpartition("/")[0].split("/") if other != NOTHING else ()):
            if a != b:
                break
            count += 1
        self.near[<long long>one << 32 | <unsigned int>other] = count
        return count

    # --- texts

    cdef str text(self, int id):
        return self.texts.text(id)

    cdef int id_of(self, str text):
        return self.texts.id(text)

    cdef int nameless(self):
        """The id of no text: the container of what lives in the one world of names."""
        if self.empty == NOTHING:
            self.empty = self.id_of("")
        return self.empty

    cdef int join(self, int module, int name, str separator):
        """The id of a name inside a module."""
        key = (module, name)
        found = self.joined.get(key)
        if found is None:
            around = self.text(module)
            found = self.id_of(around + separator + self.text(name)) if around else name
            self.joined[key] = found
        return found

    # --- canonical expressions and types

    cdef tuple parse_path(self, int path):
        """(head kind, head id, steps) of a canonical expression; head kind: 0 name, 1 cast to a type, 2 nothing known."""
        known = self.paths.get(path)
        if known is not None:
            return known
        cdef str text = self.text(path)
        cdef int at = 0, size = len(text), end
        steps = []
        if text.startswith(":"):
            end = 1
            depth = 0
            while end < size and not (depth == 0 and text[end] in ".("):
                depth += (text[end] == "<") - (text[end] == ">")
                end += 1
            head = (1, self.id_of(text[1:end]))
            at = end
        elif not text or not (text[0].isidentifier() or text[0] in "@$"):
            found = (2, NOTHING, ())
            self.paths[path] = found
            return found
        else:
            end = 0
            while end < size and text[end] not in ".([!":
                end += 1
            head = (0, self.id_of(text[:end]))
            at = end
        while at < size:
            if text.startswith("!()", at):
                found = (2, NOTHING, ())
                self.paths[path] = found
                return found
            if text[at] == ".":
                end = at + 1
                while end < size and text[end] not in ".([!":
                    end += 1
                steps.append((STEP_MEMBER, self.id_of(text[at + 1:end])))
                at = end
            elif text[at] == "(":
                steps.append((STEP_CALL, NOTHING))
                at += 2
            elif text[at] == "[":
                steps.append((STEP_INDEX, NOTHING))
                at += 2
            else:
                at += 1
        found = (head[0], head[1], tuple(steps))
        self.paths[path] = found
        return found

    cdef tuple parse_type(self, int path):
        """(names, arguments) of a canonical type: names are ids from the left, arguments are ids of canonical types."""
        known = self.type_paths.get(path)
        if known is not None:
            return known
        cdef str text = self.text(path)
        cdef int open_at = text.find("<")
        cdef int depth = 0, start
        arguments = []
        if open_at >= 0:
            start = open_at + 1
            for at in range(open_at + 1, len(text)):
                if text[at] == "<":
                    depth += 1
                elif text[at] == ">" and depth:
                    depth -= 1
                elif depth == 0 and text[at] in ",>":
                    if at > start:
                        arguments.append(self.id_of(text[start:at]))
                    start = at + 1
            tail = text[text.rfind(">") + 1:]
            text = text[:open_at] + (tail if tail.startswith(".") else "")
        found = (tuple([self.id_of(part) for part in text.split(".") if part]), tuple(arguments))
        self.type_paths[path] = found
        return found
