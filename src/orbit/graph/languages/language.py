"""What a language is: a query that says which nodes state a fact, and a table that says what a fact means.

Head captures a query may use, one per pattern; dotted parts after the first are flags unless listed here:

    @define.<kind>          a definition. Roles: name; body (signature ends there); type (declared or return type); value (initialiser);
                            owner (its type when the definition stands outside it: Go receivers, Rust impl blocks, extensions);
                            path (extra word the table's fix-up may read); args (parameter list: counted)
    @call @call.new @call.macro     a call. Roles: name, receiver, args
    @ref.type @ref.use @ref.bound   a use of a type, of a value or name, of a trait bound. Roles: name, receiver (qualifier)
    @relate.extends|implements|impl the enclosing definition (or the type in role owner) relates to the type in role type; name: its span
    @import[.star|.export|.static|.type|.side|.require]   Roles: path (module), name (symbol), alias, receiver
    @bind[.param|.field|.for|.with|.return|.given]   a local (with .field a member of the enclosing type) gets a type in plain sight. Roles: name, type, value
    @export                 a name made public (`__all__`, `exports.x = `). Roles: name, value
    @string                 a string literal, in role text        @env   an environment variable name, in role path
    @config.<form>          a row of a configuration file, form of KEY_FORMS, its key in role name: kept in `facts.keys` for the fix-up
    @mark                   a row only the fix-up reads (attributes, decorators, command declarations)

Roles hold text: name and alias raw, path without quotes, receiver and value as canonical expressions, type and owner as canonical types
(`orbit_native.expression`). Captures that start with an underscore only serve predicates (#eq? #not-eq? #any-of? #not-any-of?).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts


class Layout(Protocol):
    """The worktree as far as names depend on it: which files there are, and what the manifests say."""

    def has(self, path: str) -> bool:
        """Is this path (relative, with `/`) an indexed file?"""

    def has_part(self, name: str) -> bool:
        """Is this the name of a folder, or of a file without its suffixes? If not, no path can lead there."""

    def text(self, path: str) -> str | None:
        """The text of a manifest (MANIFESTS of any language), or None."""

    def manifests(self, name: str) -> Sequence[str]:
        """Paths of all manifests with this file name, sorted."""


class Language(msgspec.Struct, frozen=True, kw_only=True):
    """One language: which files, which grammar, how names are built, what its facts mean."""

    name: str
    grammar: tuple[str, str] = ("", "")  # module, function that returns the grammar's capsule
    suffixes: tuple[str, ...]
    filenames: tuple[str, ...] = ()
    query: str = ""  # file name of the query, or several joined by a space; default <name>.scm
    final_newline: bool = False  # does the grammar need a line end behind the last byte?
    family: str = ""  # languages that may refer to each other share one; default: its own name
    separator: str = "."
    separators: dict[str, str] = {}  # separator before a definition of this kind, where it differs
    member_kinds: dict[str, str] = {}  # kind of a definition directly inside a type, e.g. {"function": "method"}
    outer_kinds: frozenset[str] = frozenset()  # kinds that count only outside functions: an assignment is a constant there, a local inside
    manifests: tuple[str, ...] = ()  # file names that decide module names
    module_of: Callable[[str, Layout], str]  # qualified module of a file
    import_target: Callable[[str, str, str, Layout], str | None]  # (import text, importing path, importing module, layout) -> qualified module
    reader: Callable[[FileFacts], None] | None = None  # reads the source itself: for formats without a grammar
    fix_up: Callable[[FileFacts], None] | None = None  # what no capture can say, over the finished rows of one file
    self_names: tuple[str, ...] = ()  # receivers that mean an instance of the enclosing type: self, this
    class_names: tuple[str, ...] = ()  # receivers that mean the enclosing type itself: cls, Self
    super_names: tuple[str, ...] = ()  # receivers that mean what the enclosing type inherits: super, base
    class_words: tuple[str, ...] = ()  # members of an instance that mean its type: Ruby's class
    class_sides: bool = False  # may a type and its instances have members of one name? (Ruby; members of the type are flagged static)
    bound_after: bool = False  # does a local exist only after its initialiser? (`let words = words(x)` calls what is further out)
    methods_apart: bool = False  # is a bare call never a call of a local? (Java: `int size = size()`)
    overloads: bool = False  # are functions of one name told apart by how many arguments they take?
    root_names: tuple[str, ...] = ()  # first words of a path that mean the outermost module around: Rust's crate, JavaScript's exports
    outer_names: tuple[str, ...] = ()  # first words of a path that mean the module around this one: Rust's super
    module_paths: bool = False  # may a path begin with a module's full name, without import?
    constructors: tuple[str, ...] = ()  # members of a type that make an instance of it without being defined: Ruby's new
    passing: tuple[str, ...] = ()  # methods that give back what they are called on: unwrap, clone
    picking: tuple[str, ...] = ()  # methods of a collection that give back one of its elements: get, pop
    aims_by_folder: bool = False  # does the target of an import depend on its text and the importing folder alone?
    makes_objects: bool = False  # may a function be a constructor, or give back what is defined in it, and an object hold methods? (JavaScript)
    import_binds: str = "last"  # which part of `import a.b.c` becomes a name: first, last or none
    shared_modules: bool = False  # are names of other files of the same module visible without import?
    nested_modules: bool = False  # are names of the modules around a module visible in it? (namespace A.B sees A)
    reexports_all: bool = False  # does importing a name make it a name of the importing module too?
    global_names: bool = False  # do definitions that are not static live in one world of names?
    shared_suffixes: tuple[str, ...] = ()  # files whose static definitions others see too: headers
    named_types: bool = False  # has a type that is made out of another one members of its own? (Go: `type Level int8`)
    module_symbols: bool = False  # is a file itself a symbol of kind module?
    implicit_self: bool = False  # may a bare name be a member of the enclosing type?
    transparent: tuple[str, ...] = ()  # generic types that behave like their argument: Optional, Box, Promise
    collections: tuple[str, ...] = ()  # generic types whose elements are their last argument: list, Vec, []
    builtins: frozenset[str] = frozenset()  # names that are never definitions of the repository when nothing nearer defines them
    test_names: tuple[str, ...] = ()  # prefixes that make a function a test, e.g. ("test_",)
    test_files: tuple[str, ...] = ()  # glob patterns of test files
