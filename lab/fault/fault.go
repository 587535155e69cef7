// Package fault injects faults. Every place of the lab where something can fail is a point; a rule determines what happens at which points, and how often.
package fault

import "time"

// Kind is the kind of a point.
type Kind string

// The kinds, with the name and the subject of their points.
const (
	Cloud    Kind = "cloud"    // name "POST /v1/servers", subject the cloud
	Talos    Kind = "talos"    // name "ApplyConfiguration", subject the node
	Kube     Kind = "kube"     // name "GET /api/v1/nodes", subject the cluster
	Machine  Kind = "machine"  // name "power", subject the machine, met while it is on and rules change
	Stage    Kind = "stage"    // name "installing", subject the node, met on entering it
	Boot     Kind = "boot"     // name "1.13.8", subject the node, met while that Talos boots from the disk, once its API answers
	Install  Kind = "install"  // name "/dev/sda", subject the node, met when the installer has run
	Service  Kind = "service"  // name "kubelet", subject the node, met on starting it
	Health   Kind = "health"   // name "kubelet", subject the node, met at each health check of a service that runs; name "cp-1:6443", subject the load balancer, met at each of a target
	Clock    Kind = "clock"    // name "boot", subject the node, met at each boot; name "sync", met when the time server would answer
	Member   Kind = "member"   // name "promote", subject the node whose etcd would become a voter
	Node     Kind = "node"     // name "register" or "lease", subject the Kubernetes node
	Pod      Kind = "pod"      // name "kube-system/cilium-x7", subject the Kubernetes node, met before it is Ready
	Datapath Kind = "datapath" // name "10.96.0.1:443", subject the Kubernetes node, met when a program in a pod there connects
	Image    Kind = "image"    // name "registry.k8s.io/etcd:v3.6.8", subject the node, met at each attempt to pull it
	Disk     Kind = "disk"     // name "/dev/sda", subject the node, met at each boot
	PKI      Kind = "pki"      // name "boot", subject the node, met at its first boot
	Host     Kind = "host"     // name "power", subject the Proxmox host, met while it is up and rules change
)

// Action is what happens at a point.
type Action string

// The actions. Which are possible depends on the kind; Check verifies that.
const (
	Refuse Action = "refuse" // close the connection at once
	Delay  Action = "delay"  // continue later
	Drop   Action = "drop"   // never answer
	Lose   Action = "lose"   // do what the call asks for, and close the connection instead of answering
	Mute   Action = "mute"   // do what the call asks for, and never answer
	Cut    Action = "cut"    // close the connection while the call is at work, which cancels what Talos cancels with it
	Fail   Action = "fail"   // answer with an error, or fail what was started
	Hold   Action = "hold"   // wait until the rule is removed
	Crash  Action = "crash"  // the node loses its power
	Absent Action = "absent" // what the point is about is not there
	Other  Action = "other"  // it belongs to someone else
	Skew   Action = "skew"   // the clock is wrong by a time: ahead, or behind for a negative one
)

// StaysOff is the code of a crash after which the machine stays off; without it the hypervisor starts the machine again.
const StaysOff = "off"

// Rule is a fault to inject.
type Rule struct {
	ID string `json:"id"`
	On Kind   `json:"on"`
	// Name and Subject are patterns as for path.Match; empty matches all. In a Name "*" also matches "/".
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	Do      Action `json:"do"`
	// Times is how often it happens before the rule is spent; 0 means no limit.
	Times int `json:"times,omitempty"`
	// Skip is how many matching points are left alone first.
	Skip int `json:"skip,omitempty"`
	// Every leaves alone all matching points but every such one: 10 is every tenth, after those that are skipped.
	Every int `json:"every,omitempty"`
	// Delay is for Do "delay", such as "2s".
	Delay Duration `json:"delay,omitempty"`
	// By is for Do "skew": how far the clock is ahead, such as "1h", or behind for "-1h".
	By Offset `json:"by,omitempty"`
	// Code and Message are for Do "fail": a gRPC code, an HTTP status, an error
	// code of the cloud or a reason of a pod, and its text.
	// Code may also be StaysOff for Do "crash".
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Point is a place and a moment at which a fault can happen.
type Point struct {
	On      Kind
	Name    string
	Subject string
}

// Outcome is what the caller of Meet must do: refuse, drop, lose, mute, cut, fail, crash,
// skew, be absent or other. Delays and holds are over by then.
type Outcome struct {
	Do            Action
	Code, Message string
	By            time.Duration // of a skew
}
