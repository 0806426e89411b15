"""The component's interface. componentize-py looks for `Parse` in the module it is given, and for `Parser`, the resource,
in the module that is named like the interface: this one is both."""

from adapter import {{type}}
from totalrecall import exports

Parse, Parser = exports({{type}})
