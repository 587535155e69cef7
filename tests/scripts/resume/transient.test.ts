// Messages of plugins, clouds and Kubernetes, from their sources, their issue trackers and runs on the lab.
import { describe, expect, test } from "@jest/globals";
import { judge } from "../../../scripts/resume/transient.ts";

const server = "hcloud:index/server:Server";
const vm = "proxmoxve:index/vmLegacy:VmLegacy";
const release = "kubernetes:helm.sh/v3:Release";
const gate = "pulumi-nodejs:dynamic/gates:CiliumReady";
const factory = "pulumi-nodejs:dynamic/images:FactorySchematic";
const stack = "pulumi:pulumi:Stack";

const creating = (why: string) =>
  `creating urn:pulumi:dev::sluice::hcloud:index/server:Server::dev-cp-1: 1 error occurred:\n\t* ${why}\n\n`;
const helm = (why: string) =>
  `1 error occurred:\n\t* Helm release "kube-system/cilium" was created, but failed to initialize completely. Use Helm CLI to investigate: failed to become available within allocated timeout. Error: Helm Release kube-system/cilium: ${why}`;
const url = "https://10.0.1.5:6443";

describe("S5.2 a failure is transient, and described by its cause", () => {
  test.each<[seen: string, type: string, reason: string]>([
    // Hetzner
    ["answered 503", server, creating("hcloud: server responded with status code 503")],
    ["answered 504", server, creating("hcloud: server responded with status code 504")],
    ["answered server_error", server, creating("an error occurred (server_error, 52a0f1d3ab5c)")],
    ["answered unavailable", server, creating("an error occurred (unavailable, 52a0f1d3ab5c)")],
    ["answered unknown_error", server, creating("Creating server failed because of an unknown error. (unknown_error)")],
    [
      "answered unknown_error",
      server,
      creating("hcclient/WaitForActions: action 3 failed: server is locked (unknown_error)"),
    ],
    ["answered service_error", server, creating("Service error (service_error)")],
    ["answered maintenance", server, creating("the API is in maintenance (maintenance)")],
    ["answered 429", server, creating("limit of 3600 requests per hour reached (rate_limit_exceeded, 52a0f1d3ab5c)")],
    ["is locked by another action", server, creating("server is locked (locked, 52a0f1d3ab5c)")],
    ["is locked by another action", server, creating("conflicting action (conflict)")],
    ["reported a failed action", server, creating("Action failed (action_failed, 3)")],
    [
      "reported a failed action",
      "hcloud:index/loadBalancerTarget:LoadBalancerTarget",
      creating("Action failed (action_failed, 17)"),
    ],
    [
      "refused the connection",
      server,
      creating('Post "https://api.hetzner.cloud/v1/servers": dial tcp 213.239.246.73:443: connect: connection refused'),
    ],
    ["reset the connection", server, creating('Post "https://api.hetzner.cloud/v1/servers": EOF')],
    [
      "reset the connection",
      server,
      creating(
        'Get "https://api.hetzner.cloud/v1/actions?id=3": read tcp 192.0.2.100:443: read: connection reset by peer',
      ),
    ],
    [
      "could not be looked up",
      server,
      creating("dial tcp: lookup api.hetzner.cloud: Temporary failure in name resolution"),
    ],
    [
      "could not be looked up",
      server,
      creating("dial tcp: lookup api.hetzner.cloud on 127.0.0.53:53: server misbehaving"),
    ],
    [
      "did not answer in time",
      server,
      creating('Get "https://api.hetzner.cloud/v1/servers/3": net/http: TLS handshake timeout'),
    ],
    [
      "did not answer in time",
      server,
      creating('Get "https://api.hetzner.cloud/v1/servers/3": dial tcp 213.239.246.73:443: i/o timeout'),
    ],
    [
      "reported a failed action",
      "hcloud:index/loadBalancerNetwork:LoadBalancerNetwork",
      "Action failed: An API action for the resource failed.\n\nAction failed\n\nError code: action_failed\nCommand: attach_to_network\nID: 4\nResources: load_balancer: 83889766, network: 40772910",
    ],
    [
      "answered 503",
      "hcloud:index/network:Network",
      "API request failed: An unexpected error was encountered during an API request.\n\nan error occurred (unavailable)\n\nError code: unavailable\nStatus code: 503\n",
    ],
    [
      "answered 429",
      server,
      "  sdk-v2/provider2.go:571: sdk.helper_schema: hcloud/inlineAttachServerToNetwork: attach server to network: an error occurred (rate_limit_exceeded): provider=hcloud@1.41.0",
    ],
    ["exists already", server, creating("server name is already used (uniqueness_error)")],
    [
      "exists already",
      vm,
      "received an HTTP 500 response - Reason: unable to create VM 311: config file already exists",
    ],
    // Proxmox
    [
      "could not get a lock",
      vm,
      "error creating VM: received an HTTP 500 response - Reason: can't lock file '/var/lock/qemu-server/lock-101.conf' - got timeout",
    ],
    [
      "could not get a lock",
      vm,
      "error waiting for VM start: task \"UPID:pve:0001:qmstart\" failed to complete with exit code: can't lock file '/var/lock/qemu-server/lock-311.conf' - got timeout",
    ],
    ["could not get a lock", vm, "error: cfs-lock 'storage-local-lvm' error: got lock request timeout"],
    ["could not start a task", vm, "received an HTTP 500 response - Reason: got no worker upid - start worker failed"],
    ["did not complete in time", vm, 'timeout while waiting for VM "7001" configuration to become unlocked'],
    ["answered 596", vm, "received an HTTP 596 response - Reason: Connection timed out"],
    ["answered 595", vm, "received an HTTP 595 response - Reason: No route to host"],
    [
      "could not be reached",
      vm,
      'failed to perform HTTP GET request (path: nodes): Get "https://10.0.0.2:8006/api2/json/nodes": dial tcp 10.0.0.2:8006: connect: no route to host',
    ],
    // Kubernetes and Helm
    [
      "refused the connection",
      release,
      `Kubernetes cluster unreachable: Get "${url}/version": dial tcp 10.0.1.5:6443: connect: connection refused`,
    ],
    ["did not reach the Kubernetes API", release, "Kubernetes cluster unreachable"],
    [
      "did not answer in time",
      release,
      `can't create Helm Release with unreachable cluster: unable to load schema information from the API server: Get "${url}/openapi/v2?timeout=2s": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    ],
    [
      "did not get the Kubernetes API's schema",
      release,
      'unable to build kubernetes objects from release manifest: unable to recognize "": an internal error',
    ],
    [
      "answered 500",
      "proxmoxve:index/user:User",
      "sdk-v2/provider2.go:571: sdk.helper_schema: error retrieving user: received an HTTP 500 response - Reason: Internal Server Error: provider=proxmoxve@8.6.0",
    ],
    [
      "answered 500",
      release,
      'Unable to continue with install: could not get information about the resource Secret "cilium-ca" in namespace "kube-system": Internal Server Error',
    ],
    [
      "could not handle the request",
      release,
      'unable to build kubernetes objects from release manifest: unable to recognize "": an error on the server ("error") has prevented the request from succeeding',
    ],
    [
      "could not handle the request",
      release,
      'could not get apiVersions from Kubernetes: could not get apiVersions from Kubernetes: an error on the server ("unknown") has prevented the request from succeeding',
    ],
    [
      "answered 500",
      release,
      'template: cilium/templates/hubble/tls-helm/server-secret.yaml:2:10: executing "cilium/templates/hubble/tls-helm/server-secret.yaml" at <include "cilium.ca.setup" .>: error calling include: template: cilium/templates/_helpers.tpl:79:15: executing "cilium.ca.setup" at <lookup "v1" "Secret" (include "cilium.namespace" .) $secretName>: error calling lookup: Internal Server Error',
    ],
    ["was interrupted", release, helm('serviceaccounts "cilium" already exists')],
    [
      "reset the connection",
      release,
      helm(`Post "${url}/api/v1/namespaces/kube-system/serviceaccounts": http2: client connection lost`),
    ],
    [
      "could not handle the request",
      release,
      helm(
        "the server was unable to return a response in the time allotted, but may still be processing the request (post secrets)",
      ),
    ],
    ["had no etcd leader", release, helm("etcdserver: leader changed")],
    [
      "answered 503",
      release,
      'resource "dev-cilium" has a problem: failed to fetch https://helm.cilium.io/index.yaml : 503 Service Unavailable; check the chart name and repository configuration.',
    ],
    ["reset the connection", "kubernetes:core/v1:Secret", "error reading from server: EOF"],
    ["was left unfinished", release, "cannot re-use a name that is still in use"],
    [
      "was left unfinished",
      release,
      "error running update: another operation (install/upgrade/rollback) is in progress",
    ],
    // Ours
    [
      "was not updated: the Kubernetes API did not answer",
      stack,
      "SLU-K201 A Kubernetes resource was not updated\n  where:      Release kube-system/cilium",
    ],
    [
      "answered 503",
      factory,
      "SLU-M111 The Image Factory rejected a call or failed\n  seen:       https://factory.talos.dev answers 503 Service Unavailable",
    ],
    [
      "did not answer",
      "pulumi-nodejs:dynamic/talos:AppliedMachineConfig",
      "SLU-T107 Transient Talos API failure\n  where:      cp-1",
    ],
    [
      "did not answer",
      "pulumi-nodejs:dynamic/images:HetznerSnapshot",
      "SLU-M102 The cloud API rejected a call or failed\n  expected:   the Hetzner API to list snapshots\n  seen:       https://api.hetzner.cloud/v1 does not answer: socket hang up",
    ],
    [
      "did not answer",
      "pulumi-nodejs:dynamic/machines:ProxmoxAddress",
      "SLU-M115 The Proxmox API rejected a call or failed\n  seen:       https://10.0.0.2:8006/api2/json does not answer: nothing within 10 s",
    ],
  ])("%s: %s, %#", (seen, type, reason) => {
    expect(judge({ type, name: "dev", reason })).toEqual({ kind: "transient", seen });
  });
});

describe("S5.2 a failure requires someone to act, whatever words it shares with a transient one", () => {
  test.each<[what: string, type: string, reason: string]>([
    ["a token that is wrong", server, creating("unable to authenticate (unauthorized, 52a0f1d3ab5c)")],
    ["a token that may only read", server, creating("token is read-only (token_readonly)")],
    ["a limit of the project", server, creating("server limit exceeded (resource_limit_exceeded)")],
    ["a type that is sold out", server, creating("error during placement (resource_unavailable)")],
    ["input that is refused", server, creating("invalid input in field 'server_type' (invalid_input)")],
    ["a name server that knows no such name", server, creating("dial tcp: lookup api.hetzner.clowd: no such host")],
    [
      "a certificate of someone else",
      vm,
      'Get "https://10.0.0.2:8006": tls: failed to verify certificate: x509: certificate signed by unknown authority',
    ],
    [
      "a privilege that is missing",
      vm,
      "received an HTTP 403 response - Reason: Permission check failed (/vms/311, VM.Allocate)",
    ],
    ["what Proxmox refuses", vm, "received an HTTP 500 response - Reason: storage 'local-zfs' does not exist"],
    [
      "a task that fails for good",
      vm,
      'task "UPID:pve:0001:qmstart" failed to complete with exit code: start failed: QEMU exited with code 1',
    ],
    [
      "a guest agent that is missing",
      vm,
      'timeout while waiting for the QEMU agent on VM "311" to publish the network interfaces',
    ],
    [
      "a kind that is missing",
      release,
      'unable to recognize "": no matches for kind "GitRepository" in version "source.toolkit.fluxcd.io/v1"',
    ],
    ["a value that is refused", release, helm('Service "x" is invalid: spec.ports: Required value')],
    ["a webhook that refuses", release, helm('admission webhook "policy.example.com" denied the request: no')],
    [
      "a kubeconfig that cannot be read",
      release,
      "configured Kubernetes cluster is unreachable: failed to parse kubeconfig data",
    ],
    [
      "a gate that stays closed",
      gate,
      "SLU-K111 Cilium is not ready on every node: gate CiliumReady did not open within 300 s\n  seen:       w-1: connection refused",
    ],
    [
      "a gate whose nodes did not answer until its deadline",
      gate,
      "SLU-T107 Transient Talos API failure: gate Stages did not open within 300 s",
    ],
    [
      "a cloud's refusal of our own call",
      "pulumi-nodejs:dynamic/images:HetznerSnapshot",
      "SLU-M102 The cloud API rejected a call or failed\n  seen:       https://api.hetzner.cloud/v1 answers 401: unable to authenticate",
    ],
    [
      "an address that is misspelt",
      factory,
      "SLU-M111 The Image Factory rejected a call or failed\n  seen:       https://factory.talos.dve does not answer: getaddrinfo ENOTFOUND factory.talos.dve",
    ],
    [
      "a certificate that nobody known has signed",
      "pulumi-nodejs:dynamic/machines:ProxmoxAddress",
      "SLU-M115 The Proxmox API rejected a call or failed\n  seen:       https://10.0.0.2:8006/api2/json does not answer: self-signed certificate",
    ],
    [
      "a bug in the program",
      stack,
      "Running program '/sluice/index.ts' failed with an unhandled exception: Error: connect ECONNREFUSED",
    ],
    ["a failure of our own without a code", factory, "connect ECONNREFUSED 127.0.0.1:80"],
    ["words that nobody knows", release, "something else"],
  ])("%s", (_, type, reason) => {
    expect(judge({ type, name: "dev", reason })).toEqual({ kind: "final" });
  });
});

test.each([
  [
    "a generator whose plugin the engine ends",
    "pulumi-nodejs:dynamic/talos:GeneratedMachineConfig",
    "SLU-T203 Talos' generator refuses the machine config\n  seen: rpc error: code = Canceled desc = grpc: the client connection is closing",
  ],
  ["a call that the engine cancels", server, creating('Post "https://api.hetzner.cloud/v1/servers": context canceled')],
  [
    "a machine config that the engine no longer wants",
    "pulumi:pulumi:Stack",
    "w-1: the run ended before the machine config was generated",
  ],
  ["a gate that ends with the others", gate, "Interrupted: gate CiliumReady, after 3 s"],
])("S5.2 a failure is only the consequence of another: %s", (_, type, reason) => {
  expect(judge({ type, name: "dev", reason })).toEqual({ kind: "consequence" });
});
