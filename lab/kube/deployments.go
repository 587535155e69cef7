package kube

import (
	"sync"

	appsv1 "k8s.io/api/apps/v1"
)

// deployments records when a Deployment becomes fully available, and when it no longer is: its controller notices that some time after its pods are Ready.
type deployments struct {
	record func(value string, detail ...string)

	mu        sync.Mutex
	available map[string]bool // by namespace and name
}

func (d *deployments) changed(deployment *appsv1.Deployment) {
	d.turn(deployment, isAvailable(deployment))
}

func (d *deployments) gone(deployment *appsv1.Deployment) { d.turn(deployment, false) }

func (d *deployments) turn(deployment *appsv1.Deployment, available bool) {
	name := deployment.Namespace + "/" + deployment.Name
	d.mu.Lock()
	turned := d.available[name] != available
	if d.available == nil {
		d.available = map[string]bool{}
	}
	d.available[name] = available
	d.mu.Unlock()
	if turned {
		d.record(map[bool]string{true: "available", false: "not available"}[available], "deployment", name)
	}
}

// isAvailable reports whether all replicas exist, have the current version, and are available.
func isAvailable(deployment *appsv1.Deployment) bool {
	wanted, status := int32(1), deployment.Status
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	return status.ObservedGeneration == deployment.Generation &&
		status.Replicas == wanted && status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted
}
