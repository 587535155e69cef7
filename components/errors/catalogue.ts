/** What a failure is: each has one code for good, so that it can be searched for. */
export interface CatalogueEntry {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * Every failure that the program names itself. T1: reaching a node, T2: writing to a node, T3: gates on Talos, K1: gates on Kubernetes, K2: the
 * platform, M1: machines, L1: nodes that come and go. A code is never used again for another thing. docs/failure-codes.md is made from this.
 */
export const catalogue = {
  "SLU-T101": {
    title: "A node does not answer",
    cause: "The machine is off or still booting, its address is another one, or a firewall is between.",
    remedy: "Look at its console. Check its address and that TCP port 50000 is open to where this runs.",
  },
  "SLU-T102": {
    title: "A node refuses the connection",
    cause: "Nothing listens on port 50000: the machine is booting, installing or rebooting, or it is not Talos.",
    remedy: "Wait until it has booted. If it stays, look at its console and check the address.",
  },
  "SLU-T103": {
    title: "A node's certificate is not of our PKI",
    cause: "The node belongs to another cluster, or the machine secrets were made anew after it got its config.",
    remedy:
      "Bring the secrets back with the state they were kept in. If the node is to be taken over, reset it first: it is never overwritten.",
  },
  "SLU-T104": {
    title: "A node wants a certificate",
    cause: "It is no longer in maintenance: it has a config already, of this cluster or of another.",
    remedy: "Run it again: a node that is ours is gone on with. A foreign one must be reset by its owner.",
  },
  "SLU-T105": {
    title: "The node does not allow the call",
    cause: "The client certificate's role is too low, or the call is not served in the state that the node is in.",
    remedy: "Use the credentials of this environment, whose role is os:admin.",
  },
  "SLU-T106": {
    title: "The call took too long",
    cause: "The network is slow or loses packets, or the node is overloaded.",
    remedy:
      "Check the way to the node and its load. A call has seconds to be answered (a probe 3, most others 10, a config 15): where the network is slower than that, run this from nearer to the nodes.",
  },
  "SLU-T107": {
    title: "The Talos API failed in passing",
    cause: "The connection broke or the node was busy; a machine that reboots does the same.",
    remedy: "It is tried again by itself. If it stays, look at the node's console.",
  },
  "SLU-T108": {
    title: "The Talos API answered with an error",
    cause: "The node's own words are in the message.",
    remedy: "Mend what the node names, then run it again.",
  },
  "SLU-T109": {
    title: "A node belongs to another cluster",
    cause:
      "It answers, but not with our PKI: another cluster's node has this address, or our secrets are not the ones it got.",
    remedy:
      "Check the address. If our secrets were made anew, bring back the state that has the old ones. If the node is to join this cluster, reset it (talosctl reset, with its own talosconfig) or make the machine anew: it is never overwritten.",
  },
  "SLU-T110": {
    title: "The call is not known to the node",
    cause:
      "The node's Talos is older or newer than what this talks to, or the call is not served in its role or state.",
    remedy: "Compare talosVersion with the version that the node runs.",
  },
  "SLU-T111": {
    title: "A node's certificate is not for the name it is reached by",
    cause:
      "It is of our PKI, but has other names and addresses: `reach` was set or changed after the node got its config.",
    remedy:
      "Take `reach` back to what it was, add the new name to machine.certSANs by a patch (`patches`), run `npm run up`, and set `reach` to it then.",
  },
  "SLU-T112": {
    title: "A node's certificate is not valid now",
    cause:
      "The clock of the node or of this machine is wrong, or the node was off for so long that its certificate ran out.",
    remedy:
      "Compare both clocks with the time, and check the node's time servers (`machine.time`); it makes itself another certificate then.",
  },
  "SLU-T113": {
    title: "A node's answer cannot be read",
    cause:
      "It is of a form that is not known here: the node runs another Talos than talosVersion, or this program has a fault.",
    remedy:
      "Compare `talosctl version` with talosVersion and run it again. If it stays, report what is said of the node.",
  },
  "SLU-T201": {
    title: "The machine config is rejected",
    cause: "The node's own validator refuses it; its words are in the message.",
    remedy: "Mend the patch or the key that the validator names. Nothing was changed on the node.",
  },
  "SLU-T202": {
    title: "The disk selector matches no disk",
    cause: "No disk of the node has what installDisk or the disk selector asks for.",
    remedy: "Set the install disk to one that is there; the message lists them.",
  },
  "SLU-T203": {
    title: "The cluster is bootstrapped already",
    cause: "There is an etcd on this node: an earlier run did it.",
    remedy: "Nothing: it counts as done. Only one control plane is ever bootstrapped.",
  },
  "SLU-T204": {
    title: "Bootstrap is not possible yet",
    cause: "The node has not come so far: services start, time is not in sync, or another call is in progress.",
    remedy: "It is tried again by itself. If it stays, check the time servers and the node's console.",
  },
  "SLU-T205": {
    title: "Bootstrap was asked of a node that has no etcd",
    cause: "The node runs as a worker.",
    remedy: "Check that the first control plane's address is not a worker's.",
  },
  "SLU-T206": {
    title: "A node config was not applied in time",
    cause: "Every try ended with an error that can pass; the last one is in the message.",
    remedy: "Mend what the last error says and run it again: nodes that are done are left alone.",
  },
  "SLU-T207": {
    title: "Bootstrap did not come to an end",
    cause: "Bootstrap was not accepted, or no etcd came up after it.",
    remedy: "See the last error and etcd's log: talosctl logs etcd. Run it again: what is done counts.",
  },
  "SLU-T208": {
    title: "The node runs another config than the one sent",
    cause: "Someone changed it by hand, or it was rolled back after a boot that failed.",
    remedy: "Run `npm run up`: it applies the config of the environment again.",
  },
  "SLU-T212": {
    title: "The node runs another Talos than the environment asks for",
    cause: "Somebody upgraded it by hand, its image is another one, or talosVersion or image were changed.",
    remedy: "Upgrade the node with talosctl, or set talosVersion and image to what it runs.",
  },
  "SLU-T213": {
    title: "A client's certificate was not made anew",
    cause:
      "Its end is near, and the run before this did not bring another: see what it says of the machine secrets or the kubeconfig.",
    remedy: "Run `npm run up` again when that is mended. The machine's own clock may be wrong, too.",
  },
  "SLU-T301": {
    title: "Preflight: machines are not as the environment says",
    cause:
      "A machine is missing, is another one, lacks the disk, or runs a Talos that cannot read its config. Nothing was changed.",
    remedy: "Mend each line; all faults of all nodes are listed.",
  },
  "SLU-T302": {
    title: "Preflight: the machine is another one",
    cause: "MAC or UUID of the machine at this address are not the ones of the node.",
    remedy: "Check addresses and DHCP leases: two machines have changed places, or a stranger has the address.",
  },
  "SLU-T303": {
    title: "Preflight: Talos on the machine cannot read the config",
    cause: "The machine runs an older Talos minor than the config is made for.",
    remedy: "Boot it from an image of talosVersion, or set talosVersion to what it runs.",
  },
  "SLU-T304": {
    title: "Preflight: the disk selector matches several disks",
    cause: "Talos would take the first that it finds, which may be another one after the next boot.",
    remedy: "Add to the selector what only one of them has, such as its serial.",
  },
  "SLU-T311": {
    title: "A node is stuck in a stage",
    cause: "The stage is in the message, with what the node says is unmet.",
    remedy:
      "Look at the node's console or `talosctl dmesg`; what is unmet names the service or the network that lacks.",
  },
  "SLU-T321": {
    title: "etcd is not whole",
    cause: "A control plane is not a member, is a learner still, has an alarm, or does not agree with the others.",
    remedy:
      "See `talosctl etcd members` and `talosctl logs etcd` on the node that is named; members must reach each other on TCP 2379 and 2380. One whose member was removed joins anew after `talosctl reset --system-labels-to-wipe EPHEMERAL --reboot` of that node.",
  },
  "SLU-T322": {
    title: "etcd has an alarm",
    cause: "NOSPACE: its disk quota is full. CORRUPT: members hold different data.",
    remedy: "NOSPACE: `talosctl etcd defrag`, then `talosctl etcd alarm disarm`. CORRUPT: restore from a backup.",
  },
  "SLU-T323": {
    title: "etcd has a member that is no node of ours",
    cause: "A node was removed without leaving etcd, or another cluster's node joined.",
    remedy:
      "Compare `talosctl etcd members` with the list of nodes, and remove the stranger: `talosctl etcd remove-member`.",
  },
  "SLU-T331": {
    title: "Talos services are not healthy",
    cause: "A service does not run or fails its health check on the node that is named.",
    remedy:
      "`talosctl service` and `talosctl logs` on that node; for a kubelet most often a mount or an image that cannot be had.",
  },
  "SLU-K101": {
    title: "The Kubernetes API does not answer",
    cause: "The API server is starting or busy, or the endpoint (load balancer, VIP) does not lead to it.",
    remedy: "Check the endpoint and its port, and `talosctl logs kubelet` and the static pods on a control plane.",
  },
  "SLU-K102": {
    title: "The Kubernetes API refuses the credentials",
    cause: "The kubeconfig is of another cluster, or its certificate has run out.",
    remedy: "Run `npm run up`: it makes a new kubeconfig. If it stays, the endpoint leads to another cluster.",
  },
  "SLU-K103": {
    title: "Nodes have not joined",
    cause: "A kubelet does not register: it does not run, cannot reach the API, or its certificate is refused.",
    remedy: "`talosctl logs kubelet` on the node that is named.",
  },
  "SLU-K104": {
    title: "A node in Kubernetes is not the machine meant",
    cause: "Its name or address is the expected one, its machine is not, or a stranger has joined.",
    remedy: "Delete the Node object of a machine that is gone; find out where a stranger comes from.",
  },
  "SLU-K105": {
    title: "Nodes are not Ready",
    cause: "The condition that the kubelet reports is in the message.",
    remedy: "With NetworkPluginNotReady look at the Cilium pod of that node, else at the kubelet's log.",
  },
  "SLU-K106": {
    title: "The virtual address does not answer as this cluster",
    cause:
      "No control plane has brought it up, or the way to it from here is barred; which one has it is in the message.",
    remedy:
      "Where none has it: is the address in the network of the interface that it is to be on? With Talos see `talosctl get operatorspecs` and etcd, with kube-vip the log of its pods. Where one has it: it must be reached from here by ARP or a route.",
  },
  "SLU-K107": {
    title: "Somebody else answers at the virtual address",
    cause: "Another machine has the address already, or another cluster has the same one for its own.",
    remedy:
      "Find the machine (`ip neighbour` or the router tells its MAC) and take the address from it, or set network.vip to one that is free.",
  },
  "SLU-K108": {
    title: "The Kubernetes API answered with an error",
    cause: "Its own words are in the message.",
    remedy: "Mend what it names, then run it again.",
  },
  "SLU-K111": {
    title: "Cilium is not ready on every node",
    cause: "A pod is missing or not Ready; its reason and last events are in the message.",
    remedy: "Mend what the pod says: image, crash, or what keeps it pending.",
  },
  "SLU-K112": {
    title: "Storage is not ready",
    cause: "The CSI driver is not registered on a node, or its controller or node plugin is not Ready.",
    remedy: "Look at the pod that is named, and at the token that the driver uses.",
  },
  "SLU-K113": {
    title: "A volume could not be bound",
    cause: "The driver runs, but provisioning a test volume failed; its event is in the message.",
    remedy: "Check the cloud's quota, location and token, and the StorageClass.",
  },
  "SLU-K114": {
    title: "sealed-secrets is not ready, or not with our key",
    cause: "The controller is not Ready, or it uses a key that it made itself.",
    remedy: "Look at the controller's pod and log; the key must be there before it starts.",
  },
  "SLU-K115": {
    title: "GitOps does not reconcile",
    cause:
      "A Flux controller is not Ready, the source cannot be fetched, or the root Kustomization fails; Flux' words are in the message.",
    remedy: "Mend what Flux names: repository, branch, path, credentials or manifest.",
  },
  "SLU-K116": {
    title: "The cloud controller has not initialised a node",
    cause: "The node has no provider id or labels yet, or keeps the taint `uninitialized`.",
    remedy: "Look at the log of the cloud controller, its token and its network setting.",
  },
  "SLU-K118": {
    title: "A sealed secret cannot be opened",
    cause: "It was sealed for another key than the one that this environment has.",
    remedy:
      "Seal it anew for sealedSecretsCertificate (kubeseal --cert) and commit it, or bring the key back that it was sealed for.",
  },
  "SLU-K119": {
    title: "A gate cannot look",
    cause: "What opens the cluster cannot be read, or this program has a fault. What the gate stands for may be well.",
    remedy: "Run `npm run up` again. If it stays, report what is said.",
  },
  "SLU-K201": {
    title: "Something in the cluster was left as it was",
    cause: "The Kubernetes API did not answer when it was to be changed, which its provider only warns of.",
    remedy:
      "Run `npm run up` again. If it stays, see whether the API answers: the gate KubernetesApi tells what is wrong with it.",
  },
  "SLU-M101": {
    title: "No snapshot matches",
    cause: "No snapshot in the project has the labels that are asked for.",
    remedy: "Make one: `npm run snapshot -- <environment>`. Or set the labels of the one that is there.",
  },
  "SLU-M102": {
    title: "The cloud's API refuses or fails",
    cause:
      "The token is wrong or read-only, a limit is reached, or the cloud has a fault; its words are in the message.",
    remedy: "Check the token and the project's limits; with a fault of the cloud run it again later.",
  },
  "SLU-M103": {
    title: "An image could not be made",
    cause: "The image command failed; the end of what it said is in the message.",
    remedy: "Mend what it says and run it again.",
  },
  "SLU-M104": {
    title: "A machine was not reset",
    cause: "It is there and ours, and did not do as it was told; its own words are in the message.",
    remedy:
      "Mend what it says and run destroy again. To let the machine go as it is, set existing.resetOnDestroy to false and run `npm run up` first.",
  },
  "SLU-M111": {
    title: "The Image Factory refuses or fails",
    cause: "It is not reached from here, or does not take the schematic; its words are in the message.",
    remedy: "Check image.factory, image.extensions and the way to the factory, and run it again.",
  },
  "SLU-M112": {
    title: "The Image Factory counts otherwise",
    cause: "It has the schematic under another id than was worked out here, so it would make other images.",
    remedy:
      "Set image.factory to an official Image Factory; where it is one, this program has a fault: report both ids.",
  },
  "SLU-M113": {
    title: "No address by DHCP",
    cause: "The VM runs without the guest agent, or no DHCP server has answered it.",
    remedy: "Look at the VM's console in Proxmox, at the bridge and the VLAN, and at the DHCP server.",
  },
  "SLU-M114": {
    title: "Another address than the one listed",
    cause: "The DHCP server gives the VM an address that is not the one in the node's entry.",
    remedy: "Reserve the listed address for the MAC at the DHCP server, or list the one that it gives.",
  },
  "SLU-M115": {
    title: "The Proxmox API refuses or fails",
    cause: "It is not reached from here, the token lacks a privilege, or a host is down; its words are in the message.",
    remedy: "Check proxmox.endpoint, the token and its privileges (docs/proxmox.md), and the host.",
  },
  "SLU-L101": {
    title: "etcd would lose its quorum",
    cause:
      "Without the member that is to go, or was to be replaced, too few members would be well to agree on anything.",
    remedy:
      "Bring the members that are not well back first (`talosctl etcd members`, `talosctl service etcd`), or put the node back into the list. The last member goes with the whole cluster only: `npm run destroy`.",
  },
  "SLU-L102": {
    title: "A node could not be drained",
    cause:
      "Pods have not left it in time: a PodDisruptionBudget forbids it, they do not end, or the Kubernetes API does not answer.",
    remedy:
      "Give the application another replica or loosen the budget that is named, then run `npm run up` again: it goes on where it stopped. The node stays cordoned. `timeouts.drain` is how long is waited.",
  },
  "SLU-L103": {
    title: "A node could not be removed",
    cause: "The step that is named did not come to its end.",
    remedy: "Mend what is named and run `npm run up` again: what is done already is not done twice.",
  },
  "SLU-L104": {
    title: "Several control planes would go down at once",
    cause:
      "Each of them would be turned off or made anew for a change of its entry, or of a default behind it, and providers do that to all at the same time.",
    remedy:
      "Change one, run `npm run up`, and go on with the next: `nodes[].serverType` or `nodes[].location` first, the default when all have it. docs/change.md shows it.",
  },
  "SLU-L105": {
    title: "A node cannot take another name or address while it lives",
    cause:
      "Its machine, its certificates and its member of etcd have the old one. A machine under another name would want what the old one has until it goes, which is last.",
    remedy:
      "List it under another name and at another address at once (on Proxmox with another vmId): the new node joins, then the old one leaves. Or take its line out, run `npm run up`, and add it again.",
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

export type FailureCode = keyof typeof catalogue;
