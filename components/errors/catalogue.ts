/** One kind of failure. Its code never changes, so that users can search for it. */
export interface CatalogueEntry {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

/**
 * Every failure that Sluice has a code for. T1: reaching a node, T2: configuring a node, T3: gates on Talos, T4: upgrades of Talos, K1: gates on Kubernetes, K2: the
 * platform, K3: upgrades of Kubernetes, M1: machines, L1: nodes that join or leave, B1: backup and restore, A1: adoption. A code is never reused for another failure. docs/failure-codes.md is generated
 * from this.
 */
export const catalogue = {
  "SLU-T101": {
    title: "A node does not answer",
    cause: "The machine is off or still booting, its address is wrong, or a firewall blocks the connection.",
    remedy: "Check the machine's console, its address, and that TCP port 50000 is open from this host to the node.",
  },
  "SLU-T102": {
    title: "A node refuses the connection",
    cause: "Nothing listens on port 50000: the machine is booting, installing or rebooting, or it does not run Talos.",
    remedy: "Wait until the machine has booted. If it still refuses, check its console and its address.",
  },
  "SLU-T103": {
    title: "The node's certificate was not issued by this cluster",
    cause: "The node belongs to another cluster, or the machine secrets were regenerated after it got its config.",
    remedy:
      "Restore the Pulumi state that holds the original machine secrets. To take the node over, reset it first; Sluice never overwrites a foreign node.",
  },
  "SLU-T104": {
    title: "The node requires a client certificate",
    cause: "The node has left maintenance: it already has a config, of this cluster or of another one.",
    remedy:
      "Run `npm run up -- <environment>` again: it resumes with a node of this cluster. A foreign node must be reset by its owner.",
  },
  "SLU-T105": {
    title: "The node denied the call",
    cause: "The role of the client certificate is too low, or the node does not serve this call in its current state.",
    remedy: "Use this environment's talosconfig, which has the role os:admin: `npm run talosconfig -- <environment>`.",
  },
  "SLU-T106": {
    title: "A call to the node timed out",
    cause: "The network is slow or loses packets, or the node is overloaded.",
    remedy:
      "Check network latency and the node's load. A call has a timeout of a few seconds (probe 3 s, most others 10 s, config 15 s): if the network is slower than that, run Sluice on a host closer to the nodes.",
  },
  "SLU-T107": {
    title: "Transient Talos API failure",
    cause: "The connection broke or the node was busy; this also happens while a machine reboots.",
    remedy: "Sluice retries automatically, and the next `up` resumes. If it persists, check the node's console.",
  },
  "SLU-T108": {
    title: "The Talos API returned an error",
    cause: "The node answered the call with an error; its own words are under 'seen'.",
    remedy: "Fix what the node reports, then run `npm run up -- <environment>` again.",
  },
  "SLU-T109": {
    title: "The node belongs to another cluster",
    cause:
      "The node answers, but with a certificate of another cluster: the address belongs to another cluster's node, or the machine secrets in the state are not the ones that the node got.",
    remedy:
      "Check the address. If the machine secrets were regenerated, restore the Pulumi state that holds the old ones. To have the node join this cluster, reset it with its own talosconfig (`talosctl --nodes <address> reset`) or recreate the machine; Sluice never overwrites a foreign node.",
  },
  "SLU-T110": {
    title: "The node does not implement this API call",
    cause: "The node runs an older or newer Talos than expected, or does not serve this call in its role or state.",
    remedy: "Compare talosVersion with what the node runs: `talosctl --nodes <address> version`.",
  },
  "SLU-T111": {
    title: "The node's certificate does not cover the name used to reach it",
    cause:
      "The certificate is from this cluster but lists other names and addresses: `reach` was set or changed after the node got its config.",
    remedy:
      "Set `reach` back to its old value, add the new name to machine.certSANs with a patch (`patches`), and run `npm run up -- <environment>`. Then set `reach` to the new name.",
  },
  "SLU-T112": {
    title: "The node's certificate is expired or not yet valid",
    cause:
      "The clock of the node or of this host is wrong, or the node was off for so long that its certificate expired.",
    remedy:
      "Check both clocks and the node's time servers (`machine.time`); once its clock is right, the node issues itself a new certificate.",
  },
  "SLU-T113": {
    title: "The node's response has an unexpected format",
    cause: "The node runs a different Talos than talosVersion, or this is a bug in Sluice.",
    remedy:
      "Compare talosVersion with `talosctl --nodes <address> version`, then run the command again. If it persists, report the message as a bug.",
  },
  "SLU-T201": {
    title: "The node rejected its machine config",
    cause: "The node's own validator refused the config; its words are under 'seen'.",
    remedy: "Fix the patch or the key that the validator names. Nothing was changed on the node.",
  },
  "SLU-T202": {
    title: "The disk selector matches no disk",
    cause: "No disk of the node matches install.disk or install.diskSelector.",
    remedy: "Set the install disk to one of the listed disks.",
  },
  "SLU-T203": {
    title: "The cluster is already bootstrapped",
    cause: "This node already runs etcd: an earlier run bootstrapped it.",
    remedy: "Nothing to do: bootstrap counts as done. Only one control plane is ever bootstrapped.",
  },
  "SLU-T204": {
    title: "Bootstrap is not possible yet",
    cause:
      "The node is not ready yet: services are still starting, its time is not in sync, or another bootstrap call is in progress.",
    remedy: "Sluice retries automatically. If it persists, check the time servers and the node's console.",
  },
  "SLU-T205": {
    title: "Bootstrap was called on a node without etcd",
    cause: "The node runs as a worker.",
    remedy: "Check that the address of the first control plane is not a worker's.",
  },
  "SLU-T206": {
    title: "A machine config was not applied in time",
    cause: "Every attempt failed with a retryable error; the last one is under 'seen'.",
    remedy:
      "Fix the cause of the last error, then run `npm run up -- <environment>` again: nodes that are done are left alone.",
  },
  "SLU-T207": {
    title: "Bootstrap did not complete",
    cause: "The bootstrap call was not accepted, or etcd did not come up after it.",
    remedy:
      "Check the last error and etcd's log (`talosctl --nodes <address> logs etcd`), then run `npm run up -- <environment>` again; completed steps are not repeated.",
  },
  "SLU-T208": {
    title: "The node runs a different config than the one sent",
    cause: "Someone changed the config by hand, or the node rolled back after a failed boot.",
    remedy: "Run `npm run up -- <environment>`: it applies the environment's config again.",
  },
  "SLU-T212": {
    title: "The node runs a different Talos than the environment specifies",
    cause: "The node was upgraded by hand, or made from an image with another Talos, and the state does not know that.",
    remedy: "`npm run up -- <environment> --refresh` upgrades the node; or set talosVersion and image to what it runs.",
  },
  "SLU-T213": {
    title: "A client certificate was not renewed",
    cause:
      "The certificate expires soon, and the last run did not renew it: see its output about the machine secrets or the kubeconfig.",
    remedy: "Fix that, then run `npm run up -- <environment>` again. Check the clock of this host too.",
  },
  "SLU-T214": {
    title: "Kubernetes cannot change to this version in one step",
    cause:
      "kubernetesVersion, or an image in a patch, was changed to a minor version that is older, or more than one newer, than what the node runs. Kubernetes supports neither. Nothing was changed.",
    remedy:
      "Raise kubernetesVersion by one minor version, run `npm run up -- <environment>`, then raise it again. A minor version never goes down.",
  },
  "SLU-T215": {
    title: "The node has lost its machine config",
    cause:
      "The node accepted its config and is in maintenance again, without one: its installer failed, it was reset, its disk was replaced, or it was rolled back.",
    remedy:
      "Run `npm run up -- <environment>` again: it sends the config again, to the machine that is meant and to no other. If the node loses it again, its installer fails: check the machine's console, the install disk and the image.",
  },
  "SLU-T216": {
    title: "A control plane does not serve with its new settings",
    cause:
      "After a change of its machine config a static pod or the kubelet of this control plane does not run healthily; its own words are under 'seen'. The control planes after it were not changed.",
    remedy:
      "Correct or revert what was changed, such as a misspelt flag of the API server or the kubelet, then run `npm run up -- <environment>` again. For the component's log: `talosctl --nodes <address> containers --kubernetes` has its id, and `talosctl --nodes <address> logs --kubernetes <id>` prints it.",
  },
  "SLU-T218": {
    title: "The image of etcd was not pulled",
    cause: "Talos pulls it before it starts etcd, and retries; its own words are under 'seen'.",
    remedy:
      "Check that the node reaches the image's registry or its mirror: DNS, proxy, `machine.registries`. Then run `npm run up -- <environment>` again.",
  },
  "SLU-T219": {
    title: "An etcd was stopped while it was starting",
    cause:
      "Bootstrap was called a second time while the first call was starting etcd, by another command or another user. Talos starts that etcd again at the next boot only.",
    remedy: "Run `talosctl --nodes <address> reboot`, then `npm run up -- <environment>` again.",
  },
  "SLU-T220": {
    title: "The cluster's etcd is gone",
    cause:
      "The cluster was bootstrapped, and no control plane has an etcd any more: all of them were reset, reinstalled or replaced. All that was only in etcd is lost: every object in Kubernetes, with its Secrets and with the claims of its volumes. Nothing was bootstrapped again.",
    remedy:
      "If there is a backup: set `restoreFrom` in the environment's file and run `npm run up -- <environment>` again. To begin a new, empty cluster on the same machines, with the same credentials and with everything that Sluice installs: `npm run up -- <environment> --new-cluster`.",
  },
  "SLU-T221": {
    title: "The environment declares other machine secrets than its cluster has",
    cause:
      "`machineSecrets` was set, or changed, to those of another cluster, or to older ones. A running cluster cannot take other secrets: nothing was written to a node.",
    remedy:
      "Remove `machineSecrets` from the environment's file, or set what the cluster has: `npm run secrets -- export <environment>`. For another cluster use another environment, or run `npm run destroy -- <environment>` first.",
  },
  "SLU-T240": {
    title: "The machine configs are newer than Talos",
    cause:
      "The cluster's machine configs are of a contract that the Talos in talosVersion cannot read: talosVersion was set to an older minor version after the contract had been raised. Nothing was changed.",
    remedy:
      "Set configContract to the minor version that talosVersion is to have, run `npm run up -- <environment>` with the Talos that runs now, and change talosVersion after that.",
  },
  "SLU-T241": {
    title: "The contract of the machine config is not in the state",
    cause:
      "An earlier version of Sluice generated the machine configs for the minor version in talosVersion, and did not record which. Talos was upgraded since the cluster was created. Nothing was changed.",
    remedy:
      "Set configContract to the contract that the message names and run `npm run up -- <environment>` once. After that the key can be removed.",
  },
  "SLU-T301": {
    title: "Preflight: machines do not match the environment",
    cause:
      "A machine is missing, is not the one listed, does not have the install disk, or runs a Talos that cannot read its config. Nothing was changed.",
    remedy: "Fix each line; all problems of all nodes are listed.",
  },
  "SLU-T302": {
    title: "Preflight: a different machine is at this address",
    cause: "The MAC address or UUID of the machine does not match the node's entry.",
    remedy: "Check addresses and DHCP leases: two machines were swapped, or an unknown machine uses the address.",
  },
  "SLU-T303": {
    title: "Preflight: the machine's Talos is too old for its config",
    cause: "The machine runs an older Talos minor version than the config is made for.",
    remedy: "Boot the machine from an image of talosVersion, or set talosVersion to what it runs.",
  },
  "SLU-T304": {
    title: "Preflight: the disk selector matches several disks",
    cause: "Talos would install to the first disk it finds, which may be a different one after the next boot.",
    remedy: "Add a property to the selector that only one of the disks has, such as its serial.",
  },
  "SLU-T311": {
    title: "A node is stuck in a stage",
    cause: "The stage is under 'seen', with the conditions that the node reports as unmet.",
    remedy:
      "Check the node's console or `talosctl --nodes <address> dmesg`; the unmet condition names the missing service or network.",
  },
  "SLU-T321": {
    title: "etcd is incomplete or unhealthy",
    cause:
      "A control plane is not a member, is still a learner, has an alarm, or disagrees with the others about who is a member.",
    remedy:
      "Check `talosctl --nodes <address> etcd members` and `talosctl --nodes <address> logs etcd` on the named node; members must reach each other on TCP 2379 and 2380. A node whose member was removed rejoins after `talosctl --nodes <address> reset --system-labels-to-wipe EPHEMERAL --reboot`.",
  },
  "SLU-T322": {
    title: "etcd has an alarm",
    cause: "NOSPACE: the disk quota of etcd is full. CORRUPT: members hold different data.",
    remedy:
      "NOSPACE: `talosctl --nodes <address> etcd defrag`, then `talosctl --nodes <address> etcd alarm disarm`. CORRUPT: restore from a backup.",
  },
  "SLU-T323": {
    title: "etcd has an unexpected member",
    cause: "A node was removed without leaving etcd, or a node of another cluster joined.",
    remedy:
      "Compare `talosctl --nodes <address> etcd members` with the list of nodes, and remove the unexpected member: `talosctl --nodes <address> etcd remove-member <member id>`.",
  },
  "SLU-T331": {
    title: "Talos services are not healthy",
    cause: "A service on the named node is not running or fails its health check.",
    remedy:
      "Check `talosctl --nodes <address> service` and `talosctl --nodes <address> logs <service>`. For the kubelet it is usually a failing mount or an image that cannot be pulled.",
  },
  "SLU-T401": {
    title: "Talos cannot change to this version in one step",
    cause:
      "Talos is upgraded by one minor version at a time, and its installer refuses to run on versions too far away.",
    remedy: "Set talosVersion to a release of the next minor version, run `npm run up -- <environment>`, and so on.",
  },
  "SLU-T402": {
    title: "The new Talos would refuse the running machine config",
    cause:
      "A node that boots a Talos that cannot read its config has none: it would be in maintenance. The validator's own words are under 'seen'.",
    remedy:
      "Change the config so that both versions accept it, with the old talosVersion, run `npm run up -- <environment>`, and then change talosVersion.",
  },
  "SLU-T403": {
    title: "A node cannot pull the installer image",
    cause:
      "The image does not exist (the version or an extension is unknown to the Image Factory), or the node does not reach the registry. No node was changed for it.",
    remedy:
      "Check talosVersion, image.extensions and image.factory, and the network and registries of the named node. Then run `npm run up -- <environment>` again.",
  },
  "SLU-T404": {
    title: "The installer failed on a node",
    cause:
      "Talos' installer exited with an error, or the node refused the call; its words are under 'seen' and 'log'. The node still runs its previous system.",
    remedy: "Fix what it reports, then run `npm run up -- <environment>` again; it resumes with this node.",
  },
  "SLU-T405": {
    title: "A node returned to its previous system",
    cause:
      "It did not come up with the new one. Talos then boots the one before; the last words of the failed boot, if it was reached, are under 'log'.",
    remedy:
      "Find out why on the node's console (`talosctl --nodes <address> dmesg`), and fix it or set talosVersion and image back. Then run `npm run up -- <environment>` again; it resumes with this node.",
  },
  "SLU-T406": {
    title: "A node did not come up with its new system in time",
    cause: "The last thing that it reported is under 'seen'. It may still be installing or booting.",
    remedy:
      "Check the node's console and `npm run status -- <environment>`, then run `npm run up -- <environment>` again; it resumes with this node. `timeouts.upgrade` sets the timeout.",
  },
  "SLU-T407": {
    title: "Volumes are not as they should be",
    cause:
      "Volumes are not attached, or a distributed storage still rebuilds replicas: another node that goes down now could cost data.",
    remedy:
      "Wait for the storage or fix it, then run `npm run up -- <environment>` again; it resumes. `timeouts.storage` sets the timeout.",
  },
  "SLU-T408": {
    title: "The cluster is not complete enough for an upgrade",
    cause:
      "A control plane is in maintenance, belongs to another cluster or cannot be asked: etcd could lose its quorum.",
    remedy:
      "Set talosVersion and image back, run `npm run up -- <environment>` until the node has joined, and then upgrade.",
  },
  "SLU-T409": {
    title: "Another run upgrades this cluster",
    cause: "Its user and host are under 'seen'. Two upgrades at the same time could take down two control planes.",
    remedy:
      "Wait until it has ended, then run `npm run up -- <environment>` again. A run that was killed holds its lease for a minute.",
  },
  "SLU-K101": {
    title: "The Kubernetes API does not answer",
    cause: "The API server is starting or busy, or the endpoint (load balancer, VIP) does not route to it.",
    remedy:
      "Check the endpoint and its port. On a control plane check the kubelet (`talosctl --nodes <address> logs kubelet`) and the static pods (`talosctl --nodes <address> containers --kubernetes`).",
  },
  "SLU-K102": {
    title: "The Kubernetes API rejects the credentials",
    cause: "The kubeconfig is from another cluster, or its certificate has expired.",
    remedy:
      "Run `npm run up -- <environment>`: it makes a new kubeconfig. If it persists, the endpoint routes to another cluster.",
  },
  "SLU-K103": {
    title: "Nodes have not joined",
    cause:
      "A kubelet has not registered its node: it is not running, cannot reach the API, or its certificate is rejected.",
    remedy: "Check `talosctl --nodes <address> logs kubelet` on the named node.",
  },
  "SLU-K104": {
    title: "A Kubernetes node is not the expected machine",
    cause:
      "A Node object has the expected name or address but belongs to another machine, or an unexpected node has joined.",
    remedy:
      "Delete the Node object of a machine that is gone (`kubectl delete node <name>`). Find out where an unexpected node comes from.",
  },
  "SLU-K105": {
    title: "Nodes are not Ready",
    cause: "The condition that the kubelet reports is under 'seen'.",
    remedy:
      "For NetworkPluginNotReady check the Cilium pod on that node, otherwise the kubelet's log: `talosctl --nodes <address> logs kubelet`.",
  },
  "SLU-K106": {
    title: "The virtual address is not served by this cluster",
    cause:
      "No control plane has brought the address up, or it is unreachable from here; the node that holds it is under 'seen'.",
    remedy:
      "If no node holds it: check that the address is in the network of its interface; with Talos check `talosctl --nodes <address> get operatorspecs` and etcd, with kube-vip the log of its pods. If a node holds it: this host must reach it by ARP or a route.",
  },
  "SLU-K107": {
    title: "Another machine answers at the virtual address",
    cause: "Another machine already uses the address, or another cluster has the same virtual address.",
    remedy:
      "Find the machine (`ip neighbour` or the router shows its MAC) and remove the address from it, or set network.vip to a free address.",
  },
  "SLU-K108": {
    title: "The Kubernetes API returned an error",
    cause: "The API's own words are under 'seen'.",
    remedy: "Fix what it reports, then run `npm run up -- <environment>` again.",
  },
  "SLU-K111": {
    title: "Cilium is not ready on every node",
    cause: "A pod is missing or not Ready; its reason and last events are under 'seen'.",
    remedy: "Fix the problem that the pod reports: a bad image, a crash, or failed scheduling.",
  },
  "SLU-K112": {
    title: "Storage is not ready",
    cause: "The CSI driver is not registered on a node, or its controller or node plugin is not Ready.",
    remedy:
      "Fix what the pods under 'seen' report. If none is named, check the log of the driver's pods (`kubectl get pods --all-namespaces`) and the token that it uses.",
  },
  "SLU-K113": {
    title: "A test volume could not be bound",
    cause: "The driver runs, but provisioning a test volume failed; its event is under 'seen'.",
    remedy: "Check the cloud's quota, location and token, and the StorageClass.",
  },
  "SLU-K114": {
    title: "sealed-secrets is not ready or uses another key",
    cause: "The controller is not Ready, or it uses a key that it generated itself.",
    remedy: "Check the controller's pod and log; its key must exist before it starts.",
  },
  "SLU-K115": {
    title: "GitOps does not reconcile",
    cause:
      "A Flux controller is not Ready, the source cannot be fetched, or the root Kustomization fails; Flux' own words are under 'seen'.",
    remedy: "Fix what Flux reports: repository, branch, path, credentials or manifest.",
  },
  "SLU-K116": {
    title: "The cloud controller has not initialized a node",
    cause: "The node still has no provider id or labels, or still has the taint `uninitialized`.",
    remedy: "Check the cloud controller's log, its token and its network setting.",
  },
  "SLU-K118": {
    title: "A SealedSecret cannot be decrypted",
    cause: "It was sealed for a different key than this environment's.",
    remedy:
      "Re-seal it for sealedSecretsCertificate (`kubeseal --cert tls.crt < secret.yaml > sealed.yaml`) and commit it, or restore the key that it was sealed for.",
  },
  "SLU-K119": {
    title: "A health gate could not run its check",
    cause:
      "The cluster credentials could not be parsed, or this is a bug in Sluice. The cluster itself may be healthy.",
    remedy: "Run `npm run up -- <environment>` again. If it persists, report the message as a bug.",
  },
  "SLU-K120": {
    title: "Pods cannot reach the Kubernetes API through Cilium",
    cause:
      "Cilium is ready, but a pod on the node did not start, or could not connect to the API by its Service address: Cilium's programs, routes or masquerading do not work there, a firewall blocks the node's way to the control planes, or a network policy denies it.",
    remedy:
      "Check the node's agent (`kubectl --namespace kube-system exec <its pod cilium-...> -- cilium-dbg status --verbose`) and what differs on that node: NIC, MTU, routes, firewall. If a policy of your own denies it, allow it or set cilium.probe: false.",
  },
  "SLU-K201": {
    title: "A Kubernetes resource was not updated",
    cause:
      "The Kubernetes API did not answer when the resource was to be changed; the Kubernetes provider only warns about that.",
    remedy:
      "The next `up` resumes; `npm run up` does so by itself for a while. If it persists, check the API: the gate KubernetesApi shows what is wrong with it.",
  },
  "SLU-K202": {
    title: "A chart cannot change to this version in one step",
    cause:
      "Its version was changed by more than one minor version, up or down, which its publisher does not support. Nothing was changed.",
    remedy: "Change it by one minor version, run `npm run up -- <environment>`, then change it again.",
  },
  "SLU-K301": {
    title: "A node's Talos does not support this version of Kubernetes",
    cause:
      "kubernetesVersion was changed to a version that the Talos of the named node does not run. Nothing was changed.",
    remedy:
      "Set kubernetesVersion to a release that it runs ([versions](versions.md)), or upgrade Talos first: `npm run up -- <environment> --refresh` finds out what the nodes run.",
  },
  "SLU-K302": {
    title: "The new version of Kubernetes no longer has what the cluster uses",
    cause:
      "It removed flags, feature gates or admission plugins that are set on nodes, or APIs that somebody still asks for; each is under 'seen'. With them, components would not start, or callers would fail. Nothing was changed.",
    remedy:
      "Remove the settings with the old kubernetesVersion: take them out of `patches` and `machine`, run `npm run up -- <environment>`, and then change kubernetesVersion.",
  },
  "SLU-K303": {
    title: "A node cannot pull an image of Kubernetes",
    cause:
      "The version does not exist, its registry or mirror does not have it, or the node does not reach the registry. Images are pulled on all nodes before the first of them is changed.",
    remedy:
      "Check kubernetesVersion, and `machine.registries` and the network of the named node. Then run `npm run up -- <environment>` again.",
  },
  "SLU-K304": {
    title: "A component of Kubernetes does not start in its new version",
    cause:
      "It ends again and again; its own words are under 'seen'. Usually it does not accept a flag or a feature gate that the former version accepted. No further node was changed.",
    remedy:
      "Set kubernetesVersion back, take the named setting out of `patches` or `machine`, and run `npm run up -- <environment>`. Then change kubernetesVersion again. Once a kubelet runs the new version there is no way back ([upgrades](upgrades.md#kubernetes)).",
  },
  "SLU-K305": {
    title: "A node did not run its new version of Kubernetes in time",
    cause: "What was missing last is under 'seen'. No further node was changed.",
    remedy:
      "Fix what is named, then run `npm run up -- <environment>` again: it resumes with this node. `timeouts.kubernetes` sets the timeout.",
  },
  "SLU-K306": {
    title: "The Kubernetes API refuses a manifest of Talos",
    cause:
      "The nodes run the new version. The API does not accept one of the objects that Talos has for it; its words are under 'seen'.",
    remedy:
      "If it comes from `cluster.inlineManifests` or `cluster.extraManifests` of a patch, correct it there. Then run `npm run up -- <environment>` again.",
  },
  "SLU-M101": {
    title: "No snapshot matches",
    cause: "No snapshot in the project has the requested labels.",
    remedy:
      "Make one: `npm run snapshot -- <environment>`. Or set hetzner.snapshot.labels to the labels of an existing one.",
  },
  "SLU-M102": {
    title: "The cloud API rejected a call or failed",
    cause:
      "The token is wrong or read-only, a limit is reached, or the cloud has an outage; its own words are under 'seen'.",
    remedy:
      "Check the token and the project's limits. After an outage of the cloud the next `up` resumes; `npm run up` does so by itself for a while.",
  },
  "SLU-M103": {
    title: "An image could not be made",
    cause: "The image command failed; the end of its output is under 'seen'.",
    remedy: "Fix what it reports, then run the command again.",
  },
  "SLU-M104": {
    title: "A machine was not reset",
    cause: "The machine belongs to this cluster but did not perform the reset; its own words are under 'seen'.",
    remedy:
      "Fix what it reports, then run `npm run destroy -- <environment>` again. To keep the machine as it is, set existing.resetOnDestroy to false and run `npm run up -- <environment>` first.",
  },
  "SLU-M111": {
    title: "The Image Factory rejected a call or failed",
    cause: "The factory is unreachable from here, or does not accept the schematic; its own words are under 'seen'.",
    remedy:
      "Check image.factory, image.extensions and the network path to the factory. After an outage the next `up` resumes; `npm run up` does so by itself for a while.",
  },
  "SLU-M112": {
    title: "Image Factory returned a different schematic id",
    cause: "The factory's id for the schematic differs from the id computed here, so it would make different images.",
    remedy:
      "Set image.factory to an official Image Factory. If it is one already, this is a bug in Sluice: report both ids.",
  },
  "SLU-M113": {
    title: "The VM got no DHCP address",
    cause: "The VM runs without the guest agent, or no DHCP server answered it.",
    remedy: "Check the VM's console in Proxmox, the bridge and the VLAN, and the DHCP server.",
  },
  "SLU-M114": {
    title: "The VM's DHCP address is not the configured one",
    cause: "The DHCP server gave the VM a different address than the one in the node's entry.",
    remedy:
      "Reserve the configured address for the VM's MAC at the DHCP server, or configure the address that it gives.",
  },
  "SLU-M115": {
    title: "The Proxmox API rejected a call or failed",
    cause:
      "The API is unreachable from here, a privilege is missing from the token, or a host is down; the API's own words are under 'seen'.",
    remedy:
      "Check proxmox.endpoint, the token and its privileges (docs/proxmox.md), and the host. After an outage the next `up` resumes; `npm run up` does so by itself for a while.",
  },
  "SLU-M116": {
    title: "The Image Factory has no such extension",
    cause: "An entry of image.extensions is misspelt, or the extension is not made for this version of Talos.",
    remedy: "Correct image.extensions. The factory lists what it has at /version/v<talosVersion>/extensions/official.",
  },
  "SLU-M121": {
    title: "The platform does not have what the environment names",
    cause: "Its API does not list it, or not where it is needed: a name is misspelt, or the platform has changed.",
    remedy: "Correct the named settings.",
  },
  "SLU-M122": {
    title: "A name or an id is taken",
    cause: "Something else on the platform has the name or the id that this environment gives to what it creates.",
    remedy:
      "Choose another clusterName, name or vmId; or delete what has it, if nobody needs it. Two environments must not describe the same machines.",
  },
  "SLU-M123": {
    title: "The token is not sufficient",
    cause: "The platform's API does not accept the token, or privileges that are needed are missing from it.",
    remedy: "Check the token and its privileges: docs/proxmox.md, docs/hetzner.md.",
  },
  "SLU-L101": {
    title: "etcd would lose its quorum",
    cause: "Without the member that is to leave or be replaced, fewer than a quorum of healthy members would remain.",
    remedy:
      "Fix the unhealthy members first (`talosctl --nodes <address> etcd members`, `talosctl --nodes <address> service etcd`), or put the node back into the list. The last member can only be removed with the whole cluster: `npm run destroy -- <environment>`.",
  },
  "SLU-L102": {
    title: "A node could not be drained",
    cause:
      "Pods did not leave it in time: a PodDisruptionBudget forbids it, they do not terminate, or the Kubernetes API does not answer.",
    remedy:
      "Add a replica to the application or relax the named budget, then run `npm run up -- <environment>` again; it resumes. The node stays cordoned. `timeouts.drain` sets the timeout.",
  },
  "SLU-L103": {
    title: "A node could not be removed",
    cause: "The named step did not complete.",
    remedy: "Fix what is under 'seen', then run `npm run up -- <environment>` again; completed steps are not repeated.",
  },
  "SLU-L104": {
    title: "Several control planes would go down at once",
    cause:
      "Each would be powered off or recreated because its entry, or a default that it uses, changed; providers change all machines at the same time.",
    remedy:
      "Change one control plane, run `npm run up -- <environment>`, then change the next: set `nodes[].serverType` or `nodes[].location` first, and the default once all have it. See docs/change.md.",
  },
  "SLU-L105": {
    title: "A node's name or address cannot change while it is in the cluster",
    cause:
      "Its machine, its certificates and its etcd member have the old one. A renamed machine would need the old machine's address and id, which are released only at the very end.",
    remedy:
      "Change its name and address at once (on Proxmox its vmId too): the new node joins, then the old one leaves. Or remove its entry, run `npm run up -- <environment>`, and add it again.",
  },
  "SLU-L106": {
    title: "A PodDisruptionBudget allows no drain",
    cause: "It allows no eviction of a pod on a node that has to be drained, even when all its pods are healthy.",
    remedy:
      "Give the application one more replica, or relax the named budget, then run `npm run up -- <environment>` again. With `upgrade.drain: false` nodes are upgraded without being drained: their pods are then down until the node is back.",
  },
  "SLU-B101": {
    title: "The etcd snapshot is damaged",
    cause: "It is cut off, its hash does not match, or it cannot be opened: a connection broke, or a file was changed.",
    remedy:
      "Run the same command again. If it is a stored backup, use another one: `npm run backup -- list <environment>`.",
  },
  "SLU-B102": {
    title: "The backup target cannot be used",
    cause: "The folder or the object store does not answer, refuses the credentials, has no such bucket, or is full.",
    remedy: "Fix what is under 'seen': `backup` in the environment's file, its credentials, or the target itself.",
  },
  "SLU-B103": {
    title: "There is no such backup",
    cause: "The target has no complete backup with this name, or its files cannot be read.",
    remedy: "Name one that `npm run backup -- list <environment>` prints.",
  },
  "SLU-B104": {
    title: "The backup cannot be decrypted",
    cause: "It is encrypted for other age public keys, there is no age identity here, or the file is damaged.",
    remedy:
      "Name the file of an identity whose public key was in `ageRecipients` when the backup was taken: SLUICE_AGE_IDENTITY_FILE=<file>.",
  },
  "SLU-B105": {
    title: "No control plane gave an etcd snapshot",
    cause: "No member of etcd is healthy and reachable, or the connection broke each time.",
    remedy:
      "Check `talosctl --nodes <address> etcd status`. A snapshot needs one healthy member, and no quorum of reachable ones.",
  },
  "SLU-B106": {
    title: "The backup is of another cluster",
    cause: "Its cluster id is not that of this environment's machine secrets, with which its Secrets are encrypted.",
    remedy:
      "Import the machine secrets that belong to the backup: `npm run secrets -- import <environment> --file <backup>/secrets.yaml.age`. Or name a backup of this cluster.",
  },
  "SLU-B107": {
    title: "The backup before a change failed",
    cause:
      "A change that puts etcd at risk needs a backup first, and none could be taken or stored; the reason is under 'seen'.",
    remedy:
      "Fix the reason: `npm run backup -- <environment>` shows whether it is fixed. If no backup can be taken and the change is what repairs the cluster: set `backup.beforeChanges` to false for one run.",
  },
  "SLU-B108": {
    title: "The machine secrets of the cluster to restore are missing",
    cause:
      "A snapshot is useless without the machine secrets that it was taken with: its Secrets are encrypted with one of their keys. Nothing was created.",
    remedy:
      "Import them, from the backup or from an export: `npm run secrets -- import <environment> --file <backup>/secrets.yaml.age --identity <file>`.",
  },
  "SLU-B109": {
    title: "The backup does not fit the versions of the environment",
    cause:
      "Kubernetes reads what itself and the minor release before it have stored, and an older etcd cannot read the data of a newer one.",
    remedy:
      "Set kubernetesVersion and talosVersion to those of the backup, which `npm run backup -- list <environment>` prints; raise them after the restore.",
  },
  "SLU-B110": {
    title: "The backup was restored before, and there are newer ones",
    cause:
      "`restoreFrom` still names the backup that this cluster began with. Restoring it again would lose what was backed up since. Nothing was restored.",
    remedy:
      "Set `restoreFrom: latest`, or name a newer backup. To restore this one again, name the path of its folder.",
  },
  "SLU-B111": {
    title: "There is no recent backup that can be read",
    cause:
      "The newest backup is too old, damaged, of another cluster or for other keys, there is none, or scheduled backups fail.",
    remedy:
      "Take one: `npm run backup -- <environment>`. If scheduled backups fail, the reason of the last one is under 'seen': `kubectl --namespace sluice-backup get jobs,pods`.",
  },
  "SLU-B112": {
    title: "The cluster cannot take a backup by itself",
    cause:
      "A pod of the CronJob failed: its image cannot be pulled, the object store refuses it or cannot be reached from the cluster, or Talos' API does.",
    remedy:
      "Fix what the pod reports under 'seen', then run `npm run up -- <environment>` again. `backup.image` names its image, which needs Node 24.",
  },
  "SLU-A101": {
    title: "The cluster is not what the environment describes",
    cause:
      "While the cluster was being adopted, a node was found in maintenance, of another cluster, of another role or on another machine, or no control plane has an etcd. Nothing was written to any node.",
    remedy:
      "Correct the entry of the node in the environment's file, then run `npm run adopt -- <environment>` again: it compares everything before it adopts.",
  },
} as const satisfies Readonly<Record<string, CatalogueEntry>>;

export type FailureCode = keyof typeof catalogue;
