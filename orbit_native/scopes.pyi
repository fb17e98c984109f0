from typing_extensions import disjoint_base

from orbit_native.catalogue import Catalogue

@disjoint_base
class Thing: ...

@disjoint_base
class Scopes(Catalogue): ...
