"""Several people in their browsers: a study of people on this machine's own address."""

from waybench.people.web._app import study_application
from waybench.people.web._study import Study

__all__ = ["Study", "study_application"]
