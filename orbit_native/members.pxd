from orbit_native.definitions cimport File, Symbol
from orbit_native.scopes cimport Scopes, Thing


cdef class Members(Scopes):
    cdef list bases_of(self, Symbol symbol, int depth)
    cdef list find_bases(self, Symbol symbol, int depth)
    cdef bint takes_other(self, Thing found, int argc)
    cdef Thing placed(self, Thing found, int conf, int file)
    cdef bint same_module(self, int one, int other)
    cdef Thing declared_member(self, Symbol symbol, int name, int argc, int bits, int file, int depth)
    cdef Thing assigned(self, File home, int holder, int name, int depth)
    cdef bint on_side(self, Symbol symbol, int bits)
    cdef Thing attached(self, Thing found, int name, int argc, int bits, int file)
    cdef Thing written_elsewhere(self, File file, Symbol receiver, int name, int argc, int depth, bint outside=*, int external=*)
    cdef int last_name(self, int path)
    cdef bint is_a(self, Symbol symbol, Symbol wanted, int depth)
    cdef int module_around(self, Symbol symbol)
    cdef bint imports_extension(self, File file, Symbol symbol)
    cdef bint sees_extension(self, File file, Symbol symbol)
