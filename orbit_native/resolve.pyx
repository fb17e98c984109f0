"""The confidence ladder over interned ids: which definition does a reference, an import or a relation mean?

Names are looked up in scopes.pyx, members in members.pyx; what values and expressions are, and what types stand for, is said here. Every name
whose meaning was looked up while resolving a file is reported, so that the caller knows when to resolve it again.
"""

from libc.stdint cimport int32_t

import numpy as np

from orbit_native.catalogue cimport *
from orbit_native.definitions cimport File, Rules, Symbol
from orbit_native.members cimport Members
from orbit_native.scopes cimport *

cdef enum:
    EQUALS = 31                                  # equally good targets kept besides the one picked
    FLAG_NEW = 1                                 # of a reference
    REF_CALL = 0
    REF_TYPE = 1
    REF_USE = 2
    REF_BOUND = 3


cdef class Resolver(Members):
    """The way from a reference to a definition."""

    # --- values

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
            self.note_inside(file, name)
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
        cdef int bits = TYPE_KIND if kind == REF_TYPE or kind == REF_BOUND or (flags & FLAG_NEW and not file.rules.makes_objects) else CALLABLE_KIND | TYPE_KIND
        if receiver == NOTHING:
            if name in file.rules.super_names:
                return thing(LOCAL, EXACT)
            if file.rules.class_sides and bits & CALLABLE_KIND:
                bits |= OF_CLASS if self.on_class(file, scope) else OF_INSTANCE
            return self.lookup(file, scope, name, start, argc, bits, depth)
        held = self.evaluate(file, scope, receiver, start, depth)
        self.note_inside(file, name)
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
            found = self.target_of(file, refs[i, 0], refs[i, 1], refs[i, 2], refs[i, 5], refs[i, 6], refs[i, 7], refs[i, 8])
            symbol = found.symbol if found is not None else None
            if symbol is not None and (symbol.name == refs[i, 1] or found.kind == CLASS or found.kind == FUNCTION or found.kind == MODULE):
                out[i, 0], out[i, 1], out[i, 2] = symbol.qualified, symbol.file, found.conf
                if found.conf == EXACT and symbol.file != file_id:
                    out[i, 2] = SAME_MODULE if self.same_module(symbol.file, file_id) else IMPORTED
                if found.via_local:
                    out[i, 2] = FUZZY
                elif refs[i, 0] == REF_CALL:
                    for other in self.equals_of(symbol, refs[i, 7], found.equals, file.rules.global_names):
                        others.append((i, (<Symbol>other).qualified, (<Symbol>other).file))
            elif found is not None and found.kind == MODULE and found.module != NOTHING:
                out[i, 0], out[i, 2] = found.module, IMPORTED
            else:
                if found is not None and found.kind != UNKNOWN:
                    out[i, 0] = -2
                if refs[i, 0] != REF_USE:
                    self.noted.add(refs[i, 1])  # a row without a target: by its name alone it can still be found
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

    def take_noted(self, list hints not None):
        """What was looked up since the last call: ids of names, sorted, and fingerprints of them with where, sorted. `hints`: names in its imports."""
        cdef int name
        for name in hints:
            self.noted.add(hint(name))
        found = self.noted.array(), self.prints.array()
        self.noted.clear()
        self.prints.clear()
        self.met.clear()
        self.busy.clear()
        self.seen.clear()
        return found
