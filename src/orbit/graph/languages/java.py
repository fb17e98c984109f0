"""Java: what the captures of java.scm mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orbit.graph.facts import NONE
from orbit.graph.languages import packages
from orbit.graph.languages.language import Language

if TYPE_CHECKING:
    from orbit.graph.facts import FileFacts

FIELDS = frozenset({"field"})
JAVA_LANG = """
    String Object Integer Long Boolean Double Float Short Byte Character Void Number Math StrictMath System Thread Runnable Iterable Comparable
    CharSequence StringBuilder StringBuffer Class ClassLoader Enum Record Throwable Exception RuntimeException Error IllegalArgumentException
    IllegalStateException NullPointerException IndexOutOfBoundsException UnsupportedOperationException ArithmeticException ClassCastException
    CloneNotSupportedException InterruptedException NumberFormatException AssertionError OutOfMemoryError StackOverflowError Override Deprecated
    SuppressWarnings FunctionalInterface SafeVarargs AutoCloseable Cloneable Appendable Process ProcessBuilder Runtime ThreadLocal
    StackTraceElement ReflectiveOperationException ClassNotFoundException NoSuchMethodException NoSuchFieldException SecurityException
"""


def fix_up(facts: FileFacts) -> None:
    """The package holds the file; anonymous classes get names; annotated tests, static imports and variable arguments are told apart."""
    static = {m.start for m in facts.marks if "static" in m.flags}
    for i in facts.imports:
        if i.start in static:
            i.flags |= {"static"}
    for mark in facts.marks:
        if "test" in mark.flags and mark.scope != NONE and facts.definitions[mark.scope].kind == "method":
            facts.definitions[mark.scope].kind = "test"
    for found in facts.definitions:
        if "compact" in found.flags and found.parent != NONE:
            found.argc = facts.definitions[found.parent].argc
    packages.join_declarators(facts, FIELDS)
    packages.take_parameter_marks(facts)
    packages.drop_type_parameters(facts)
    packages.drop_package_parts(facts)
    packages.hold_file(facts, "package")
    packages.name_anonymous(facts)
    packages.add_qualifiers(facts)


LANGUAGES = {
    "java": Language(
        name="java",
        grammar=("tree_sitter_java", "language"),
        suffixes=(".java",),
        family="jvm",
        module_of=packages.module_of,
        import_target=packages.import_target,
        fix_up=fix_up,
        self_names=("this",),
        super_names=("super",),
        implicit_self=True,
        overloads=True,
        methods_apart=True,
        collections=("[]", "Iterable", "Iterator", "Collection", "List", "ArrayList", "LinkedList", "Set", "HashSet", "LinkedHashSet", "TreeSet", "SortedSet",
                     "Queue", "Deque", "ArrayDeque", "PriorityQueue", "Stack", "Vector", "Stream"),
        builtins=frozenset(JAVA_LANG.split()),
        test_files=("**/src/test/**", "**/*Test.java", "**/*Tests.java", "**/*IT.java", "**/Test*.java"),
    )
}  # fmt: skip
