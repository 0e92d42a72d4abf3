"""Immutable records with the interface of typing.NamedTuple, whose classes are made in a tenth of its time.

A NamedTuple compiles its constructor, which takes 0.1 to 0.2 ms, and the start of svm-train needs sixteen classes.
"""

from operator import itemgetter

TYPE_CHECKING = False  # svm-predict starts without `typing`
if TYPE_CHECKING:
    from typing import NamedTuple as Record
else:

    class Record(tuple):
        """Base of records: their fields are the annotations of a subclass, and its values the defaults."""

        __slots__ = ()
        _fields, _field_defaults = (), {}

        def __init_subclass__(cls):
            cls._fields = tuple(cls.__annotations__)
            cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
            for place, name in enumerate(cls._fields):
                setattr(cls, name, property(itemgetter(place)))

        def __new__(cls, *values, **named):
            rest = cls._fields[len(values) :]
            known = {**cls._field_defaults, **named}
            if len(values) > len(cls._fields) or not named.keys() <= set(rest) <= known.keys():
                raise TypeError(f"{cls.__name__} has the fields {cls._fields}, given: {values}, {named}")
            return tuple.__new__(cls, (*values, *(known[name] for name in rest)))

        def __getnewargs__(self):  # for pickle and copy
            return tuple(self)

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self._asdict().items())})"

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def _replace(self, **changes):
            return type(self)(**{**self._asdict(), **changes})
