# What the layers of the resolver build on: what is known, and the numbers all share.
from orbit_native.definitions cimport Facts, File, Index
from orbit_native.tables cimport NumberSet, Table

cdef enum:
    NOTHING = -1
cdef enum:
    STEP_MEMBER, STEP_CALL, STEP_INDEX           # of a canonical expression
cdef enum:
    TYPE_KIND = 1                                # bits of kind classes
    CALLABLE_KIND = 2
    VALUE_KIND = 4
    MODULE_KIND = 8
    VARIANT_KIND = 128                           # a value of the type around it, or a way to make one
cdef enum:
    FORM_PARAM = 1                               # binding forms, as the caller numbers them
    FORM_FOR = 3
    FORM_GIVEN = 6


cdef inline long long place(int scope, int name):
    """A key for a name in a scope of a file."""
    return <long long>(scope + 1) << 32 | <unsigned int>name


cdef enum:
    IN_MODULES = -2                              # where a name is looked up, if not in a container: modules, what says its owner
    AS_OWNED = -3
    IN_FILE = -16                                # less the id: among what one file says besides its definitions


cpdef int fingerprint(int where, int name)
cpdef int hint(int name)


cdef class Catalogue:
    cdef object texts, loader
    cdef list kind_bits
    cdef dict facts, files, owned
    cdef Table members        # by container, name and family: Symbols
    cdef Table modules        # by module and family: ids of files
    cdef Index all            # of a complete build
    cdef NumberSet noted      # names looked up
    cdef NumberSet prints     # fingerprints of them and of where they were
    cdef dict paths, type_paths, joined, near
    cdef int empty
    cdef int note(self, int where, int name) except -1
    cdef File make_file(self, Facts facts)
    cdef list star_targets(self, File file, int module, int scope)
    cdef int type_scope(self, File file, int scope)
    cdef int object_scope(self, File file, int scope)
    cdef File get_file(self, int id)
    cdef list find_members(self, int family, int container, int name)
    cdef list owned_members(self, int family, int name)
    cdef list loaded(self, int family, rows)
    cdef list module_files(self, int family, int module)
    cdef int module_of(self, int id)
    cdef int common_folders(self, int one, int other)
    cdef str text(self, int id)
    cdef int id_of(self, str text)
    cdef int nameless(self)
    cdef int join(self, int module, int name, str separator)
    cdef tuple parse_path(self, int path)
    cdef tuple parse_type(self, int path)
