package pace

import "time"

// Profile is a set of durations.
type Profile string

const (
	// Fast is for tests: short, but in realistic order and proportion.
	Fast Profile = "fast"
	// Real is what users report from real platforms.
	Real Profile = "real"
)

// Step is something that takes time.
type Step string

// The steps. One that is missing in durations takes no time.
const (
	CloudAction   Step = "cloud.action"         // any action of the cloud but those below
	ServerCreate  Step = "cloud.server.create"  // from the call until the server starts
	NetworkAttach Step = "cloud.network.attach" // from the call until the NIC is there
	HealthCheck   Step = "cloud.health"         // between two checks of a load balancer's target
	ImageBuild    Step = "factory.image"        // an image of the Image Factory that nobody asked for before
	Migrate       Step = "proxmox.migrate"      // a virtual machine to another host, with its disks

	Firmware Step = "node.firmware"  // power on until the kernel runs
	Kernel   Step = "node.kernel"    // kernel until the API of Talos answers
	Install  Step = "node.install"   // writing Talos to the disk
	Fatal    Step = "node.fatal"     // a sequence's error until the machine reboots for it
	Shutdown Step = "node.shutdown"  // stopping services before power off or reboot
	Drain    Step = "node.drain"     // how long a stopping API waits for calls that follow something
	Wipe     Step = "node.wipe"      // of partitions in a reset
	Upgrade  Step = "node.upgrade"   // pulling and writing another installer
	Service  Step = "node.service"   // one service of Talos from start to healthy
	Pull     Step = "node.pull"      // one image
	Join     Step = "etcd.join"      // an etcd member from start to voter
	Register Step = "kubelet.node"   // kubelet healthy until its Node is there
	Static   Step = "kubelet.static" // a static pod from manifest to process
	Pod      Step = "kubelet.pod"    // a pod from bound to Ready, after the images
	Init     Step = "kubelet.init"   // an init container

	Quorum  Step = "etcd.timeout"    // a call to an etcd without a majority until it gives up
	Lease   Step = "kubelet.lease"   // between two heartbeats of a kubelet
	Backoff Step = "kubelet.backoff" // the first delay before a container is started again
	Mount   Step = "kubelet.mount"   // the first delay before a missing volume is looked up again
	Kill    Step = "kubelet.kill"    // a container from the request to stop until it has stopped
	Attach  Step = "csi.attach"      // a volume to a node

	Withdraw Step = "node.withdraw" // a config taken in maintenance until that API stops
	Reopen   Step = "node.reopen"   // the certificate of the cluster until the full API answers
	Check    Step = "service.check" // between two health checks of a service
	Socket   Step = "node.socket"   // machined's API stops until apid does

	Retry   Step = "service.retry" // a service of Talos from its failure to the next start
	Restart Step = "node.restart"  // stopping services before a reboot; talosctl watches again a second after its start
)

var durations = map[Step]struct{ fast, real time.Duration }{
	CloudAction:   {50 * time.Millisecond, 2 * time.Second},
	ServerCreate:  {200 * time.Millisecond, 15 * time.Second},
	NetworkAttach: {100 * time.Millisecond, 4 * time.Second},
	HealthCheck:   {250 * time.Millisecond, 15 * time.Second},
	ImageBuild:    {100 * time.Millisecond, 20 * time.Second},
	Migrate:       {300 * time.Millisecond, 60 * time.Second},

	Firmware: {600 * time.Millisecond, 8 * time.Second},
	Kernel:   {300 * time.Millisecond, 12 * time.Second},
	Install:  {1 * time.Second, 45 * time.Second},
	Fatal:    {500 * time.Millisecond, 10 * time.Second},
	Shutdown: {400 * time.Millisecond, 10 * time.Second},
	Drain:    {400 * time.Millisecond, 10 * time.Second},
	Wipe:     {200 * time.Millisecond, 5 * time.Second},
	Upgrade:  {1 * time.Second, 40 * time.Second},
	Service:  {100 * time.Millisecond, 2 * time.Second},
	Pull:     {200 * time.Millisecond, 10 * time.Second},
	Join:     {300 * time.Millisecond, 8 * time.Second},
	Register: {200 * time.Millisecond, 5 * time.Second},
	Static:   {100 * time.Millisecond, 3 * time.Second},
	Pod:      {300 * time.Millisecond, 5 * time.Second},
	Init:     {50 * time.Millisecond, 1 * time.Second},

	Quorum:  {1 * time.Second, 7 * time.Second},
	Lease:   {3 * time.Second, 10 * time.Second},
	Backoff: {1 * time.Second, 10 * time.Second},
	Mount:   {200 * time.Millisecond, 500 * time.Millisecond},
	Kill:    {100 * time.Millisecond, 2 * time.Second},
	Attach:  {200 * time.Millisecond, 5 * time.Second},

	Withdraw: {50 * time.Millisecond, 700 * time.Millisecond},
	Reopen:   {150 * time.Millisecond, 1500 * time.Millisecond},
	Check:    {250 * time.Millisecond, 5 * time.Second},
	Socket:   {100 * time.Millisecond, 700 * time.Millisecond},

	Retry:   {500 * time.Millisecond, 5 * time.Second},
	Restart: {1700 * time.Millisecond, 10 * time.Second},
}
