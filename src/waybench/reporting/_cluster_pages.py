"""Pages with drawings of clusters, such as the whole map that many questions are about."""

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from waybench.analysis.results import Cluster
from waybench.core import Presentation
from waybench.reporting._files import slug


class ClusterPages:
    """The drawings of a group's clusters.

    Args:
        presentation: The presentation of the group's environment.
        write: (path, template, values) writes a page.

    Attributes:
        paths: Paths of the pages written so far, from the first page of the site.
    """

    def __init__(self, presentation: Presentation, write: Callable[..., None]) -> None:
        self._presentation, self._write = presentation, write
        self.paths: dict[Cluster, str] = {}

    def path(self, cluster: Cluster, instance: Any) -> str:
        """Return the page of a cluster, which is written when it is first needed.

        Args:
            cluster: The cluster.
            instance: An instance that belongs to it; None if there is none that a simulation confirms.

        Returns:
            The path of the page from the first page of the site; "" without a drawing.
        """
        draw = self._presentation.draw_cluster
        if draw is None or not cluster.key or (instance is None and cluster not in self.paths):
            return ""
        if cluster not in self.paths:
            drawing = Markup(draw(instance))
            # Named after the drawing: clusters of one name that differ, as in the names of places, have a page each.
            path = f"clusters/{slug(cluster.name, drawing)}.html"
            self._write(path, "cluster.html", cluster=cluster, drawing=drawing, presentation=self._presentation)
            self.paths[cluster] = path
        return self.paths[cluster]
