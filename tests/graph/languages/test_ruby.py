"""Ruby: where requires lead, and what the fix-up settles."""

from __future__ import annotations

import pytest

from orbit.graph.facts import FileFacts
from orbit.graph.index.extract import extract
from orbit.graph.languages import language
from orbit_native.names import Names

RUBY = language("ruby")


class Files:
    def __init__(self, *paths: str) -> None:
        self.paths = set(paths)

    def has(self, path: str) -> bool:
        return path in self.paths

    def text(self, path: str) -> str | None:
        return None

    def manifests(self, name: str) -> list[str]:
        return []


def take(source: str) -> FileFacts:
    return extract(RUBY, source.encode(), Names())


@pytest.mark.parametrize(
    ("text", "path", "target"),
    [
        ("./rack", "lib/shop/cart.rb", "lib/shop/rack"),
        ("../config.rb", "lib/shop/cart.rb", "lib/config"),
        ("./lib/shop", "bin/run.rb", "lib/shop"),
        ("../../../outside", "lib/shop/cart.rb", None),
        ("shop/rack", "lib/shop/cart.rb", "lib/shop/rack"),
        ("shop/rack", "spec/cart_spec.rb", "lib/shop/rack"),
        ("inner", "gems/one/lib/one/main.rb", "gems/one/lib/inner"),
        ("json", "lib/shop/cart.rb", None),
        ("/etc/x", "lib/shop/cart.rb", None),
        ("", "lib/shop/cart.rb", None),
    ],
)
def test_a_require_leads_to_a_file_of_the_worktree_or_nowhere(text: str, path: str, target: str | None) -> None:
    files = Files("lib/shop.rb", "lib/shop/rack.rb", "lib/config.rb", "gems/one/lib/inner.rb", "lib/shop/cart.rb")
    assert RUBY.import_target(text, path, RUBY.module_of(path, files), files) == target


def test_an_identifier_is_a_call_unless_a_local_has_its_name() -> None:
    facts = take("def go(given)\n  made = fetch\n  list.each { |one| one; given; made; other }\nend\ndef next_one = made\n")
    assert [(facts.text(row[1]), row[4]) for row in facts.refs.tolist()] == [("fetch", 2), ("list", 3), ("each", 3), ("other", 3), ("made", 5)]


def test_a_constructed_local_has_its_type_with_and_without_parentheses() -> None:
    facts = take("def go\n  a = Shop::Cart.new 1\n  @b ||= Cart.new(2)\nrescue Oops => e\n  e.message\nend\n")
    assert [(facts.text(row[1]), facts.text(row[2])) for row in facts.binds.tolist()] == [("a", "Shop.Cart"), ("@b", "Cart"), ("e", "Oops")]


def test_constants_in_capitals_are_uses_and_others_types() -> None:
    facts = take("Shop::LIMIT\nShop::Cart\n")
    assert [(facts.text(row[1]), row[0]) for row in facts.refs.tolist()] == [("Shop", 1), ("LIMIT", 2), ("Shop", 1), ("Cart", 1)]


def test_qualified_names_follow_ruby() -> None:
    source = """
module A
  class B
    class << self
      def made; end
    end
    def self.own; end
    def plain; end
    class A::C; end
    class ::D; end
    LIMIT = 1
    Pair = Struct.new(:left) { def both; end }
  end
  def B.added; end
  def other.strange; end
end
def top; end
"""
    assert [found.local for found in take(source).definitions] == [
        "A", "A::B", "A::B.self", "A::B.made", "A::B.own", "A::B#plain", "A::C", "D", "A::B::LIMIT", "A::B::Pair", "A::B::Pair#left", "A::B::Pair#both",
        "A::B.added", "A.other.strange", "top",
    ]  # fmt: skip
