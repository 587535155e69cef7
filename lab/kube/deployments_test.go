package kube

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestDeploymentsAreAvailableInWholeOrNot(t *testing.T) {
	var told []string
	seen := &deployments{record: func(value string, detail ...string) { told = append(told, value+" "+detail[1]) }}
	two := int32(2)
	status := func(generation int64, all, updated, available int32) *appsv1.Deployment {
		return &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "web", Generation: 2},
			Spec:       appsv1.DeploymentSpec{Replicas: &two},
			Status: appsv1.DeploymentStatus{
				ObservedGeneration: generation, Replicas: all, UpdatedReplicas: updated, AvailableReplicas: available,
			},
		}
	}
	for _, deployment := range []*appsv1.Deployment{
		status(0, 0, 0, 0), status(2, 2, 2, 1), status(1, 2, 2, 2), status(2, 3, 2, 2), status(2, 2, 1, 2),
	} {
		seen.changed(deployment)
	}
	require.Empty(t, told)

	whole := status(2, 2, 2, 2)
	seen.changed(whole)
	seen.changed(whole)
	seen.changed(status(2, 2, 2, 1))
	seen.changed(whole)
	seen.gone(whole)
	require.Equal(t, []string{
		"available lab/web", "not available lab/web", "available lab/web", "not available lab/web",
	}, told)
}

func TestADeploymentHasOneReplicaWhereNothingIsSaid(t *testing.T) {
	require.False(t, isAvailable(&appsv1.Deployment{}))
	require.True(t, isAvailable(&appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}}))
}
