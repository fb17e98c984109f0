# What the resolver knows: rules of languages, definitions, files.
from libc.stdint cimport int32_t


cdef class Rules:
    cdef public int family
    cdef public bint implicit_self, shared_modules, reexports_all, global_names, nested_modules, module_paths, class_sides, bound_after, makes_objects
    cdef public bint textual_imports, named_types, overloads, methods_apart
    cdef public frozenset self_names, class_names, super_names, class_words, root_names, outer_names, constructors, transparent, collections
    cdef public frozenset passing, picking, builtins
    cdef public str separator


cdef class Symbol:
    cdef readonly int file, index, kind, name, qualified, container, parent, start, end, type, value, owner, argc, flags, family


cdef class Facts:
    cdef readonly int id, module
    cdef Rules rules
    cdef const int32_t[:, ::1] definitions
    cdef object imports, relations, binds, exports


cdef class File:
    cdef readonly int id, module
    cdef Rules rules
    cdef Facts facts
    cdef list symbols          # one for each definition, made when first asked for
    cdef list stars, relations
    cdef dict named, binds, fields, exports, returns
    cdef bint binds_self       # is `this` bound anywhere in it?
    cdef set spaces            # names of the modules in it; made when first asked for
    cdef dict within           # files whose text it takes in -> their modules; made when first asked for
    cdef dict own              # name -> positions of this file's definitions; made when first asked for
    cdef Symbol at(self, Py_ssize_t index)
    cdef list own_members(self, int container, int name)


cdef class Index:
    cdef list facts
    cdef const int32_t[::1] order, containers, first, slot_of, first_of
    cdef dict owned            # name -> positions of definitions that say which type they belong to
    cdef Symbol at(self, Py_ssize_t position)
    cdef list find(self, int family, int container, int name)
    cdef list find_owned(self, int family, int name)


cdef Symbol make_symbol(int file, Py_ssize_t index, int family, const int32_t *row)
