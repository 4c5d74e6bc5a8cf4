"""A Ray cluster of two nodes on this machine, in the environment that has Ray; one node can be removed.

Each node has one core and a cache of its own, as two machines have; the second has a GPU by name.
"""

import sys

from ray.cluster_utils import Cluster


def main(first: str, second: str) -> None:
    """Start the cluster, print its address, and obey lines: `remove` removes the second node."""
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "env_vars": {"WAYBENCH_CACHE": first}},
    )
    node = cluster.add_node(num_cpus=1, num_gpus=1, env_vars={"WAYBENCH_CACHE": second})
    print(cluster.address, flush=True)
    for line in sys.stdin:
        if line.strip() == "remove":
            cluster.remove_node(node, allow_graceful=False)
            print("removed", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
