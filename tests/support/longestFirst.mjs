// The order of suites: the longest first, so that none of them is still running alone at the end. Without timings of earlier runs, which a fresh clone does not
// have, Jest goes by the size of files, which says nothing about a suite that waits.
import TestSequencer from "@jest/test-sequencer";

/** Seconds of the suites that take over a minute, four at once on two cores; the other suites follow in Jest's own order. */
const seconds = {
  "chain/change": 470,
  "chain/failures": 270,
  "chain/driftOfNodes": 275,
  "chain/transient": 295,
  "chain/nodes": 225,
  "chain/killedOnHetzner": 220,
  "chain/killedOnProxmox": 215,
  "chain/existing": 180,
  "chain/start": 175,
  "chain/apiServers": 170,
  "chain/oneServer": 165,
  "chain/proxmox": 160,
  "lab/bootstrap": 155,
  "chain/lostCluster": 135,
  "chain/lostConfig": 115,
  "lab/lab": 100,
  "soak/soak": 90,
  "engine/upgrade": 85,
  "chain/interrupted": 80,
  "lab/talosctl": 80,
  "chain/orphans": 70,
};

const secondsOf = ({ path }) => seconds[/tests\/(.*)\.test\.ts$/.exec(path)?.[1]] ?? 0;

export default class LongestFirst extends TestSequencer {
  sort(tests) {
    return super.sort(tests).toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }
}
