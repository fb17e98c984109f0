# What names mean, layer by layer: scopes and imports here, members on them (members.pyx), values and types on both (resolve.pyx).
from orbit_native.catalogue cimport Catalogue, NOTHING
from orbit_native.definitions cimport File, Rules, Symbol
from orbit_native.tables cimport Table

cdef enum:
    EXACT, IMPORTED, SAME_MODULE, FUZZY          # confidence, best first
cdef enum:
    MANY = 64                                    # candidates looked at for one name
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
    IS_STATIC = 1                                # of a definition
    IS_EXTENSION = 4


cdef class Thing:
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


cdef int fits(Symbol symbol, int argc)


cdef class Scopes(Catalogue):
    cdef dict base_cache
    cdef Table seen           # what names mean at the level of the module of the file being resolved, by name, arguments and bits
    cdef int current          # that file
    cdef set busy, busy_bases
    cdef set met              # types whose bases were looked up: what that took is noted
    cdef list spare_sets
    cdef int cycles           # inferences so far that ended early, because they led back to where they began
    cdef bint cut_short       # did a cycle end one since the bases of a type are being found?
    cdef File begin(self, int file_id)
    cdef int note_inside(self, File file, int name) except -1
    cdef int note_around(self, File file, Symbol around) except -1
    cdef bint comes_back(self, key)
    cdef bint too_deep(self, int depth)
    cdef list fitting(self, list found, int bits)
    cdef Symbol pick(self, list found, int file, int argc, int bits)
    cdef Thing of_symbol(self, Symbol symbol, int conf, int depth)
    cdef Thing weaker(self, Thing found, int conf)
    cdef Thing lookup(self, File file, int scope, int name, int at, int argc, int bits, int depth)
    cdef Thing bound_self(self, File file, int scope, int at, int depth)
    cdef bint calls_itself(self, list bound, int name)
    cdef Thing outer_module(self, File file, int module, int name, int argc, int bits, int depth)
    cdef list bare(self, File file, int container, int name, int bits)
    cdef bint module_has(self, File file, int name)
    cdef Thing lookup_module(self, File file, int name, int argc, int bits, int depth)
    cdef Thing look_in_module(self, File file, int name, int argc, int bits, int depth)
    cdef Thing global_name(self, File file, int name, int argc, int bits, int depth)
    cdef list in_sight(self, File file, list options, int bits, bint builtin)
    cdef dict included(self, File file)
    cdef bint reaches(self, File file, int target)
    cdef Thing follow(self, File file, int module, int name, int argc, int bits, int depth)
    cdef bint hides(self, Symbol symbol, int name)
    cdef Thing whole(self, File file, int module, int depth)
    cdef Thing through(self, File other, int name, int argc, int bits, int depth)
    cdef Thing qualified_path(self, File file, int path, int argc, int bits, int depth)
    # said by the layers above
    cdef Thing evaluate(self, File file, int scope, int path, int at, int depth)
    cdef Thing resolve_type(self, File file, int scope, int path, int depth)
    cdef Thing declared(self, Symbol symbol, int depth)
    cdef Thing local(self, File file, int scope, list bound, int at, int depth)
    cdef Thing member(self, Thing found, int name, int argc, int bits, int file, int depth)
    cdef Thing member_of_type(self, Symbol symbol, int name, int argc, int bits, int conf, int file, int depth, bint above=*)
    cdef Thing own_member(self, Symbol symbol, int name, int argc, int bits, int file)
