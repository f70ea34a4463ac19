"""Studies, one file each: a module of this package with a `STUDY` is registered, and imported when
it is asked for."""

from __future__ import annotations

from confee.core.plugins import Registry
from confee.simulation.studies.base import Study

STUDIES = Registry(__name__, __path__, "STUDY", Study)
