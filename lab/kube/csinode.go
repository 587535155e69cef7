package kube

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// topology returns the labels with which a driver's node plugin reports where the node is; the value "" means none.
type topology func(node *corev1.Node, zone string) map[string]string

// topologies are those of known drivers.
var topologies = map[string]topology{
	// From the server's own metadata: "fsn1-dc14" is in the location fsn1.
	"csi.hetzner.cloud": func(_ *corev1.Node, zone string) map[string]string {
		location, _, _ := strings.Cut(zone, "-")
		return map[string]string{"csi.hetzner.cloud/location": location}
	},
	// From the Node, where users or the cloud controller set it.
	"csi.proxmox.sinextra.dev": func(node *corev1.Node, _ string) map[string]string {
		return map[string]string{
			corev1.LabelTopologyRegion: node.Labels[corev1.LabelTopologyRegion],
			corev1.LabelTopologyZone:   node.Labels[corev1.LabelTopologyZone],
		}
	},
}

// placeOf returns where a driver reports the node to be.
func placeOf(driver string, node *corev1.Node, zone string) map[string]string {
	if says := topologies[driver]; says != nil {
		return says(node, zone)
	}
	return nil
}

// driverOf returns the CSI driver that the pod registers with the kubelet, or "". The pod's registrar names the driver's socket, in a folder with the
// driver's name.
func driverOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if !strings.Contains(c.Name, "driver-registrar") && !strings.Contains(c.Image, "csi-node-driver-registrar") {
			continue
		}
		command, _ := expand(c, "")
		for i, word := range command {
			value, ok := strings.CutPrefix(strings.TrimLeft(word, "-"), "kubelet-registration-path=")
			if !ok && strings.TrimLeft(word, "-") == "kubelet-registration-path" && i+1 < len(command) {
				value, ok = command[i+1], true
			}
			if ok {
				return path.Base(path.Dir(value))
			}
		}
	}
	return ""
}

// noticeDriver records which drivers are registered on the node.
func (k *kubelet) noticeDriver(pod *corev1.Pod, there bool) {
	driver := driverOf(pod)
	if driver == "" {
		return
	}
	k.mu.Lock()
	was := k.drivers[pod.UID]
	if there && k.runsReady(pod) {
		k.drivers[pod.UID] = driver
	} else {
		delete(k.drivers, pod.UID)
	}
	is := k.drivers[pod.UID]
	k.mu.Unlock()
	if was == is {
		return
	}
	k.k.record(k.host.name, "csi", map[bool]string{true: "registered", false: "gone"}[is != ""], "driver", driver)
	signal(k.booked)
}

func (k *kubelet) hasDriver(driver string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(k.drivers)), driver)
}

// keepDrivers writes the CSINode: first without drivers, as a kubelet does when it starts, and again whenever they change.
func (k *kubelet) keepDrivers() {
	for {
		err := k.try(k.writeDrivers)
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil && k.ctx.Err() == nil {
			k.k.options.Log.Warn("write a CSINode", "node", k.name(), "error", err)
		}
		select {
		case <-k.booked:
		case <-k.ctx.Done():
			return
		}
	}
}

func (k *kubelet) writeDrivers(ctx context.Context, a *api) error {
	node, err := a.client.CoreV1().Nodes().Get(ctx, k.name(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	nodes := a.client.StorageV1().CSINodes()
	current, err := nodes.Get(ctx, node.Name, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	k.mu.Lock()
	wanted := csiNode(node, k.drivers, k.spec.ProviderID, k.spec.Zone)
	zone := k.spec.Zone
	k.mu.Unlock()
	if missing {
		_, err = nodes.Create(ctx, wanted, metav1.CreateOptions{})
	} else {
		current.Spec = wanted.Spec
		_, err = nodes.Update(ctx, current, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	return labelTopology(ctx, a, node, wanted, zone)
}

// csiNode returns the object that a kubelet writes about the drivers that are registered with it.
func csiNode(node *corev1.Node, drivers map[types.UID]string, providerID, zone string) *storagev1.CSINode {
	object := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{
		Name:            node.Name,
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}},
	}}
	object.Spec.Drivers = []storagev1.CSINodeDriver{}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(drivers))) {
		object.Spec.Drivers = append(object.Spec.Drivers, storagev1.CSINodeDriver{
			Name: name, NodeID: driverNodeID(name, node, providerID), TopologyKeys: slices.Sorted(maps.Keys(placeOf(name, node, zone))),
		})
	}
	return object
}

// driverNodeID returns the driver's id of the node: the server's number in a cloud with its own metadata, otherwise the Node's name.
func driverNodeID(driver string, node *corev1.Node, providerID string) string {
	if node.Spec.ProviderID != "" {
		providerID = node.Spec.ProviderID
	}
	if number, ok := strings.CutPrefix(providerID, "hcloud://"); ok && driver == "csi.hetzner.cloud" {
		return number
	}
	return node.Name
}

// labelTopology sets the drivers' topology labels on the Node, as a kubelet does.
func labelTopology(ctx context.Context, a *api, node *corev1.Node, drivers *storagev1.CSINode, zone string) error {
	changed := false
	for _, driver := range drivers.Spec.Drivers {
		for key, value := range placeOf(driver.Name, node, zone) {
			if value != "" && node.Labels[key] != value {
				node.Labels[key] = value
				changed = true
			}
		}
	}
	if !changed {
		return nil
	}
	_, err := a.client.CoreV1().Nodes().Update(ctx, node, metav1.UpdateOptions{})
	return err
}
