"""What a bare name means at a place: from the inside out, then the module, its imports and what they pass on, then the one world of names.

Works on integers: texts, files and kinds are ids; the caller says what they stand for. A `Rules` object carries what differs between languages.
"""
from orbit_native.catalogue cimport *
from orbit_native.definitions cimport File, Rules, Symbol
from orbit_native.tables cimport Table

cdef enum:
    DEPTH = 40                                   # steps of inference before giving up
    EXPORT = 2                                   # of an import
    HAS_VARARGS = 2                              # of a definition
    HAS_DEFAULTS = 8


cdef class Thing:
    """What an expression evaluates to, and how sure that is."""


cdef int fits(Symbol symbol, int argc):
    """Do so many arguments fit a function: 2 if they are just as many, 1 if it takes a varying number?"""
    if argc < 0 or symbol.argc == argc:
        return 2 if argc >= 0 else 0
    return symbol.flags & HAS_VARARGS and argc >= symbol.argc - 1 or symbol.flags & HAS_DEFAULTS and argc < symbol.argc


cdef class Scopes(Catalogue):
    """The way from a bare name to a definition."""

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

    cdef int note_inside(self, File file, int name) except -1:
        """It matters what a file says of a name besides defining it. What is said in the file being resolved it knows itself, but what is found
        of bases is kept for others."""
        if file.id != self.current or self.busy_bases:
            self.note(IN_FILE - file.id, name)
        return 0

    cdef int note_around(self, File file, Symbol around) except -1:
        """The same of a definition in whose scope names are looked up."""
        if file.id != self.current or self.busy_bases:
            self.note(around.container, around.name)
        return 0

    cdef bint comes_back(self, key):
        """Is this being inferred already?"""
        cdef bint again = key in self.busy
        self.cycles += again
        return again

    cdef bint too_deep(self, int depth):
        self.cycles += depth > DEPTH
        return depth > DEPTH

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

    cdef Thing weaker(self, Thing found, int conf):
        cdef Thing made
        if found.conf >= conf:
            return found
        made = thing(found.kind, conf, found.symbol, found.module, found.arguments)
        made.via_local = found.via_local
        return made

    cdef Thing lookup(self, File file, int scope, int name, int at, int argc, int bits, int depth):
        """What a bare name means at a place, from the inside out; None when nothing in reach has that name."""
        cdef Rules rules = file.rules
        cdef Symbol symbol, around
        cdef Thing found
        cdef int here = scope
        cdef bint direct = True
        if self.too_deep(depth):
            return None
        self.note_inside(file, name)
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
            self.note_around(file, around)
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
            self.note_inside(file, name)
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
            self.note_inside(file, file.module)        # under which star imports are seen
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
            self.note(self.nameless(), name)
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
            for id, module in file.within.items():
                self.note(IN_FILE - <int>id, module)
        return file.within

    cdef bint reaches(self, File file, int target):
        """Does the file import that one directly?"""
        cdef File other = self.get_file(target)
        if other is None:
            return False
        self.note_inside(file, file.module)
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
        if home is None:
            return False
        self.note_inside(home, name)
        value = home.exports.get(name)
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
                self.note_inside(other, module)
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
        self.note_inside(other, name)
        self.note_inside(other, other.module)
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

    # --- said by the layers above

    cdef Thing evaluate(self, File file, int scope, int path, int at, int depth):
        raise NotImplementedError

    cdef Thing resolve_type(self, File file, int scope, int path, int depth):
        raise NotImplementedError

    cdef Thing declared(self, Symbol symbol, int depth):
        raise NotImplementedError

    cdef Thing local(self, File file, int scope, list bound, int at, int depth):
        raise NotImplementedError

    cdef Thing member(self, Thing found, int name, int argc, int bits, int file, int depth):
        raise NotImplementedError

    cdef Thing member_of_type(self, Symbol symbol, int name, int argc, int bits, int conf, int file, int depth, bint above=False):
        raise NotImplementedError

    cdef Thing own_member(self, Symbol symbol, int name, int argc, int bits, int file):
        raise NotImplementedError
