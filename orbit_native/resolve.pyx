"""The confidence ladder over interned ids: which definition does a name, a member or a type mean?

Works on integers: texts, files and kinds are ids; the caller says what they stand for. A `Rules` object carries what differs between languages.
Every name whose meaning was looked up while resolving a file is reported, so that the caller knows when to resolve it again.
"""

from libc.stdint cimport int32_t

import numpy as np

from orbit_native.catalogue cimport *
from orbit_native.definitions cimport File, Rules, Symbol
from orbit_native.tables cimport NumberSet, Table

cdef enum:
    EXACT, IMPORTED, SAME_MODULE, FUZZY          # confidence, best first
cdef enum:
    DEPTH = 40                                   # steps of inference before giving up
    EQUALS = 31                                  # equally good targets kept besides the one picked
    MANY = 64                                    # candidates looked at for one name
    MOST_BASES = 40                              # types whose bases are being found at once
cdef enum:
    UNKNOWN, INSTANCE, CLASS, MODULE, FUNCTION, EXTERNAL, LOCAL, SUPER     # what an expression evaluates to
cdef enum:
    DECLARATION_KIND = 16                        # bits of kind classes, with those of catalogue.pxd
    CONSTRUCTOR_KIND = 32
    SLOT_KIND = 64                               # holds a value of an instance: never a type
    OF_CLASS = 256                               # wanted besides kinds: members of the type itself, or of its instances
    OF_INSTANCE = 512
    MEMBER_KIND = 1024                           # of an object or a type, never a name by itself
    MACRO_KIND = 2048
cdef enum:
    EXPORT = 2                                   # of an import
    FLAG_NEW = 1                                 # of a reference
    IS_STATIC = 1                                # of a definition
    HAS_VARARGS = 2
    IS_EXTENSION = 4
    HAS_DEFAULTS = 8
    REF_CALL = 0
    REF_TYPE = 1
    REF_USE = 2


cdef class Thing:
    """What an expression evaluates to, and how sure that is."""
    cdef int kind, conf, module
    cdef bint via_local        # a variable or an assigned member holds it
    cdef Symbol symbol
    cdef tuple arguments     # of a generic type: Things
    cdef list equals         # definitions in other files that are meant as well


cdef inline Thing thing(int kind, int conf, Symbol symbol=None, int module=NOTHING, tuple arguments=()):
    cdef Thing made = Thing.__new__(Thing)
    made.kind, made.conf, made.symbol, made.module, made.arguments = kind, conf, symbol, module, arguments
    made.via_local = False
    return made


cdef inline int fits(Symbol symbol, int argc):
    """Do so many arguments fit a function: 2 if they are just as many, 1 if it takes a varying number?"""
    if argc < 0 or symbol.argc == argc:
        return 2 if argc >= 0 else 0
    return symbol.flags & HAS_VARARGS and argc >= symbol.argc - 1 or symbol.flags & HAS_DEFAULTS and argc < symbol.argc


cdef class Resolver(Catalogue):
    """The way from a name to a definition."""
    cdef dict base_cache
    cdef Table seen           # what names mean at the level of the module of the file being resolved, by name, arguments and bits
    cdef int current          # that file
    cdef set busy, busy_bases
    cdef set met              # types whose bases were looked up: what that took is noted
    cdef list spare_sets
    cdef int cycles           # inferences so far that ended early, because they led back to where they began
    cdef bint cut_short       # did a cycle end one since the bases of a type are being found?

    def __init__(self, texts, kind_bits, loader=None):
        super().__init__(texts, kind_bits, loader)
        self.seen, self.current, self.base_cache = Table(), NOTHING, {}
        self.busy, self.busy_bases, self.met, self.spare_sets = set(), set(), set(), []

    cdef File begin(self, int file_id):
        """From now on names are looked up for that file."""
        if self.current != file_id:
            self.current = file_id
            self.seen.clear()
        return self.get_file(file_id)

    cdef bint comes_back(self, key):
        """Is this being inferred already?"""
        cdef bint again = key in self.busy
        self.cycles += again
        return again

    cdef bint too_deep(self, int depth):
        self.cycles += depth > DEPTH
        return depth > DEPTH

    # --- names

    cdef list fitting(self, list found, int bits):
        """Of definitions with one name those that can be meant: constructors go by their type's name, types are no functions."""
        if not found:
            return found
        if bits == TYPE_KIND:
            types = [s for s in found if not self.kind_bits[(<Symbol>s).kind] & (CALLABLE_KIND | VALUE_KIND)]
            return types or [s for s in found if not self.kind_bits[(<Symbol>s).kind] & (CALLABLE_KIND | SLOT_KIND)]
        if self.kind_bits[(<Symbol>found[0]).kind] & CONSTRUCTOR_KIND:
            return [s for s in found if not self.kind_bits[(<Symbol>s).kind] & CONSTRUCTOR_KIND]
        return found

    cdef Symbol pick(self, list found, int file, int argc, int bits):
        """The one meant of several with one name and one container: this file's, then real definitions, then by argument count."""
        cdef Symbol symbol, best = None
        cdef int score, top = -1
        for symbol in found[:MANY]:
            score = 0
            if symbol.file == file:
                score += 8
            if self.kind_bits[symbol.kind] & bits:
                score += 16
            if not self.kind_bits[symbol.kind] & DECLARATION_KIND:
                score += 4
            if bits & (OF_INSTANCE if not symbol.flags & IS_STATIC else OF_CLASS):
                score += 32
            if not symbol.flags & IS_EXTENSION:
                score += 1
            score += fits(symbol, argc)
            if score > top:
                top, best = score, symbol
        return best

    cdef Thing of_symbol(self, Symbol symbol, int conf, int depth):
        cdef int bits = self.kind_bits[symbol.kind]
        cdef File home
        if bits & MODULE_KIND:
            home = self.get_file(symbol.file)
            if home is None or not home.rules.class_sides:
                return thing(MODULE, conf, symbol, symbol.qualified)
            return thing(CLASS, conf, symbol)
        if bits & TYPE_KIND:
            return thing(CLASS, conf, symbol)
        if bits & CALLABLE_KIND:
            return thing(FUNCTION, conf, symbol)
        return thing(FUNCTION, conf, symbol)

    cdef Thing value_of(self, Thing found, int depth):
        """What a definition holds when it is used as a value: the type of a field, a constant, a property."""
        cdef Symbol symbol = found.symbol
        cdef Thing made
        if found.kind != FUNCTION or symbol is None or not self.kind_bits[symbol.kind] & VALUE_KIND:
            return found
        if self.kind_bits[symbol.kind] & VARIANT_KIND:
            made = self.type_around(symbol)
            return thing(UNKNOWN, found.conf, symbol) if made is None else self.weaker(made, found.conf)
        made = self.declared(symbol, depth + 1)
        if made is None:
            return thing(UNKNOWN, found.conf, symbol)
        return self.weaker(made, found.conf)

    cdef Thing type_around(self, Symbol symbol):
        """An instance of the type a variant is declared in."""
        cdef File home = self.get_file(symbol.file)
        cdef int around = self.type_scope(home, symbol.parent) if home is not None else NOTHING
        return thing(INSTANCE, EXACT, home.at(around)) if around != NOTHING else None

    cdef Thing weaker(self, Thing found, int conf):
        cdef Thing made
        if found.conf >= conf:
            return found
        made = thing(found.kind, conf, found.symbol, found.module, found.arguments)
        made.via_local = found.via_local
        return made

    cdef Thing declared(self, Symbol symbol, int depth):
        """The declared type of a symbol (return type of a function), else what its initialiser or what it returns evaluates to."""
        cdef File home
        cdef Thing made
        if self.too_deep(depth):
            return None
        key = (symbol.file, symbol.index)
        if self.comes_back(key):
            return None
        home = self.get_file(symbol.file)
        if home is None:
            return None
        self.busy.add(key)
        try:
            if symbol.type != NOTHING:
                made = self.resolve_type(home, symbol.index, symbol.type, depth + 1)
            elif symbol.value != NOTHING:
                made = self.evaluate(home, symbol.parent, symbol.value, symbol.start, depth + 1)
            else:
                made = self.returned(home, symbol.index, depth)
            if symbol.type == NOTHING and self.kind_bits[symbol.kind] & SLOT_KIND and (made is None or made.kind == EXTERNAL):
                made = self.assigned(home, symbol.parent, symbol.name, depth) or made
        finally:
            self.busy.discard(key)
        return made

    cdef Thing returned(self, File home, int scope, int depth):
        """What a function without a declared type gives back: the one thing that those of its returns stand for that are plain to see."""
        cdef Thing only = None, made
        for at, value in home.returns.get(scope, ()):
            made = self.evaluate(home, scope, value, at, depth + 1)
            if made is None or made.kind == UNKNOWN or made.kind == LOCAL:
                continue
            if only is not None and (made.kind != only.kind or made.symbol is not only.symbol and
                                     (made.symbol is None or only.symbol is None or made.symbol.qualified != only.symbol.qualified)):
                return None
            only = made
        return only

    cdef Thing lookup(self, File file, int scope, int name, int at, int argc, int bits, int depth):
        """What a bare name means at a place, from the inside out; None when nothing in reach has that name."""
        cdef Rules rules = file.rules
        cdef Symbol symbol, around
        cdef Thing found
        cdef int here = scope
        cdef bint direct = True
        if self.too_deep(depth):
            return None
        imported = file.named.get(name)
        while True:
            bound = file.binds.get(place(here, name))
            if bound is not None and bits != TYPE_KIND \
                    and not (bits & CALLABLE_KIND and (rules.methods_apart or rules.bound_after and self.calls_itself(bound, name))):
                if here != NOTHING or not self.module_has(file, name):
                    found = self.local(file, here, bound, at, depth)
                    found.via_local = True
                    return found
            if here == NOTHING:
                break
            if file.binds_self and bits & CALLABLE_KIND:
                found = self.bound_self(file, here, at, depth)
                if found is not None:
                    found = self.member(found, name, argc, bits, file.id, depth + 1)
                    if found is not None:
                        return found
            if imported is not None:
                for module, wanted, _flags, within in imported:
                    if within == here:
                        found = self.follow(file, module, wanted, argc, bits, depth + 1)
                        return found if found is not None else thing(EXTERNAL, IMPORTED)
            around = file.at(here)
            if self.kind_bits[around.kind] & (TYPE_KIND | MODULE_KIND if rules.class_sides else TYPE_KIND):
                if rules.implicit_self or direct:
                    if rules.implicit_self:
                        found = self.member_of_type(around, name, argc, bits, EXACT, file.id, depth)
                    else:
                        found = self.own_member(around, name, argc, bits, file.id)
                    if found is not None:
                        return found
            else:
                options = self.fitting(self.bare(file, around.qualified, name, bits), bits)
                if options:
                    if self.kind_bits[around.kind] & MODULE_KIND:
                        symbol = self.pick(options, file.id, argc, bits)
                        return self.of_symbol(symbol, EXACT if symbol.file == file.id else SAME_MODULE, depth)
                    options = [s for s in options if (<Symbol>s).file == file.id and not self.kind_bits[(<Symbol>s).kind] & SLOT_KIND]
                    if options:
                        return self.of_symbol(self.pick(options, file.id, argc, bits), EXACT, depth)
                if rules.nested_modules and self.kind_bits[around.kind] & MODULE_KIND:
                    found = self.outer_module(file, around.qualified, name, argc, bits, depth)
                    if found is not None:
                        return found
            if around.name == name and self.kind_bits[around.kind] & (TYPE_KIND if bits == TYPE_KIND else TYPE_KIND | CALLABLE_KIND) \
                    and not self.kind_bits[around.kind] & MODULE_KIND \
                    and (around.owner == NOTHING or rules.implicit_self) \
                    and (around.parent == NOTHING or self.kind_bits[file.at(around.parent).kind] & MODULE_KIND):
                return self.of_symbol(around, EXACT, depth)
            direct = False
            here = around.parent
        return self.lookup_module(file, name, argc, bits, depth)

    cdef Thing bound_self(self, File file, int scope, int at, int depth):
        """What `this` stands for where a scope says it: in an extension, in the body of a `with`."""
        cdef Thing found
        for name in file.rules.self_names:
            bound = file.binds.get(place(scope, name))
            if bound is not None and bound[0][0] <= at:
                found = self.local(file, scope, bound, at, depth)
                if found.kind == INSTANCE and found.symbol is not None:
                    return found
        return None

    cdef bint calls_itself(self, list bound, int name):
        """Is every binding of a name made by a call of that very name (`let words = words(x)`)? Then the call means something further out."""
        for _start, _form, _type, value in bound:
            if value == NOTHING:
                return False
            kind, head, steps = self.parse_path(value)
            if kind != 0 or head != name or not steps or steps[0][0] != STEP_CALL:
                return False
        return True

    cdef Thing outer_module(self, File file, int module, int name, int argc, int bits, int depth):
        """A name of the modules around a module: A.B, then A."""
        cdef str text = self.text(module)
        while file.rules.separator in text:
            text = text.rpartition(file.rules.separator)[0]
            options = self.fitting(self.find_members(file.rules.family, self.id_of(text), name), bits)
            if options:
                return self.of_symbol(self.pick(options, file.id, argc, bits), SAME_MODULE, depth)
        return None

    cdef list bare(self, File file, int container, int name, int bits):
        """Definitions inside a module or function that their name alone can mean: not what an object written there holds, no mere type for a value."""
        found = self.find_members(file.rules.family, container, name)
        if found and file.rules.makes_objects:
            return [s for s in found if not self.kind_bits[(<Symbol>s).kind] & MEMBER_KIND and (bits == TYPE_KIND or self.kind_bits[(<Symbol>s).kind])]
        return found

    cdef bint module_has(self, File file, int name):
        return bool(self.bare(file, file.module, name, VALUE_KIND))

    cdef Thing lookup_module(self, File file, int name, int argc, int bits, int depth):
        """A name at the level of the module. The file that is being resolved asks for the same names again and again: what was looked up for the
        first answer is noted already. Not inside bases_of(), which notes apart; nor is an answer kept that a cycle cut short."""
        cdef int cycles = self.cycles
        if file.id != self.current or self.busy_bases:
            return self.look_in_module(file, name, argc, bits, depth)
        found = self.seen.get(name, argc, bits)
        if found is None:
            found = self.look_in_module(file, name, argc, bits, depth)
            if cycles == self.cycles:
                self.seen.put(name, argc, bits, found if found is not None else False)
        return found if found is not False else None

    cdef Thing look_in_module(self, File file, int name, int argc, int bits, int depth):
        """This file, its imports, the rest of its module, star imports, the outer world."""
        cdef Rules rules = file.rules
        cdef Symbol symbol
        cdef Thing found
        options = self.fitting(self.bare(file, file.module, name, bits), bits)
        if options:
            mine = [s for s in options if (<Symbol>s).file == file.id]
            if mine:
                return self.of_symbol(self.pick(mine, file.id, argc, bits), EXACT, depth)
        imported = file.named.get(name)
        if imported is not None:
            found = None
            for module, wanted, _flags, _scope in imported:
                found = self.follow(file, module, wanted, argc, bits, depth + 1)
                if found is not None and found.kind != EXTERNAL:
                    return found
            return found if found is not None else thing(EXTERNAL, IMPORTED)
        if options and rules.shared_modules:
            symbol = self.pick(options, file.id, argc, bits)
            return self.of_symbol(symbol, SAME_MODULE, depth)
        if not rules.textual_imports:
            self.noted.add(file.module)        # under it star imports are seen, by whoever looks at an expression of this file
            for module, _flags in file.stars:
                if module == NOTHING:
                    continue
                found = self.follow(file, module, name, argc, bits, depth + 1)
                if found is not None and found.kind != EXTERNAL:
                    return found
        if rules.global_names:
            found = self.global_name(file, name, argc, bits, depth)
            if found is not None:
                return found
        if name in rules.builtins:
            return thing(EXTERNAL, EXACT)
        return None

    cdef Thing global_name(self, File file, int name, int argc, int bits, int depth):
        """A name of the one world of names that definitions of all files share."""
        cdef Rules rules = file.rules
        cdef Symbol symbol
        cdef Thing found
        if name in rules.builtins and not rules.textual_imports:
            return None
        mine = self.fitting(file.own_members(self.nameless(), name), bits)
        if mine and name not in rules.builtins:
            self.noted.add(name)
            symbol = self.pick(mine, file.id, argc, bits)
            if self.kind_bits[symbol.kind] & bits and not self.kind_bits[symbol.kind] & DECLARATION_KIND:
                return self.of_symbol(symbol, EXACT, depth)
        options = self.fitting(self.find_members(rules.family, self.nameless(), name), bits)
        if options and rules.textual_imports:
            options = self.in_sight(file, options, bits, name in rules.builtins)
        if not options:
            return None
        symbol = self.pick(options, NOTHING if rules.textual_imports else file.id, argc, bits)
        if symbol.file == file.id:
            return self.of_symbol(symbol, EXACT, depth)
        distinct = {(<Symbol>s).file for s in options if not self.kind_bits[(<Symbol>s).kind] & DECLARATION_KIND}
        if rules.class_sides and not self.kind_bits[symbol.kind] & (CALLABLE_KIND | VALUE_KIND):
            return self.of_symbol(symbol, IMPORTED, depth)           # a type that is opened in many places is one type
        if rules.textual_imports:
            found = self.of_symbol(symbol, SAME_MODULE, depth)
            found.equals = options if len(distinct) > 1 else None
            return found
        if len(distinct) <= 1 or self.reaches(file, symbol.file):
            return self.of_symbol(symbol, IMPORTED if self.reaches(file, symbol.file) else SAME_MODULE, depth)
        return thing(UNKNOWN, FUZZY)

    cdef list in_sight(self, File file, list options, int bits, bint builtin):
        """Of definitions of one name those that a file which includes others can mean: what it includes, else functions, those that stand nearest.
        What belongs to the language is only hidden by a macro."""
        cdef Symbol s
        cdef int most = 0, shared
        if bits & CALLABLE_KIND:             # tags are no functions
            options = [s for s in options if self.kind_bits[s.kind] & CALLABLE_KIND] or options
        real = [s for s in options if not self.kind_bits[s.kind] & DECLARATION_KIND]
        if not builtin and len({s.file for s in real}) < 2:
            return real or options
        within = self.included(file)
        near = [s for s in real if s.file in within and (s.argc >= 0 or not (builtin or bits & CALLABLE_KIND and self.kind_bits[s.kind] & MACRO_KIND))]
        if builtin:
            return [s for s in near if self.kind_bits[s.kind] & MACRO_KIND]
        if near and not all([self.kind_bits[s.kind] & MACRO_KIND for s in near]):
            return near
        far = []
        for s in real:
            if self.kind_bits[s.kind] & MACRO_KIND:
                continue
            shared = self.common_folders(file.module, self.module_of(s.file))
            if shared > most:
                most, far = shared, []
            if shared == most:
                far.append(s)
        return near + far                    # a macro may hide the function it calls, or stand in for it under an #if

    cdef dict included(self, File file):
        """The files whose text a file takes in, itself among them, and their modules."""
        cdef File other
        if file.within is None:
            file.within = {file.id: file.module}
            queue = [file]
            for other in queue:
                for module, _flags in other.stars:
                    for id in self.module_files(file.rules.family, module) if module != NOTHING else ():
                        if id not in file.within and self.get_file(id) is not None:
                            queue.append(self.get_file(id))
                            file.within[id] = module
        if file.id not in self.met:
            self.met.add(file.id)
            for module in file.within.values():
                self.noted.add(module)
        return file.within

    cdef bint reaches(self, File file, int target):
        """Does the file import that one directly?"""
        cdef File other = self.get_file(target)
        if other is None:
            return False
        for module, _flags in file.stars:
            if module == other.module:
                return True
        return False

    cdef Thing follow(self, File file, int module, int name, int argc, int bits, int depth):
        """What `name` of `module` is, through re-exports; the module itself when no name is given. EXTERNAL outside the worktree."""
        cdef Symbol symbol
        cdef File other
        cdef Thing found
        if module == NOTHING or self.too_deep(depth):
            return thing(EXTERNAL, IMPORTED)
        if name == NOTHING:
            if self.module_files(file.rules.family, module):
                found = self.whole(file, module, depth)
                return found if found is not None else thing(MODULE, IMPORTED, None, module)
            found = self.qualified_path(file, module, argc, bits, depth)
            return found if found is not None else thing(EXTERNAL, IMPORTED)
        options = self.fitting(self.find_members(file.rules.family, module, name), bits)
        if options:
            symbol = self.pick(options, NOTHING, argc, bits)
            if not file.rules.makes_objects or not self.hides(symbol, name):
                return self.of_symbol(symbol, IMPORTED, depth)
        submodule = self.join(module, name, file.rules.separator)
        inside = bool(self.module_files(file.rules.family, submodule))
        if inside and (bits & MODULE_KIND or not bits & CALLABLE_KIND):
            return thing(MODULE, IMPORTED, None, submodule)
        key = (module, name)
        if self.comes_back(key):
            return None
        self.busy.add(key)
        try:
            for id in self.module_files(file.rules.family, module):
                other = self.get_file(id)
                found = self.through(other, name, argc, bits, depth + 1)
                if found is not None and found.kind != EXTERNAL:
                    return self.weaker(found, IMPORTED)
            found = self.whole(file, module, depth)
            if found is not None:
                return self.member(found, name, argc, bits, file.id, depth + 1)
        finally:
            self.busy.discard(key)
        if inside:
            return thing(MODULE, IMPORTED, None, submodule)
        if not self.module_files(file.rules.family, module):
            found = self.qualified_path(file, module, argc, bits, depth)
            if found is not None and found.kind == CLASS:
                return self.member(found, name, argc, bits, file.id, depth + 1)
            return thing(EXTERNAL, IMPORTED)
        return None

    cdef bint hides(self, Symbol symbol, int name):
        """Does the file of a definition export something else under its name?"""
        cdef File home = self.get_file(symbol.file)
        value = home.exports.get(name) if home is not None else None
        return value is not None and value != NOTHING and value != name

    cdef Thing whole(self, File file, int module, int depth):
        """What a module is when it exports one thing as itself (`module.exports = X`); its other members stay those of the module."""
        cdef File other
        cdef Thing made
        key = (module, NOTHING)
        if self.comes_back(key):
            return None
        self.busy.add(key)
        try:
            for id in self.module_files(file.rules.family, module):
                other = self.get_file(id)
                if NOTHING in other.exports:
                    made = self.evaluate(other, NOTHING, other.exports[NOTHING], 1 << 30, depth + 1)
                    if made is not None and made.symbol is not None:
                        return thing(made.kind, IMPORTED, made.symbol, module, made.arguments)
        finally:
            self.busy.discard(key)
        return None

    cdef Thing through(self, File other, int name, int argc, int bits, int depth):
        """What another file passes on under a name: exports, re-exports, star re-exports."""
        cdef Thing found
        self.noted.add(other.module)
        if name in other.exports and other.exports[name] != NOTHING:
            found = self.evaluate(other, NOTHING, other.exports[name], 1 << 30, depth + 1)
            if found is not None and found.kind != UNKNOWN:
                return found
        passed = other.named.get(name)
        if passed is not None:
            for module, wanted, flags, _scope in passed:
                if other.rules.reexports_all or flags & EXPORT:
                    found = self.follow(other, module, wanted, argc, bits, depth + 1)
                    if found is not None and found.kind != EXTERNAL:
                        return found
        for module, flags in other.stars:
            if module != NOTHING and (other.rules.reexports_all or flags & EXPORT):
                found = self.follow(other, module, name, argc, bits, depth + 1)
                if found is not None and found.kind != EXTERNAL:
                    return found
        bound = other.binds.get(place(NOTHING, name))
        if bound is not None and other.rules.reexports_all:
            return self.local(other, NOTHING, bound, 1 << 30, depth)
        return None

    cdef Thing qualified_path(self, File file, int path, int argc, int bits, int depth):
        """A dotted path that names a definition: the longest module in front, then members."""
        cdef str text = self.text(path), separator = file.rules.separator
        cdef Thing found = None
        before, found_separator, last = text.rpartition(separator)
        if not found_separator:
            options = self.find_members(file.rules.family, self.nameless(), path)
            return self.of_symbol(self.pick(options, NOTHING, argc, bits), IMPORTED, depth) if options else None
        container, name = self.id_of(before), self.id_of(last)
        options = self.fitting(self.find_members(file.rules.family, container, name), bits)
        if options:
            return self.of_symbol(self.pick(options, NOTHING, argc, bits), IMPORTED, depth)
        if self.module_files(file.rules.family, container):
            found = self.follow(file, container, name, argc, bits, depth + 1)
            return found if found is not None and found.kind != EXTERNAL else None
        if separator in before:
            found = self.qualified_path(file, container, NOTHING, TYPE_KIND, depth + 1)
            if found is not None:
                return self.member(found, name, argc, bits, file.id, depth + 1)
        return None

    cdef Thing local(self, File file, int scope, list bound, int at, int depth):
        """The type of a local: from the last binding before the place, or the first one."""
        cdef Thing made = None
        chosen = bound[0]
        for candidate in bound:
            if candidate[0] < at:          # not the one whose own value is asked for: `url = url.join(x)`
                chosen = candidate
        start, form, type_, value = chosen
        if type_ == NOTHING and value == NOTHING:
            for candidate in bound:
                if candidate[2] != NOTHING or candidate[3] != NOTHING:
                    start, form, type_, value = candidate
                    break
        key = (file.id, scope, start)
        if self.comes_back(key) or self.too_deep(depth):
            return thing(LOCAL, EXACT)
        self.busy.add(key)
        try:
            if type_ != NOTHING:
                made = self.resolve_type(file, scope, type_, depth + 1)
            elif form == FORM_GIVEN:
                made = self.given(file, scope, value, start, depth + 1)
            elif value != NOTHING:
                made = self.evaluate(file, scope, value, start, depth + 1)
        finally:
            self.busy.discard(key)
        if made is None or made.kind == UNKNOWN:
            return thing(LOCAL, EXACT)
        if form == FORM_FOR and type_ == NOTHING:
            made = self.element(made)
        return thing(made.kind, made.conf, made.symbol, made.module, made.arguments) if made is not None else thing(LOCAL, EXACT)

    cdef Thing given(self, File file, int scope, int path, int at, int depth):
        """What a function gets that is an argument of a call, as the parameter it becomes declares it: `f!0!1`, see the caller's fix-up."""
        cdef Thing called
        cdef Symbol symbol
        cdef File home
        callee, argument, position = self.text(path).split("!")
        receiver, _, name = callee.rpartition(".")
        called = self.target_of(file, REF_CALL, self.id_of(name), at, self.id_of(receiver) if receiver else NOTHING, scope, NOTHING, 0, depth)
        if called is None or called.symbol is None:
            return None
        symbol = called.symbol
        if called.kind == CLASS:
            made = self.find_members(symbol.family, symbol.qualified, self.id_of("constructor"))
            if not made:
                return None
            symbol = <Symbol>made[0]
        home = self.get_file(symbol.file)
        type_ = self.parameter_type(home, symbol, int(argument))
        if type_ != NOTHING and not self.text(type_).startswith("fn<"):          # a name for a function type
            called = self.head_type(home, symbol.index, type_ if "<" not in self.text(type_) else self.parse_type(type_)[0][0], depth + 1)
            if called is None or called.symbol is None:
                return None
            type_, home, symbol = called.symbol.type, self.get_file(called.symbol.file), called.symbol
        names, arguments = self.parse_type(type_) if type_ != NOTHING else ((), ())
        if not names or self.text(names[0]) != "fn" or int(position) + 1 >= len(arguments):
            return None
        return self.resolve_type(home, symbol.index, arguments[int(position)], depth + 1)

    cdef int parameter_type(self, File home, Symbol symbol, int wanted):
        """The declared type of a parameter; parameters inside a function type are not those of the function."""
        cdef const int32_t[:, ::1] rows = home.facts.binds
        cdef Py_ssize_t i
        cdef int inner = 0
        for i in range(rows.shape[0]):
            if rows[i, 4] != symbol.index or rows[i, 0] != FORM_PARAM or rows[i, 1] in home.rules.self_names:
                continue
            if inner:
                inner -= 1
                continue
            if wanted == 0:
                return rows[i, 2]
            wanted -= 1
            if rows[i, 2] != NOTHING and self.text(rows[i, 2]).startswith("fn<"):
                inner = len(self.parse_type(rows[i, 2])[1]) - 1
        return NOTHING

    cdef Thing element(self, Thing found):
        if found.kind == INSTANCE and found.arguments:
            return found.arguments[len(found.arguments) - 1]
        return None

    # --- members

    cdef list bases_of(self, Symbol symbol, int depth):
        """The types a type extends, implements or is given by impl blocks, resolved; in source order, each once."""
        cache_key = (symbol.family, symbol.qualified)
        known = self.base_cache.get(cache_key)
        if known is not None:
            if cache_key not in self.met:
                self.met.add(cache_key)
                self.noted.add_all(known[1])
                self.prints.add_all(known[2])
            return known[0]
        if cache_key in self.busy_bases or len(self.busy_bases) > MOST_BASES:
            self.cut_short = True
            self.cycles += 1
            return []
        # Found as if nothing had been asked before: what is kept must not depend on the way in.
        cdef NumberSet outer = self.noted, outer_prints = self.prints
        outer_cut, outer_busy, outer_met = self.cut_short, self.busy, self.met
        self.noted, self.prints = self.spare_sets.pop() if self.spare_sets else (NumberSet(), NumberSet())
        self.cut_short, self.busy, self.met = False, set(), set()
        self.busy_bases.add(cache_key)
        try:
            result = self.find_bases(symbol, 0)
        finally:
            self.busy_bases.discard(cache_key)
            inner, inner_prints = self.noted, self.prints
            self.noted, self.prints, self.busy, self.met = outer, outer_prints, outer_busy, outer_met
        names, prints = inner.array(), inner_prints.array()
        (<NumberSet>inner).clear()
        (<NumberSet>inner_prints).clear()
        self.spare_sets.append((inner, inner_prints))
        if not self.cut_short:       # a result that a cycle cut short holds for this way in only
            self.base_cache[cache_key] = (result, names, prints)
        outer.add_all(names)
        outer_prints.add_all(prints)
        self.cut_short = self.cut_short or outer_cut
        return result

    cdef list find_bases(self, Symbol symbol, int depth):
        cdef File file
        cdef Thing found
        cdef Symbol other
        result = []
        self.noted.add(symbol.name)
        namesakes = self.find_members(symbol.family, symbol.container, symbol.name)
        for other in [s for s in namesakes if self.kind_bits[(<Symbol>s).kind] & (TYPE_KIND | MODULE_KIND)] or [symbol]:
            file = self.get_file(other.file)
            if file is None:
                continue
            for scope, owner, target in file.relations:
                if owner != NOTHING:
                    continue
                if scope == other.index:
                    found = self.resolve_type(file, other.parent, target, depth + 1)
                    if found is not None and found.kind == INSTANCE and found.symbol is not None and found.symbol.qualified != symbol.qualified:
                        result.append(found.symbol)
        file = self.get_file(symbol.file)
        if file.rules.named_types and self.kind_bits[symbol.kind] == 0:
            found = self.declared(symbol, depth + 1)
            if found is not None and found.kind == INSTANCE and found.symbol is not None:
                result.append(found.symbol)
        for scope, owner, target in file.relations:        # impl Trait for Type, in the type's own file
            if owner != NOTHING:
                names, _arguments = self.parse_type(owner)
                if names and names[len(names) - 1] == symbol.name:
                    found = self.resolve_type(file, scope, target, depth + 1)
                    if found is not None and found.kind == INSTANCE and found.symbol is not None and found.symbol.qualified != symbol.qualified:
                        result.append(found.symbol)
        return result

    cdef Thing own_member(self, Symbol symbol, int name, int argc, int bits, int file):
        options = self.fitting(self.find_members(symbol.family, symbol.qualified, name), bits)
        if options:
            return self.of_symbol(self.pick(options, file, argc, bits), EXACT, 0)
        return None

    cdef Thing member_of_type(self, Symbol symbol, int name, int argc, int bits, int conf, int file, int depth, bint above=False):
        """A member of a type or of the types it inherits from, nearest first."""
        cdef Symbol current, base
        cdef Thing found, spare = None
        cdef list queue = [symbol]
        cdef set seen = {symbol.qualified}
        cdef int position = 0
        if self.too_deep(depth):
            return None
        while position < len(queue) and position < MANY:
            current = queue[position]
            position += 1
            if not (above and position == 1):
                found = self.declared_member(current, name, argc, bits, file, depth)
                if found is not None and argc >= 0 and self.takes_other(found, argc) and self.get_file(file).rules.overloads:
                    spare, found = spare or found, None          # an overload further up may fit
                if found is not None:
                    return self.placed(found, conf, file)
            for base in self.bases_of(current, depth + 1):
                if base.qualified not in seen:
                    seen.add(base.qualified)
                    queue.append(base)
        return self.placed(spare, conf, file) if spare is not None else None

    cdef bint takes_other(self, Thing found, int argc):
        """Is this a function that takes another number of arguments?"""
        return found.kind == FUNCTION and bool(self.kind_bits[found.symbol.kind] & CALLABLE_KIND) and not fits(found.symbol, argc)

    cdef Thing placed(self, Thing found, int conf, int file):
        """A member of a type that is known that well, as seen from a file."""
        if found.symbol is not None and found.symbol.file != file and conf == EXACT:
            conf = SAME_MODULE if self.same_module(found.symbol.file, file) else IMPORTED
        return self.weaker(found, conf)

    cdef bint same_module(self, int one, int other):
        cdef File a = self.get_file(one), b = self.get_file(other)
        return a is not None and b is not None and a.module == b.module and a.rules.shared_modules

    cdef Thing declared_member(self, Symbol symbol, int name, int argc, int bits, int file, int depth):
        cdef File home
        home = self.get_file(symbol.file)
        if home is None:
            return None
        options = self.fitting(self.find_members(symbol.family, symbol.qualified, name), bits)
        if options and home.rules.makes_objects and bits & (OF_CLASS | OF_INSTANCE):
            options = [s for s in options if self.on_side(s, bits)]
        if options:
            return self.of_symbol(self.pick(options, file, argc, bits), EXACT, depth)
        if (symbol.index, name) not in home.fields:
            return None
        made = self.assigned(home, symbol.index, name, depth)
        if made is None:
            return thing(LOCAL, EXACT)
        made = thing(made.kind, made.conf, made.symbol, made.module, made.arguments)
        made.via_local = True
        return made

    cdef Thing assigned(self, File home, int holder, int name, int depth):
        """What a member is that methods assign (`self.x = X()`): the first that is plain to see."""
        cdef Thing made
        for type_, value, scope in home.fields.get((holder, name), ()):
            made = None
            key = (home.id, holder, name, scope)
            if self.comes_back(key):
                continue
            self.busy.add(key)
            try:
                if type_ != NOTHING:
                    made = self.resolve_type(home, scope, type_, depth + 1)
                elif value != NOTHING:
                    made = self.evaluate(home, scope, value, 1 << 30, depth + 1)
            finally:
                self.busy.discard(key)
            if made is not None and made.kind not in (UNKNOWN, LOCAL, EXTERNAL):
                return made
        return None

    cdef bint on_side(self, Symbol symbol, int bits):
        """Is a member of a class reached as it is here, on the class or on an instance? Of what was assigned to it that is not known."""
        return symbol.owner != NOTHING or not self.kind_bits[symbol.kind] & MEMBER_KIND or bool(symbol.flags & IS_STATIC) == bool(bits & OF_CLASS)

    cdef Thing member(self, Thing found, int name, int argc, int bits, int file, int depth):
        """`found.name`: None when it is not known to have such a member."""
        cdef File home
        cdef Thing made
        if self.too_deep(depth):
            return None
        if found.kind == MODULE:
            home = self.get_file(file)
            made = self.follow(home, found.module, name, argc, bits, depth + 1)
            return self.weaker(made, found.conf) if made is not None else None
        if found.module != NOTHING:
            made = self.member(thing(found.kind, found.conf, found.symbol, NOTHING, found.arguments), name, argc, bits, file, depth + 1)
            return made if made is not None else self.member(thing(MODULE, found.conf, None, found.module), name, argc, bits, file, depth + 1)
        if found.kind == CLASS or found.kind == INSTANCE:
            if found.symbol is None:
                return thing(EXTERNAL, found.conf)
            if bits & CALLABLE_KIND:
                home = self.get_file(file)
                if home is not None and (home.rules.class_sides or home.rules.makes_objects):
                    bits |= OF_CLASS if found.kind == CLASS else OF_INSTANCE
            made = self.member_of_type(found.symbol, name, argc, bits, found.conf, file, depth + 1)
            if made is None and bits & CALLABLE_KIND:
                made = self.written_elsewhere(self.get_file(file), found.symbol, name, argc, depth)
            return made
        if found.kind == SUPER:
            return self.member_of_type(found.symbol, name, argc, bits, found.conf, file, depth + 1, True)
        if found.kind == EXTERNAL:
            return found
        home = self.get_file(file)
        if found.symbol is not None and home is not None and home.rules.makes_objects:
            return self.attached(found, name, argc, bits, file)
        return None

    cdef Thing attached(self, Thing found, int name, int argc, int bits, int file):
        """A member of a function or of an object that a constant holds: written in the object, or assigned to it."""
        options = self.fitting(self.find_members(found.symbol.family, found.symbol.qualified, name), bits)
        if not self.kind_bits[found.symbol.kind] & VALUE_KIND:
            bits |= OF_CLASS
            options = [s for s in options if (<Symbol>s).owner != NOTHING]
        return self.of_symbol(self.pick(options, file, argc, bits), found.conf, 0) if options else None

    cdef Thing written_elsewhere(self, File file, Symbol receiver, int name, int argc, int depth, bint outside=False, int external=NOTHING):
        """A member that stands apart from its type: an impl block of another module, an extension that the file can see. Of an unknown receiver
        (None) only what the file imports by name; of one from outside the worktree what it can see."""
        cdef Symbol symbol
        cdef File home
        cdef Thing owner
        found = []
        if file is None or self.too_deep(depth):
            return None
        wanted = {receiver.name} | {(<Symbol>base).name for base in self.bases_of(receiver, depth + 1)} if receiver is not None else None
        for symbol in self.owned_members(file.rules.family, name):
            if not self.kind_bits[symbol.kind] & CALLABLE_KIND or len(found) >= MANY:
                continue
            if receiver is None:
                if symbol.flags & IS_EXTENSION and (self.sees_extension(file, symbol) if outside else self.imports_extension(file, symbol)):
                    home = self.get_file(symbol.file)
                    owner = self.resolve_type(home, symbol.parent, symbol.owner, depth + 1) if outside else None
                    if (owner is None or owner.symbol is None) and (external == NOTHING or external == self.last_name(symbol.owner)):
                        found.append(symbol)
                continue
            if not self.sees_extension(file, symbol) if symbol.flags & IS_EXTENSION else self.last_name(symbol.owner) not in wanted:
                continue
            home = self.get_file(symbol.file)
            key = ("elsewhere", symbol.file, symbol.index)
            if home is None or self.comes_back(key):
                continue
            self.busy.add(key)
            try:
                owner = self.resolve_type(home, symbol.parent, symbol.owner, depth + 1)
            finally:
                self.busy.discard(key)
            if owner is not None and owner.kind == INSTANCE and owner.symbol is not None and self.is_a(receiver, owner.symbol, depth):
                found.append(symbol)
        if not found:
            return None
        owner = self.of_symbol(self.pick(found, file.id, argc, CALLABLE_KIND), IMPORTED, depth)
        owner.equals = found
        return owner

    cdef int last_name(self, int path):
        names, _arguments = self.parse_type(path)
        return names[len(names) - 1] if names else NOTHING

    cdef bint is_a(self, Symbol symbol, Symbol wanted, int depth):
        """Is a type another one, or does it inherit from it?"""
        cdef Symbol base
        cdef list queue = [symbol]
        cdef int position = 0
        while position < len(queue) and position < MANY:
            if (<Symbol>queue[position]).qualified == wanted.qualified:
                return True
            for base in self.bases_of(queue[position], depth + 1):
                if base not in queue:
                    queue.append(base)
            position += 1
        return False

    cdef int module_around(self, Symbol symbol):
        """The innermost module, package or namespace a definition stands in."""
        cdef File home = self.get_file(symbol.file)
        cdef int scope = symbol.parent
        while home is not None and scope >= 0:
            if self.kind_bits[home.at(scope).kind] & MODULE_KIND:
                return home.at(scope).qualified
            scope = home.at(scope).parent
        return home.module if home is not None else NOTHING

    cdef bint imports_extension(self, File file, Symbol symbol):
        for module, wanted, _flags, _scope in file.named.get(symbol.name, ()):
            if wanted == symbol.name and module == self.module_around(symbol):
                return True
        return False

    cdef bint sees_extension(self, File file, Symbol symbol):
        """Is an extension imported by name or with all of its module, or does it stand in a module of this file or around it?"""
        cdef int module = self.module_around(symbol)
        cdef str text = self.text(module)
        if symbol.file == file.id or self.imports_extension(file, symbol):
            return True
        for star, _flags in file.stars:
            if star == module:
                return True
        if file.spaces is None:
            file.spaces = {self.text(file.at(index).qualified) for index in range(len(file.symbols)) if self.kind_bits[file.at(index).kind] & MODULE_KIND}
        for around in file.spaces:
            if around == text or (file.rules.nested_modules and around.startswith(text + file.rules.separator)):
                return True
        return False

    # --- expressions and types

    cdef Thing head_of(self, File file, int scope, int name, int at, int depth):
        cdef Rules rules = file.rules
        cdef Thing found
        cdef int around
        if name in rules.self_names or name in rules.class_names or name in rules.super_names:
            found = self.bound_self(file, scope, at, depth) if file.binds_self and name in rules.self_names else None
            if found is not None:
                return found
            around = self.type_scope(file, scope)
            if around != NOTHING:
                if name in rules.super_names:
                    return thing(SUPER, EXACT, self.real_type(file, around, depth))
                if (rules.class_sides or rules.makes_objects) and self.on_class(file, scope):
                    return thing(CLASS, EXACT, self.real_type(file, around, depth))
                return thing(CLASS if name in rules.class_names else INSTANCE, EXACT, self.real_type(file, around, depth))
            if rules.makes_objects and name in rules.self_names:
                return self.object_around(file, scope, depth)
            if file.binds.get(place(scope, name)) is None:
                return None
        found = self.lookup(file, scope, name, at, NOTHING, TYPE_KIND | VALUE_KIND | MODULE_KIND, depth + 1)
        if found is None and name in rules.constructors:
            around = self.type_scope(file, scope)
            if around != NOTHING:
                return thing(CLASS, EXACT, self.real_type(file, around, depth))
        return found if found is not None else self.root_of(file, scope, name)

    cdef Thing root_of(self, File file, int scope, int name):
        """The module a path begins with: the root of this one, the one around it, or another one of the worktree by its full name."""
        cdef Rules rules = file.rules
        cdef Symbol symbol
        if name in rules.root_names and rules.makes_objects:
            return thing(MODULE, EXACT, None, file.module)
        if name in rules.root_names:
            return thing(MODULE, IMPORTED, None, self.id_of(self.text(file.module).partition(rules.separator)[0]))
        if name in rules.outer_names:
            while scope >= 0:
                symbol = file.at(scope)
                if self.kind_bits[symbol.kind] & MODULE_KIND:
                    return thing(MODULE, IMPORTED, None, symbol.container if symbol.container != NOTHING else file.module)
                scope = symbol.parent
            return thing(MODULE, IMPORTED, None, self.id_of(self.text(file.module).rpartition(rules.separator)[0]))
        if rules.module_paths and self.module_files(rules.family, name):
            return thing(MODULE, IMPORTED, None, name)
        return None

    cdef bint on_class(self, File file, int scope):
        """Does code of a scope run on the type itself: in its body, or in one of its own methods?"""
        cdef Symbol symbol
        while scope >= 0:
            symbol = file.at(scope)
            if self.kind_bits[symbol.kind] & CALLABLE_KIND:
                return symbol.flags & IS_STATIC
            if self.kind_bits[symbol.kind] & (TYPE_KIND | MODULE_KIND):
                return file.rules.class_sides
            if symbol.flags & IS_STATIC:
                return True
            scope = symbol.parent
        return False

    cdef Thing object_around(self, File file, int scope, int depth):
        """What `this` is outside a class: what a method was assigned to, the object it is written in, or what the outermost function makes."""
        cdef Symbol symbol = None
        cdef Thing found
        while scope >= 0:
            symbol = file.at(scope)
            if symbol.owner != NOTHING:
                found = self.evaluate(file, symbol.parent, symbol.owner, 1 << 30, depth + 1)
                return thing(INSTANCE, found.conf, found.symbol) if found is not None and found.symbol is not None else None
            if self.kind_bits[symbol.kind] & VALUE_KIND and not self.kind_bits[symbol.kind] & MEMBER_KIND:
                break
            scope = symbol.parent
        if symbol is None:
            return None
        if self.kind_bits[symbol.kind] & MEMBER_KIND:
            return thing(MODULE, EXACT, None, file.module)
        return thing(INSTANCE, EXACT, symbol)

    cdef Symbol real_type(self, File file, int index, int depth):
        """The type an enclosing definition stands for: itself, or what an impl block or an extension belongs to."""
        cdef Symbol symbol = file.at(index)
        cdef Thing found
        if symbol.owner != NOTHING and not file.rules.makes_objects:
            found = self.resolve_type(file, symbol.parent, symbol.owner, depth + 1)
            if found is not None and found.symbol is not None:
                return found.symbol
        return symbol

    cdef Thing evaluate(self, File file, int scope, int path, int at, int depth):
        """What a canonical expression evaluates to at a place; None or UNKNOWN when that is not plain to see."""
        cdef Thing found, inner
        cdef Rules rules = file.rules
        cdef int step, name
        if self.too_deep(depth) or path == NOTHING:
            return None
        kind, head, steps = self.parse_path(path)
        if kind == 2:
            return None
        if kind == 1:
            found = self.resolve_type(file, scope, head, depth + 1)
            if found is None:                      # the package in front of the type
                found = self.head_of(file, scope, head, at, depth + 1)
        else:
            found = self.head_of(file, scope, head, at, depth + 1)
            if found is not None and not steps:
                return self.value_of(self.bare_call(found, rules, depth), depth)
        for index, (step, name) in enumerate(steps):
            if found is None:
                return None
            if step == STEP_MEMBER:
                if found.kind == FUNCTION and found.symbol is not None and self.kind_bits[found.symbol.kind] & VARIANT_KIND:
                    inner = self.declared_member(found.symbol, name, NOTHING, VALUE_KIND, file.id, depth + 1)
                    if inner is not None:
                        found = self.weaker(inner, found.conf)
                        continue
                found = self.value_of(self.bare_call(found, rules, depth), depth)
                passed = self.pass_through(found, rules, name, index, steps)
                wanted = CALLABLE_KIND | VALUE_KIND | self.leads_on(steps, index)
                found = passed if passed is not None else self.member(found, name, NOTHING, wanted, file.id, depth + 1)
            elif step == STEP_CALL:
                found = self.called(found, rules, depth)
            else:
                found = self.value_of(found, depth)
                if found.kind == INSTANCE:
                    found = self.element(found)
                elif found.kind != CLASS:
                    return None
        return self.value_of(found, depth) if found is not None else None

    cdef Thing bare_call(self, Thing found, Rules rules, int depth):
        """Where a method is called without brackets (Ruby), its name stands for what it gives back."""
        cdef Thing made
        if rules.class_sides and found.kind == FUNCTION and self.kind_bits[found.symbol.kind] & CALLABLE_KIND:
            made = self.called(found, rules, depth)
            if made is not None:
                return made
        return found

    cdef int leads_on(self, tuple steps, int index):
        """Modules may be meant where no call follows."""
        return 0 if index + 1 < len(steps) and steps[index + 1][0] == STEP_CALL else MODULE_KIND

    cdef Thing pass_through(self, Thing found, Rules rules, int name, int index, tuple steps):
        """Methods that give back what they are called on (`unwrap`, `clone`), and the constructor word of languages that have one."""
        if found.kind == INSTANCE and found.symbol is None and found.arguments and name in rules.picking:
            return self.element(found)
        if found.kind == INSTANCE and name in rules.passing:
            if found.symbol is None or not self.find_members(found.symbol.family, found.symbol.qualified, name):
                return found
        if found.kind == INSTANCE and name in rules.class_words and found.symbol is not None:
            return thing(CLASS, found.conf, found.symbol)
        if found.kind == CLASS and name in rules.self_names:        # Outer.this
            return thing(INSTANCE, found.conf, found.symbol)
        if found.kind == CLASS and name in rules.constructors and not self.find_members(found.symbol.family, found.symbol.qualified, name):
            return found
        return None

    cdef Thing called(self, Thing found, Rules rules, int depth):
        """What a call gives back."""
        cdef Thing made
        cdef Symbol symbol = found.symbol
        if found.kind == CLASS:
            return thing(INSTANCE, found.conf, symbol, NOTHING, found.arguments)
        if found.kind == INSTANCE or found.kind == SUPER:
            return found              # a method that passes its receiver through, or super()
        if found.kind != FUNCTION:
            return found if found.kind == EXTERNAL else None
        if self.kind_bits[symbol.kind] & VARIANT_KIND:
            made = self.type_around(symbol)
            return None if made is None else self.weaker(made, found.conf)
        if self.kind_bits[symbol.kind] & VALUE_KIND:
            return None
        made = self.declared(symbol, depth + 1)
        if rules.named_types and self.is_named_type(found):
            return thing(INSTANCE, found.conf, symbol, NOTHING, made.arguments if made is not None else ())
        if made is None and symbol.type == NOTHING and self.get_file(symbol.file).rules.makes_objects:
            return thing(INSTANCE, found.conf, symbol)
        if made is None or made.kind != INSTANCE:
            return None
        return self.weaker(made, IMPORTED if found.conf < IMPORTED and made.symbol is not None and made.symbol.file != symbol.file else found.conf)

    cdef bint is_named_type(self, Thing found):
        """Is this a type that is made out of another one: a definition that is nothing else?"""
        return found is not None and found.kind == FUNCTION and found.symbol is not None and self.kind_bits[found.symbol.kind] == 0

    cdef Thing resolve_type(self, File file, int scope, int path, int depth):
        """The instance a value of this written type is."""
        cdef Thing found, inner
        cdef Rules rules = file.rules
        cdef int name, around
        if self.too_deep(depth) or path == NOTHING:
            return None
        names, arguments = self.parse_type(path)
        if not names:
            return None
        name = names[len(names) - 1]
        if arguments and name in rules.transparent:
            return self.resolve_type(file, scope, arguments[len(arguments) - 1] if name not in rules.collections else arguments[0], depth + 1)
        if self.text(names[0]).startswith("|"):
            return self.alternative(file, scope, arguments, depth)
        if self.text(names[0]) == "fn":
            return None
        if self.text(names[0]) == "()":
            return self.resolve_type(file, scope, arguments[0], depth + 1) if arguments else None
        found = None
        if len(names) == 1 and (name in rules.class_names or name in rules.self_names):
            around = self.type_scope(file, scope)
            if around != NOTHING:
                return thing(INSTANCE, EXACT, self.real_type(file, around, depth))
        if not (name in rules.collections and arguments):
            found = self.head_type(file, scope, names[0], depth)
            for name in names[1:]:
                if found is None:
                    break
                found = self.member(found, name, NOTHING, TYPE_KIND, file.id, depth + 1)
        if rules.named_types and self.is_named_type(found):
            return self.called(found, rules, depth)
        if found is not None and found.kind == FUNCTION and found.symbol is not None and found.symbol.type != NOTHING:
            inner = self.declared(found.symbol, depth + 1)          # an alias of a type
            if inner is None and rules.makes_objects:
                return thing(INSTANCE, found.conf, found.symbol)    # or a type that is written there
            return self.weaker(inner, found.conf) if inner is not None else None
        if found is not None and found.kind == CLASS:
            return thing(INSTANCE, found.conf, found.symbol, NOTHING, self.argument_things(file, scope, arguments, depth))
        if arguments:
            return thing(INSTANCE, EXACT, None, NOTHING, self.argument_things(file, scope, arguments, depth))
        return thing(EXTERNAL, found.conf, None, name) if found is not None and found.kind == EXTERNAL else None

    cdef Thing head_type(self, File file, int scope, int name, int depth):
        cdef Thing found = self.lookup(file, scope, name, 1 << 30, NOTHING, TYPE_KIND, depth + 1)
        if found is None:
            found = self.root_of(file, scope, name)
        if found is not None:
            return found
        while True:                                # a type parameter is what it is bound by
            bound = file.binds.get(place(scope, name))
            if bound is not None:
                _start, _form, type_, _value = bound[0]
                if type_ != NOTHING and type_ != name:
                    found = self.resolve_type(file, scope, type_, depth + 1)
                    if found is not None and found.kind == INSTANCE and found.symbol is not None:
                        return thing(CLASS, found.conf, found.symbol)
                return None
            if scope == NOTHING:
                return None
            scope = file.at(scope).parent

    cdef Thing alternative(self, File file, int scope, tuple arguments, int depth):
        """Of several types, the only one that is known."""
        cdef Thing only = None, found
        for argument in arguments:
            found = self.resolve_type(file, scope, argument, depth + 1)
            if found is not None and found.kind == INSTANCE and found.symbol is not None:
                if only is not None and only.symbol.qualified != found.symbol.qualified:
                    return None
                only = found
        return only

    cdef tuple argument_things(self, File file, int scope, tuple arguments, int depth):
        made = []
        for argument in arguments:
            found = self.resolve_type(file, scope, argument, depth + 1)
            made.append(found if found is not None else thing(UNKNOWN, EXACT))
        return tuple(made)

    # --- references

    cdef Thing target_of(self, File file, int kind, int name, int start, int receiver, int scope, int argc, int flags, int depth=0):
        cdef Thing held
        cdef int bits = TYPE_KIND if kind == REF_TYPE or kind == 3 or (flags & FLAG_NEW and not file.rules.makes_objects) else CALLABLE_KIND | TYPE_KIND
        if receiver == NOTHING:
            if name in file.rules.super_names:
                return thing(LOCAL, EXACT)
            if file.rules.class_sides and bits & CALLABLE_KIND:
                bits |= OF_CLASS if self.on_class(file, scope) else OF_INSTANCE
            return self.lookup(file, scope, name, start, argc, bits, depth)
        held = self.evaluate(file, scope, receiver, start, depth)
        if held is not None and name in file.rules.class_words:
            return thing(EXTERNAL, held.conf)               # `new this.constructor()`: whatever the type of this is at run time
        if held is not None and held.symbol is not None and file.rules.makes_objects and (held.kind == FUNCTION or held.kind == UNKNOWN):
            return self.member(held, name, argc, bits, file.id, depth)
        if held is None or held.kind == UNKNOWN or held.kind == LOCAL or held.kind == FUNCTION:
            return self.written_elsewhere(file, None, name, argc, 0) if name in file.named and bits & CALLABLE_KIND else None
        if held.kind == EXTERNAL or (held.kind == INSTANCE and held.symbol is None):
            if bits & CALLABLE_KIND and (name in file.named or file.rules.implicit_self and not file.rules.methods_apart):
                return self.written_elsewhere(file, None, name, argc, 0, True, held.module) or thing(EXTERNAL, held.conf)
            return thing(EXTERNAL, held.conf)
        return self.member(held, name, argc, bits, file.id, depth)

    def resolve_refs(self, int file_id, const int32_t[:, ::1] refs not None):
        """For rows (kind, name, start, end, line, receiver, scope, argc, flags): int32[n, 3] of (target qualified or -1, target file or -1,
        confidence), and a list of (row, target qualified, target file) of equally good targets. -2 in the first column marks a name that is
        known to be local or outside the worktree."""
        cdef File file = self.begin(file_id)
        cdef Thing found
        cdef Symbol symbol
        result = np.empty((refs.shape[0], 3), dtype=np.int32)
        cdef int32_t[:, ::1] out = result
        cdef Py_ssize_t i
        others = []
        for i in range(refs.shape[0]):
            out[i, 0], out[i, 1], out[i, 2] = NOTHING, NOTHING, FUZZY
            self.noted.add(refs[i, 1])
            found = self.target_of(file, refs[i, 0], refs[i, 1], refs[i, 2], refs[i, 5], refs[i, 6], refs[i, 7], refs[i, 8])
            if found is None:
                continue
            symbol = found.symbol
            if symbol is not None and (symbol.name == refs[i, 1] or found.kind == CLASS or found.kind == FUNCTION or found.kind == MODULE):
                out[i, 0], out[i, 1], out[i, 2] = symbol.qualified, symbol.file, found.conf
                if found.conf == EXACT and symbol.file != file_id:
                    out[i, 2] = SAME_MODULE if self.same_module(symbol.file, file_id) else IMPORTED
                if found.via_local:
                    out[i, 2] = FUZZY
                elif refs[i, 0] == REF_CALL:
                    for other in self.equals_of(symbol, refs[i, 7], found.equals, file.rules.global_names):
                        others.append((i, (<Symbol>other).qualified, (<Symbol>other).file))
            elif found.kind == MODULE and found.module != NOTHING:
                out[i, 0], out[i, 2] = found.module, IMPORTED
            elif found.kind != UNKNOWN:
                out[i, 0] = -2
        return result, others

    cdef list equals_of(self, Symbol symbol, int argc, list options, bint one_world):
        """Definitions that fit a call as well as the one picked: overloads with as many parameters, branches of an #if, files of other systems."""
        cdef Symbol other
        found = []
        anywhere = options is not None
        if not anywhere:
            options = self.find_members(symbol.family, symbol.container, symbol.name)
        if len(options) < 2:
            return found
        for other in options[:MANY]:
            if (other.file != symbol.file or other.index != symbol.index) and len(found) < EQUALS \
                    and (anywhere or other.file == symbol.file or other.qualified == symbol.qualified and not one_world) \
                    and (other.kind == symbol.kind or self.makes_as(other, symbol, argc)) \
                    and (other.argc == symbol.argc or fits(other, argc)):
                found.append(other)
        return found

    cdef bint makes_as(self, Symbol other, Symbol symbol, int argc):
        """Is a type with a constructor of that many arguments meant as well as the function of its name (Kotlin), or a macro as well as a function (C)?"""
        cdef int one = self.kind_bits[other.kind], two = self.kind_bits[symbol.kind]
        if not two & CALLABLE_KIND or (one | two) & DECLARATION_KIND:
            return False
        return argc >= 0 and other.argc == argc and bool(one & TYPE_KIND) or bool(one & CALLABLE_KIND and (one ^ two) & MACRO_KIND)

    def resolve_relations(self, int file_id, rows):
        """For rows (scope, owner, target): int32[n, 3] of (from qualified, to qualified, confidence), -1 where unknown."""
        cdef File file = self.begin(file_id)
        cdef Thing found
        cdef Symbol symbol
        result = np.full((len(rows), 3), NOTHING, dtype=np.int32)
        for i, (scope, owner, target) in enumerate(rows.tolist()):
            result[i, 2] = FUZZY
            if owner != NOTHING:
                found = self.resolve_type(file, scope, owner, 0)
                if found is not None and found.symbol is not None:
                    result[i, 0] = found.symbol.qualified
            elif scope >= 0:
                result[i, 0] = self.real_type(file, scope, 0).qualified
            names, _arguments = self.parse_type(target)
            for name in names:
                self.noted.add(name)
            around = file.at(scope).parent if scope >= 0 and owner == NOTHING else scope
            found = self.resolve_type(file, around, target, 0)
            if found is not None and found.symbol is not None and found.kind == INSTANCE:
                symbol = found.symbol
                result[i, 1], result[i, 2] = symbol.qualified, found.conf
                if found.conf == EXACT and symbol.file != file_id:
                    result[i, 2] = SAME_MODULE if self.same_module(symbol.file, file_id) else IMPORTED
        return result

    def follow_import(self, int file_id, int module, int name):
        """(qualified, file) of what an imported name stands for, or None."""
        cdef Thing found = self.follow(self.begin(file_id), module, name, NOTHING, TYPE_KIND | CALLABLE_KIND | VALUE_KIND, 0)
        if found is None or found.kind in (EXTERNAL, LOCAL, UNKNOWN, INSTANCE):
            return None
        if found.symbol is not None:
            return found.symbol.qualified, found.symbol.file
        return (found.module, None) if found.kind == MODULE else None

    def evaluate_text(self, int file_id, int scope, int path, int at):
        """(qualified, file) of the definition an expression names, or None; for command handlers."""
        cdef File file = self.begin(file_id)
        kind, head, steps = self.parse_path(path)
        if kind != 0:
            return None
        cdef Thing found = self.head_of(file, scope, head, at, 0)
        for step, name in steps:
            if found is None:
                return None
            if step == STEP_MEMBER:
                found = self.member(self.value_of(found, 0), name, NOTHING, CALLABLE_KIND, file_id, 0)
            elif step == STEP_CALL:
                found = self.called(found, file.rules, 0)
        if found is None or found.symbol is None or found.kind not in (CLASS, FUNCTION):
            return None
        return found.symbol.qualified, found.symbol.file

    def take_noted(self, list more not None):
        """What was looked up since the last call: ids of names, sorted, and fingerprints of (container, name), sorted. `more`: names to count in."""
        cdef int name
        for name in more:
            self.noted.add(name)
        found = self.noted.array(), self.prints.array()
        self.noted.clear()
        self.prints.clear()
        self.met.clear()
        self.busy.clear()
        self.seen.clear()
        return found
