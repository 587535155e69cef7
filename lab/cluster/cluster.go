// Package cluster is the contract between Talos nodes and the Kubernetes that
// they make up together.
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

// Kubernetes runs what Talos starts on a node. Host is the machine's name in
// the lab; methods are safe for concurrent use.
type Kubernetes interface {
	Etcd
	// RunStaticPods makes the node run these static pods with these files, in
	// place of those before, until StopStaticPods. State is told whenever the
	// state of one of them changes.
	RunStaticPods(host string, spec ControlPlane, state func(StaticPod))
	StopStaticPods(host string)
	// StartKubelet registers the Node and runs pods on it, until StopKubelet.
	// State is told whenever the Node's state changes.
	StartKubelet(host string, spec Kubelet, state func(NodeState))
	StopKubelet(host string)
	// Apply writes Talos' own manifests, through the API server, once there is
	// one; it tries until it works or the context ends.
	Apply(ctx context.Context, id ID, manifests []*unstructured.Unstructured) error
}

// Etcd is the etcd of every cluster.
type Etcd interface {
	// StartEtcd brings a member up: a new cluster's first one when bootstrap is
	// set, one that was a member before when its data is there, else one that
	// joins. It returns when the member is a voter.
	StartEtcd(ctx context.Context, host string, spec Member, bootstrap bool) error
	// StopEtcd stops the process; the member stays in the list.
	StopEtcd(host string)
	// Initialized says whether the cluster has an etcd to join.
	Initialized(id ID) bool
	// HasData says whether the node's disk holds etcd data; WipeEtcd drops it.
	HasData(host string) bool
	WipeEtcd(host string)

	Members(ctx context.Context, host string) ([]MemberInfo, error)
	RemoveMember(ctx context.Context, host string, member uint64) error
	// Leave takes the node's own member out of the list and stops it.
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

// MemberStatus is what a member says of itself.
type MemberStatus struct {
	ID, Leader, RaftIndex, RaftTerm uint64
	DBSize                          int64
	Version                         string
	Learner                         bool
	Errors                          []string
}

// ControlPlane is what makes a node a control plane of a cluster.
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

// StaticPod is the state of one.
type StaticPod struct {
	Name   string // as kube-apiserver
	Ready  bool
	Status corev1.PodStatus
}

// Kubelet is a node that registers.
type Kubelet struct {
	Cluster ID
	Node    string
	IPs     []netip.Addr
	// Image is the kubelet's, which says its version; Args are its flags.
	Image string
	Args  map[string]string
	// Labels, Annotations and Taints are those that it registers with and that
	// Talos puts on the Node afterwards.
	Labels, Annotations map[string]string
	Taints              []corev1.Taint
	Info                corev1.NodeSystemInfo
	Capacity            corev1.ResourceList
	// ProviderID and Zone are what the platform's metadata says, which the parts
	// of drivers on the node read.
	ProviderID, Zone string
}

// NodeState is what the Node says.
type NodeState struct {
	Registered, Ready, Unschedulable bool
	Labels, Annotations              map[string]string
	Taints                           []corev1.Taint
}
