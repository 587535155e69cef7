// Package cluster is the contract between Talos nodes and the Kubernetes that they form.
package cluster

import (
	"context"
	"io"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ID names a cluster: the fingerprint of its Kubernetes CA.
type ID string

// Kubernetes runs what Talos starts on a node. Host is the machine's name in the lab; methods are safe for concurrent use.
type Kubernetes interface {
	Etcd
	// RunStaticPods makes the node run these static pods with these files, replacing the previous ones, until StopStaticPods. State is called whenever the state
	// of one of them changes.
	RunStaticPods(host string, spec ControlPlane, state func(StaticPod))
	StopStaticPods(host string)
	// PodLog returns the last lines of a static pod's container, as the container runtime writes them.
	PodLog(host, pod string) []string
	// AuditLog opens a file of the API server's audit log, by its path on the host.
	AuditLog(host, file string) (io.ReadCloser, error)
	// StartKubelet registers the Node and runs pods on it, until StopKubelet.
	// State is called whenever the Node's state changes.
	StartKubelet(host string, spec Kubelet, state func(NodeState))
	StopKubelet(host string)
	// Apply writes Talos' own manifests through the API server. It retries until
	// it succeeds or the context ends.
	Apply(ctx context.Context, id ID, manifests []*unstructured.Unstructured) error
}

// Etcd is the etcd of a cluster.
type Etcd interface {
	// StartEtcd starts a member: the first of a new cluster if bootstrap is set, a former member if its data exists, and otherwise one that joins. It returns
	// when the member is a voter.
	StartEtcd(ctx context.Context, host string, spec Member, bootstrap bool) error
	// StopEtcd stops the process; the member stays in the list.
	StopEtcd(host string)
	// Initialized reports whether the cluster has an etcd to join.
	Initialized(id ID) bool
	// HasData reports whether the node's disk has etcd data; WipeEtcd deletes it.
	HasData(host string) bool
	WipeEtcd(host string)
	// UploadSnapshot writes a snapshot to the node's disk, in place of an earlier one. It is only there if all of it was read.
	UploadSnapshot(host string, from io.Reader) error
	// RecoverEtcd makes the uploaded snapshot the data of the node, for StartEtcd, and deletes it. The node is then the only member. Log receives what Talos
	// says of it.
	RecoverEtcd(ctx context.Context, host string, spec Member, skipHashCheck bool, log func(line string)) error

	Members(ctx context.Context, host string) ([]MemberInfo, error)
	RemoveMember(ctx context.Context, host string, member uint64) error
	// Leave removes the node's own member from the list and stops it.
	Leave(ctx context.Context, host string) error
	MemberStatus(ctx context.Context, host string) (MemberStatus, error)
	Snapshot(ctx context.Context, host string, to io.Writer) error
}

// Member is an etcd member to start.
type Member struct {
	Cluster ID
	Name    string // the node's name
	Address netip.Addr
	Version string
	// CA signs peers and clients; PEM.
	CACert, CAKey []byte
}

// MemberInfo is an entry of the member list.
type MemberInfo struct {
	ID                   uint64
	Hostname             string
	PeerURLs, ClientURLs []string
	Learner              bool
}

// MemberStatus is the status that a member reports.
type MemberStatus struct {
	ID, Leader, RaftIndex, RaftTerm uint64
	DBSize                          int64
	Version                         string
	Learner                         bool
	Errors                          []string
}

// ControlPlane describes a control plane of a cluster.
type ControlPlane struct {
	Cluster ID
	// Node is its name in Kubernetes; Address is where its API server listens.
	Node    string
	Address netip.Addr
	Port    uint16
	// Pods are as Talos renders them: kube-apiserver, kube-controller-manager
	// and kube-scheduler by name, and those of machine.pods.
	Pods []*corev1.Pod
	// Files are what the pods mount from the host, by path on the host.
	Files map[string][]byte
	// AdminKubeconfig is for the lab's own use.
	AdminKubeconfig []byte
}

// StaticPod is the state of a static pod.
type StaticPod struct {
	Name   string // as kube-apiserver
	Ready  bool
	Status corev1.PodStatus
}

// Kubelet describes a node that registers.
type Kubelet struct {
	Cluster ID
	Node    string
	IPs     []netip.Addr
	// Image is the kubelet's, with its version; Args are its flags.
	Image string
	Args  map[string]string
	// Labels, Annotations and Taints are those with which the node registers, and which Talos sets on it afterwards.
	Labels, Annotations map[string]string
	Taints              []corev1.Taint
	Info                corev1.NodeSystemInfo
	Capacity            corev1.ResourceList
	// ProviderID and Zone come from the platform's metadata. Node plugins of
	// drivers read them.
	ProviderID, Zone string
	// Images are those of the node's disk, for its pods.
	Images Images
}

// Images are the images of a node's disk.
type Images interface {
	// Has reports whether an image was pulled, for a pod or ahead of one.
	Has(image string) bool
	// Pull pulls an image, which takes time and can fail.
	Pull(ctx context.Context, image string) error
}

// NodeState is the state of the Node object.
type NodeState struct {
	Registered, Ready, Unschedulable bool
	Labels, Annotations              map[string]string
	Taints                           []corev1.Taint
}
