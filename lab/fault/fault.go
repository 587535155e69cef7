// Package fault lets things go wrong on purpose. Every place of the lab where
// something can fail is a point; a rule says what happens at which points, and
// how often.
package fault

// Kind is the sort of place where something can go wrong.
type Kind string

// The kinds, with what a point's name is and whom it happens to.
const (
	Cloud   Kind = "cloud"   // name "POST /v1/servers", subject the cloud
	Talos   Kind = "talos"   // name "ApplyConfiguration", subject the node
	Kube    Kind = "kube"    // name "GET /api/v1/nodes", subject the cluster
	Machine Kind = "machine" // name "power", subject the machine, met while it is on and rules change
	Stage   Kind = "stage"   // name "installing", subject the node, met on entering it
	Service Kind = "service" // name "kubelet", subject the node, met on starting it
	Member  Kind = "member"  // name "promote", subject the node whose etcd would become a voter
	Node    Kind = "node"    // name "register" or "lease", subject the Kubernetes node
	Pod     Kind = "pod"     // name "kube-system/cilium-x7", subject the Kubernetes node, met before it is Ready
	Disk    Kind = "disk"    // name "/dev/sda", subject the node, met at each boot
	PKI     Kind = "pki"     // name "boot", subject the node, met at its first boot
	Host    Kind = "host"    // name "power", subject the Proxmox host, met while it is up and rules change
)

// Action is what happens at a point.
type Action string

// The actions. Which make sense depends on the kind; Check says so of a rule.
const (
	Refuse Action = "refuse" // close the connection at once
	Delay  Action = "delay"  // go on later
	Drop   Action = "drop"   // never answer
	Fail   Action = "fail"   // answer with an error, or fail what was begun
	Hold   Action = "hold"   // wait until the rule is removed
	Crash  Action = "crash"  // the node loses its power
	Absent Action = "absent" // what the point is about is not there
	Other  Action = "other"  // it belongs to someone else
)

// StaysOff is the code of a crash after which the machine stays off; else its
// hypervisor starts it again.
const StaysOff = "off"

// Rule is a fault that is asked for.
type Rule struct {
	ID string `json:"id"`
	On Kind   `json:"on"`
	// Name and Subject are patterns as of path.Match; empty matches all. In a
	// Name "*" also matches "/".
	Name    string `json:"name,omitempty"`
	Subject string `json:"subject,omitempty"`
	Do      Action `json:"do"`
	// Times is how often it happens before the rule is spent; 0 is without end.
	Times int `json:"times,omitempty"`
	// Skip is how many matching points pass unharmed first.
	Skip int `json:"skip,omitempty"`
	// Delay is for Do "delay", such as "2s".
	Delay Duration `json:"delay,omitempty"`
	// Code and Message are for Do "fail": a gRPC code, an HTTP status, an error
	// code of the cloud or a reason of a pod, and its text.
	// Code may also be StaysOff for Do "crash".
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Point is a place where something can go wrong now.
type Point struct {
	On      Kind
	Name    string
	Subject string
}

// Outcome is what the one at the point must do: refuse, drop, fail, crash, be
// absent or other. Delay and hold have passed by then.
type Outcome struct {
	Do            Action
	Code, Message string
}
