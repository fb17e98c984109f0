"""Canonical text of expressions and types, for any language with C-like punctuation.

An expression becomes a path of steps a resolver can follow: `self.store(db)[0].open(x)?` -> `self.store()[].open()`,
`new Foo<Bar>(x)` and `Foo { .. }` -> `Foo()`, `(x as T).y` -> `:T.y`, a string -> `""`. A type keeps its generic arguments:
`Optional["Foo"]` -> `Optional<Foo>`, `&'a mut [u8]` -> `[]<u8>`, `Foo | None` -> `Foo`. Whatever is not such a path (operators,
conditionals, lambdas) is unknown, written `?`. Text only: no grammar, no scope, no meaning.
"""
from libc.string cimport memcmp, strlen

cdef enum:
    DEPTH_LIMIT = 24   # of nested types; deeper is unknown


cdef struct Scan:
    const char *text
    int size
    int at
    char *out
    int room
    int used


cdef inline bint is_space(char c) noexcept nogil:
    return c == b' ' or c == b'\t' or c == b'\n' or c == b'\r'


cdef inline bint starts_word(char c) noexcept nogil:
    return b'a' <= c <= b'z' or b'A' <= c <= b'Z' or c == b'_' or c == b'$' or c == b'@' or <unsigned char>c >= 0x80


cdef inline bint in_word(char c) noexcept nogil:
    return starts_word(c) or b'0' <= c <= b'9'


cdef inline char peek(Scan *s, int ahead) noexcept nogil:
    return s.text[s.at + ahead] if s.at + ahead < s.size else 0


cdef inline int emit(Scan *s, const char *text, int size) noexcept nogil:
    cdef int i
    if s.used + size > s.room:
        return UNKNOWN
    for i in range(size):
        s.out[s.used + i] = text[i]
    s.used += size
    return 0


cdef inline bint is_word(const char *text, int size, const char *word) noexcept nogil:
    return <size_t>size == strlen(word) and memcmp(text, word, size) == 0


cdef void skip_space(Scan *s) noexcept nogil:
    """White space and comments."""
    while s.at < s.size:
        if is_space(s.text[s.at]) or s.text[s.at] == b'\\':
            s.at += 1
        elif s.text[s.at] == b'/' and peek(s, 1) == b'*':
            s.at += 2
            while s.at < s.size and not (s.text[s.at] == b'*' and peek(s, 1) == b'/'):
                s.at += 1
            s.at += 2
        elif s.text[s.at] == b'/' and peek(s, 1) == b'/':
            while s.at < s.size and s.text[s.at] != b'\n':
                s.at += 1
        else:
            return


cdef int word_size(Scan *s) noexcept nogil:
    cdef int end = s.at
    if end < s.size and starts_word(s.text[end]):
        end += 1
        while end < s.size and in_word(s.text[end]):
            end += 1
    return end - s.at


cdef void skip_string(Scan *s) noexcept nogil:
    """Past a quoted string, single or triple, with backslash escapes."""
    cdef char quote = s.text[s.at]
    cdef bint triple = peek(s, 1) == quote and peek(s, 2) == quote
    s.at += 3 if triple else 1
    while s.at < s.size:
        if s.text[s.at] == b'\\':
            s.at += 2
        elif s.text[s.at] == quote and not triple:
            s.at += 1
            return
        elif s.text[s.at] == quote and peek(s, 1) == quote and peek(s, 2) == quote:
            s.at += 3
            return
        else:
            s.at += 1


cdef bint skip_balanced(Scan *s) noexcept nogil:
    """Past the bracket group that starts here: (), [], {} nest, strings are stepped over. False if it never closes."""
    cdef int depth = 0
    cdef char c
    while s.at < s.size:
        c = s.text[s.at]
        if c == b'(' or c == b'[' or c == b'{':
            depth += 1
        elif c == b')' or c == b']' or c == b'}':
            depth -= 1
            if depth == 0:
                s.at += 1
                return True
        elif c == b'"' or c == b'`' or (c == b"'" and not (s.at > 0 and in_word(s.text[s.at - 1]))):
            if c == b"'" and in_word(peek(s, 1)) and peek(s, 2) != b"'" and not closes_quote(s):
                s.at += 1      # a Rust lifetime
                continue
            skip_string(s)
            continue
        s.at += 1
    return False


cdef bint closes_quote(Scan *s) noexcept nogil:
    """Does the single quote here close on the same line?"""
    cdef int i = s.at + 1
    while i < s.size and s.text[i] != b'\n':
        if s.text[i] == b"'":
            return True
        i += 1
    return False


cdef bint skip_generics(Scan *s) noexcept nogil:
    """Past `<...>` if it reads like type arguments; otherwise stay and say no."""
    cdef int depth = 0, start = s.at
    cdef char c
    while s.at < s.size:
        c = s.text[s.at]
        if c == b'<':
            depth += 1
        elif c == b'>' and s.text[s.at - 1] != b'-' and s.text[s.at - 1] != b'=':
            depth -= 1
            if depth == 0:
                s.at += 1
                return True
        elif not (in_word(c) or is_space(c) or c == b',' or c == b'.' or c == b':' or c == b"'" or c == b'&' or c == b'?' or c == b'*'
                  or c == b'[' or c == b']' or c == b'|' or c == b'(' or c == b')' or c == b'=' or c == b'>' or c == b'-' or c == b'{'
                  or c == b'}' or c == b';' or c == b'"'):
            break
        s.at += 1
    s.at = start
    return False


cdef int take_expression(Scan *s, int depth) noexcept nogil:
    """One primary expression and its steps, up to the end of the text."""
    cdef int size
    cdef const char *word
    if depth > DEPTH_LIMIT:
        return UNKNOWN
    while True:   # prefixes that do not change what the path means
        skip_space(s)
        if s.at >= s.size:
            return UNKNOWN
        if s.text[s.at] == b'&' or s.text[s.at] == b'*':
            s.at += 1
            continue
        size = word_size(s)
        word = s.text + s.at
        if size and s.at + size < s.size and (is_space(s.text[s.at + size])) and (
                is_word(word, size, b"new") or is_word(word, size, b"await") or is_word(word, size, b"mut") or is_word(word, size, b"ref")
                or is_word(word, size, b"out") or is_word(word, size, b"move")):
            s.at += size
            continue
        break
    if size:
        if s.at + size < s.size and size <= 3 and (s.text[s.at + size] == b'"' or s.text[s.at + size] == b"'"):
            s.at += size
            skip_string(s)
            if emit(s, b'""', 2):
                return UNKNOWN
        else:
            if is_word(word, size, b"lambda") or is_word(word, size, b"function") or is_word(word, size, b"not") or is_word(word, size, b"if") \
                    or is_word(word, size, b"match") or is_word(word, size, b"switch") or is_word(word, size, b"async") \
                    or is_word(word, size, b"typeof") or is_word(word, size, b"void") or is_word(word, size, b"fn") or is_word(word, size, b"func"):
                return UNKNOWN
            if emit(s, word, size):
                return UNKNOWN
            s.at += size
    elif s.text[s.at] == b'"' or s.text[s.at] == b"'" or s.text[s.at] == b'`':
        skip_string(s)
        if emit(s, b'""', 2):
            return UNKNOWN
    elif b'0' <= s.text[s.at] <= b'9':
        while s.at < s.size and (in_word(s.text[s.at]) or (s.text[s.at] == b'.' and b'0' <= peek(s, 1) <= b'9')):
            s.at += 1
        if emit(s, b'0', 1):
            return UNKNOWN
    elif s.text[s.at] == b'(':
        if take_parenthesis(s, depth):
            return UNKNOWN
    elif s.text[s.at] == b'[':
        if not skip_balanced(s) or emit(s, b'[]', 2):
            return UNKNOWN
    elif s.text[s.at] == b'{':
        if not skip_balanced(s) or emit(s, b'{}', 2):
            return UNKNOWN
    elif s.text[s.at] == b':' and peek(s, 1) == b':':
        s.at += 2
        return take_expression(s, depth + 1)
    elif s.text[s.at] == b'<':   # <T as Trait>::f
        s.at += 1
        if take_type(s, depth + 1):
            return UNKNOWN
        while s.at < s.size and s.text[s.at] != b'>':
            s.at += 1
        s.at += 1
    else:
        return UNKNOWN
    return take_steps(s, depth)


cdef int take_parenthesis(Scan *s, int depth) noexcept nogil:
    """A parenthesised expression, a cast `(T) x`, or nothing known."""
    cdef int open_at = s.at, close_at, after, kept = s.used, size = s.size
    if not skip_balanced(s):
        return UNKNOWN
    close_at = s.at - 1
    after = s.at
    skip_space(s)
    if s.at < s.size and (starts_word(s.text[s.at]) or s.text[s.at] == b'(') and s.text[s.at] != b'@':
        s.at, s.size = open_at + 1, close_at        # (T) x: its type is T
        if emit(s, b':', 1) or take_type(s, depth + 1):
            s.size = size
            return UNKNOWN
        skip_space(s)
        if s.at != close_at:
            s.size = size
            return UNKNOWN
        s.at, s.size = size, size
        return 0
    s.at, s.size = open_at + 1, close_at
    if take_expression(s, depth + 1):
        s.used, s.size, s.at = kept, size, after
        return UNKNOWN
    s.at, s.size = after, size
    return 0


cdef int take_steps(Scan *s, int depth) noexcept nogil:
    """What follows a primary: members, calls, indexes, casts. Anything else makes the whole unknown."""
    cdef char c
    cdef int size, start = 0
    while True:
        skip_space(s)
        if s.at >= s.size:
            return 0
        c = s.text[s.at]
        if c == b'(':
            if not skip_balanced(s) or emit(s, b'()', 2):
                return UNKNOWN
        elif c == b'[':
            if not skip_balanced(s) or emit(s, b'[]', 2):
                return UNKNOWN
        elif c == b'{':
            if not skip_balanced(s):
                return UNKNOWN
            if not (s.used >= 2 and s.out[s.used - 1] == b')') and emit(s, b'()', 2):
                return UNKNOWN
        elif c == b'.' or (c == b'-' and peek(s, 1) == b'>') or (c == b':' and peek(s, 1) == b':') \
                or ((c == b'?' or c == b'!' or c == b'&') and peek(s, 1) == b'.'):
            s.at += 1 if c == b'.' else 2
            skip_space(s)
            if peek(s, 0) == b'<':
                if not skip_generics(s):
                    return UNKNOWN
                continue
            if peek(s, 0) == b'#' and starts_word(peek(s, 1)):   # a private member keeps its sign
                if emit(s, b'.#', 2):
                    return UNKNOWN
                s.at += 1
                size = word_size(s)
                if emit(s, s.text + s.at, size):
                    return UNKNOWN
                s.at += size
                continue
            size = word_size(s)
            if size == 0 and b'0' <= peek(s, 0) <= b'9':
                size = 1
            if size == 0:
                if c == b'.' and peek(s, 0) == b'(':         # Go's x.(T)
                    s.at += 1
                    s.used = start
                    if emit(s, b':', 1) or take_type(s, depth + 1) or peek(s, 0) != b')':
                        return UNKNOWN
                    s.at += 1
                    continue
                if peek(s, 0) == b'(' or peek(s, 0) == b'[':   # a?.(x)
                    continue
                return UNKNOWN
            if not is_word(s.text + s.at, size, b"await") and (emit(s, b'.', 1) or emit(s, s.text + s.at, size)):
                return UNKNOWN
            s.at += size
        elif c == b'!' and (peek(s, 1) == b'(' or peek(s, 1) == b'[' or peek(s, 1) == b'{'):
            s.at += 1
            if not skip_balanced(s) or emit(s, b'!()', 3):
                return UNKNOWN
        elif c == b'?' and (peek(s, 1) == b':' or (peek(s, 1) == b'?' and is_space(peek(s, 2)))):
            return 0              # `a ?: b`, `a ?? b`: what the left side is when it is there
        elif c == b'?' and (s.at + 1 >= s.size or peek(s, 1) == b')' or peek(s, 1) == b'?' or peek(s, 1) == b';'):
            s.at += 1
        elif c == b'!' and peek(s, 1) != b'=':
            s.at += 1
        elif c == b'<':
            if not skip_generics(s):
                return UNKNOWN
        elif c == b';' or c == b',':
            return 0
        elif is_word(s.text + s.at, word_size(s), b"as"):
            s.at += 2
            if peek(s, 0) == b'?':
                s.at += 1
            s.used = start
            if emit(s, b':', 1) or take_type(s, depth + 1):
                return UNKNOWN
        else:
            return UNKNOWN


cdef bint skip_modifiers(Scan *s) noexcept nogil:
    """Words and signs that say how a type is held, not which it is. False when nothing is left."""
    cdef int size
    cdef const char *word
    while True:
        skip_space(s)
        if s.at >= s.size:
            return False
        if s.text[s.at] == b'&' or s.text[s.at] == b'*' or s.text[s.at] == b':' or s.text[s.at] == b'|' or s.text[s.at] == b'@':
            s.at += 1
            continue
        if s.text[s.at] == b"'" and starts_word(peek(s, 1)) and not closes_quote(s):
            s.at += 1
            s.at += word_size(s)
            continue
        size = word_size(s)
        word = s.text + s.at
        if size and s.at + size < s.size and is_space(s.text[s.at + size]) and (
                is_word(word, size, b"mut") or is_word(word, size, b"const") or is_word(word, size, b"dyn") or is_word(word, size, b"impl")
                or is_word(word, size, b"struct") or is_word(word, size, b"enum") or is_word(word, size, b"union") or is_word(word, size, b"final")
                or is_word(word, size, b"readonly") or is_word(word, size, b"ref") or is_word(word, size, b"out") or is_word(word, size, b"volatile")
                or is_word(word, size, b"static") or is_word(word, size, b"in") or is_word(word, size, b"params") or is_word(word, size, b"chan")
                or is_word(word, size, b"unsigned") or is_word(word, size, b"signed") or is_word(word, size, b"suspend")
                or is_word(word, size, b"register") or is_word(word, size, b"extern") or is_word(word, size, b"inline")):
            s.at += size
            continue
        return True


cdef int take_arguments(Scan *s, char close, int depth) noexcept nogil:
    """Types separated by commas up to `close`, written `<a,b>`; the opening bracket is already passed."""
    cdef int count = 0
    if emit(s, b'<', 1):
        return UNKNOWN
    while True:
        skip_space(s)
        if s.at >= s.size:
            return UNKNOWN
        if s.text[s.at] == close:
            s.at += 1
            return emit(s, b'>', 1)
        if s.text[s.at] == b',':
            s.at += 1
            continue
        if s.text[s.at] == b'.' and peek(s, 1) == b'.' and peek(s, 2) == b'.' and (peek(s, 3) == close or peek(s, 3) == b','):
            s.at += 3      # tuple[T, ...], Callable[..., T]: no type of its own
            continue
        if count and emit(s, b',', 1):
            return UNKNOWN
        count += 1
        skip_parameter_name(s)
        if take_union(s, depth + 1):
            if emit(s, b'?', 1):
                return UNKNOWN
            if not skip_argument(s, close):
                return UNKNOWN


cdef void skip_parameter_name(Scan *s) noexcept nogil:
    """Past `name:` or `name?:` in front of a type."""
    cdef int at = s.at
    s.at += word_size(s)
    skip_space(s)
    if s.at > at and peek(s, 0) == b'?':
        s.at += 1
    if s.at > at and peek(s, 0) == b':' and peek(s, 1) != b':':
        s.at += 1
        skip_space(s)
    else:
        s.at = at


cdef bint skip_argument(Scan *s, char close) noexcept nogil:
    """To the comma or bracket that ends an argument that could not be read."""
    cdef int depth = 0
    cdef char c
    while s.at < s.size:
        c = s.text[s.at]
        if depth == 0 and (c == b',' or c == close):
            return True
        if c == b'<' or c == b'(' or c == b'[' or c == b'{':
            depth += 1
        elif (c == b'>' and s.text[s.at - 1] != b'-' and s.text[s.at - 1] != b'=') or c == b')' or c == b']' or c == b'}':
            depth -= 1
        s.at += 1
    return False


cdef bint is_nothing(const char *text, int size) noexcept nogil:
    return is_word(text, size, b"None") or is_word(text, size, b"null") or is_word(text, size, b"undefined") or is_word(text, size, b"NoneType") \
        or is_word(text, size, b"nil")


cdef int take_union(Scan *s, int depth) noexcept nogil:
    """Alternatives `A | B`; the empty ones (None, null, undefined) are dropped, several left are written `|<A,B>`."""
    cdef int kept = s.used, start, alternatives = 0, i, first
    while True:
        start = s.used
        if alternatives and emit(s, b',', 1):
            return UNKNOWN
        first = s.used
        if take_type(s, depth):
            s.used = kept
            return UNKNOWN
        if is_nothing(s.out + first, s.used - first):
            s.used = start
        else:
            alternatives += 1
        skip_space(s)
        if peek(s, 0) == b'|' or (peek(s, 0) == b'&' and peek(s, 1) != b'&') or (peek(s, 0) == b'+' and depth > 0):
            s.at += 1
            continue
        break
    if alternatives == 0:
        s.used = kept
        return emit(s, b'None', 4)
    if s.used > kept and s.out[kept] == b',':
        for i in range(kept, s.used - 1):
            s.out[i] = s.out[i + 1]
        s.used -= 1
    if alternatives > 1:
        if s.used + 3 > s.room:
            return UNKNOWN
        for i in range(s.used - 1, kept - 1, -1):
            s.out[i + 2] = s.out[i]
        s.out[kept], s.out[kept + 1] = b'|', b'<'
        s.used += 2
        return emit(s, b'>', 1)
    return 0


cdef int take_type(Scan *s, int depth) noexcept nogil:
    """One type without alternatives."""
    cdef int size, kept = s.used, inner, shift, i
    cdef char c
    if depth > DEPTH_LIMIT or not skip_modifiers(s):
        return UNKNOWN
    c = s.text[s.at]
    if c == b'"' or c == b"'":       # a type in quotes: read what is inside
        size = s.size
        s.at += 1
        inner = s.at
        while inner < s.size and s.text[inner] != c:
            inner += 1
        s.size = inner
        if take_union(s, depth + 1):
            s.size = size
            return UNKNOWN
        s.at, s.size = inner + 1, size
        return 0
    if c == b'[':                      # []T, [N]T, [T], [T; N]
        inner = s.at + 1
        if not skip_balanced(s):
            return UNKNOWN
        skip_space(s)
        if emit(s, b'[]<', 3):
            return UNKNOWN
        if not (s.at < s.size and (starts_word(s.text[s.at]) or s.text[s.at] == b'*' or s.text[s.at] == b'[')):
            size = s.at
            s.at = inner
            if take_union(s, depth + 1):
                return UNKNOWN
            s.at = size
        elif take_type(s, depth + 1):
            return UNKNOWN
        return emit(s, b'>', 1)
    if c == b'(':
        s.at += 1
        if emit(s, b'()', 2) or take_arguments(s, b')', depth + 1):
            return UNKNOWN
        skip_space(s)
        if peek(s, 0) == b'=' and peek(s, 1) == b'>':       # a function type: `fn<parameter, .., result>`
            s.at += 2
            s.out[kept], s.out[kept + 1] = b'f', b'n'
            s.used -= 1
            if (s.out[s.used - 1] != b'<' and emit(s, b',', 1)) or (take_union(s, depth + 1) and emit(s, b'?', 1)):
                return UNKNOWN
            return emit(s, b'>', 1)
        if peek(s, 0) == b'-' and peek(s, 1) == b'>':
            return UNKNOWN
        # a type in parentheses is that type
        if s.out[s.used - 1] == b'>' and single_argument(s, kept + 3):
            shift = s.used - kept - 4
            for i in range(shift):
                s.out[kept + i] = s.out[kept + 3 + i]
            s.used = kept + shift
    else:
        size = word_size(s)
        if size == 0:
            if c == b'.' and peek(s, 1) == b'.':   # variadic
                while peek(s, 0) == b'.':
                    s.at += 1
                return take_type(s, depth + 1)
            return UNKNOWN
        if is_word(s.text + s.at, size, b"fn") or is_word(s.text + s.at, size, b"func") or is_word(s.text + s.at, size, b"typeof") \
                or is_word(s.text + s.at, size, b"keyof") or is_word(s.text + s.at, size, b"asserts") or is_word(s.text + s.at, size, b"infer"):
            return UNKNOWN
        if is_word(s.text + s.at, size, b"map") and s.at + size < s.size and s.text[s.at + size] == b'[':
            s.at += size + 1
            if emit(s, b'map', 3) or take_arguments(s, b']', depth + 1):
                return UNKNOWN
            s.used -= 1
            if emit(s, b',', 1) or take_type(s, depth + 1):
                return UNKNOWN
            return emit(s, b'>', 1)
        if emit(s, s.text + s.at, size):
            return UNKNOWN
        s.at += size
    while True:                                # steps: members, generic arguments, arrays, nullability
        skip_space(s)
        c = peek(s, 0)
        if c == b'.' and peek(s, 1) != b'.' or (c == b':' and peek(s, 1) == b':'):
            s.at += 1 if c == b'.' else 2
            skip_space(s)
            if peek(s, 0) == b'<':
                continue
            size = word_size(s)
            if size == 0 or emit(s, b'.', 1) or emit(s, s.text + s.at, size):
                return UNKNOWN
            s.at += size
        elif c == b'<':
            s.at += 1
            if take_arguments(s, b'>', depth + 1):
                return UNKNOWN
        elif c == b'[':
            s.at += 1
            skip_space(s)
            if peek(s, 0) == b']' or b'0' <= peek(s, 0) <= b'9' or peek(s, 0) == b',':
                while s.at < s.size and s.text[s.at] != b']':
                    s.at += 1
                s.at += 1
                if s.used + 4 > s.room:
                    return UNKNOWN
                for i in range(s.used - 1, kept - 1, -1):
                    s.out[i + 3] = s.out[i]
                s.out[kept], s.out[kept + 1], s.out[kept + 2] = b'[', b']', b'<'
                s.used += 3
                if emit(s, b'>', 1):
                    return UNKNOWN
            elif take_arguments(s, b']', depth + 1):
                return UNKNOWN
        elif c == b'?' or c == b'*' or (c == b'!' and peek(s, 1) == b'!'):
            s.at += 1
        else:
            return 0


cdef bint single_argument(Scan *s, int start) noexcept nogil:
    """Is there exactly one argument between `start` and the closing bracket?"""
    cdef int depth = 0, i
    if start >= s.used - 1:
        return False
    for i in range(start, s.used - 1):
        if s.out[i] == b'<':
            depth += 1
        elif s.out[i] == b'>':
            depth -= 1
        elif s.out[i] == b',' and depth == 0:
            return False
    return True


cdef int canonical_expression(const char *text, int size, char *out, int room) noexcept nogil:
    cdef Scan s
    s.text, s.size, s.at, s.out, s.room, s.used = text, size, 0, out, room, 0
    if take_expression(&s, 0):
        return UNKNOWN
    return s.used


cdef int canonical_type(const char *text, int size, char *out, int room) noexcept nogil:
    cdef Scan s
    s.text, s.size, s.at, s.out, s.room, s.used = text, size, 0, out, room, 0
    if take_union(&s, 0):
        return UNKNOWN
    return s.used


def canonical(bytes text not None, *, bint is_type=False):
    """The canonical form of one expression or type; None when it is not known."""
    cdef char out[256]
    cdef const char *raw = text
    cdef int size = len(text), used
    with nogil:
        used = canonical_type(raw, size, out, sizeof(out)) if is_type else canonical_expression(raw, size, out, sizeof(out))
    return None if used == UNKNOWN else out[:used]
