"""What a member means: of a type and of those it inherits from, of a module, of an object, or written elsewhere for a type."""
from orbit_native.catalogue cimport *
from orbit_native.definitions cimport File, Symbol
from orbit_native.scopes cimport *
from orbit_native.tables cimport NumberSet

cdef enum:
    MOST_BASES = 40                              # types whose bases are being found at once


cdef class Members(Scopes):
    """The way from a thing and a name to a definition."""

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
        self.note_inside(file, symbol.name)
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
        self.note_inside(file, file.module)
        for star, _flags in file.stars:
            if star == module:
                return True
        if file.spaces is None:
            file.spaces = {self.text(file.at(index).qualified) for index in range(len(file.symbols)) if self.kind_bits[file.at(index).kind] & MODULE_KIND}
        for around in file.spaces:
            if around == text or (file.rules.nested_modules and around.startswith(text + file.rules.separator)):
                return True
        return False
