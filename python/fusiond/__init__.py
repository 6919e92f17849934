"""fusiond: graphs of compute kernels, fused by a service.

>>> import fusiond, numpy
>>> s = fusiond.connect()
>>> @s.jit
... def norm(x, y):
...     return numpy.sqrt(x * x + y * y)
>>> norm(s.array([3.0, 5.0]), s.array([4.0, 12.0]))
fusiond.Array([ 5., 13.])
>>> norm.report.launches
1
"""
from fusiond.array import Array
from fusiond.errors import Error
from fusiond.graph import Graph, Handle
from fusiond.module import Kernel, Local, Module
from fusiond.outcome import Event, Future, Times
from fusiond.report import Report
from fusiond.session import Session, connect

__all__ = ["Array", "Error", "Event", "Future", "Graph", "Handle", "Kernel", "Local", "Module", "Report", "Session", "Times",
           "connect"]
