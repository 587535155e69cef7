package cilium

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/timeline"
)

var poolKind = schema.GroupVersionResource{Group: "cilium.io", Version: "v2", Resource: "ciliumloadbalancerippools"}

// satisfied is the condition of a Service that shows whether it got the addresses that it requests.
const satisfied = "cilium.io/IPAMRequestSatisfied"

// giver gives Services their addresses.
type giver struct {
	client   kubernetes.Interface
	timeline *timeline.Timeline
}

// run assigns the addresses again whenever a pool or a Service changes.
func (g giver) run(ctx context.Context, objects dynamic.Interface) error {
	typed := informers.NewSharedInformerFactory(g.client, 0)
	untyped := dynamicinformer.NewDynamicSharedInformerFactory(objects, 0)
	services, pools := typed.Core().V1().Services(), untyped.ForResource(poolKind)
	changed := make(chan struct{}, 1)
	ring := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), pools.Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { ring() }, UpdateFunc: func(any, any) { ring() }, DeleteFunc: func(any) { ring() },
		}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	typed.StartWithContext(ctx)
	defer typed.Shutdown()
	untyped.Start(ctx.Done())
	defer untyped.Shutdown()
	defer cancel() // else Shutdown would block forever after an error
	if !cache.WaitForCacheSync(ctx.Done(), services.Informer().HasSynced, pools.Informer().HasSynced) {
		return context.Cause(ctx)
	}
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
		found, err := pools.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		all, err := services.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		var usable []pool
		for _, object := range found {
			// An unreadable pool offers nothing, and does not affect the others.
			if one, err := poolOf(object.(*unstructured.Unstructured)); err == nil {
				usable = append(usable, one)
			}
		}
		slices.SortFunc(usable, func(a, b pool) int { return strings.Compare(a.name, b.name) })
		decided := give(usable, all)
		for _, service := range all {
			if decision, is := decided[nameOf(service)]; is {
				if err := g.writeStatus(ctx, service, decision); err != nil {
					return err
				}
			}
		}
	}
}

// writeStatus writes the decision into the Service's status, unless it is already there.
func (g giver) writeStatus(ctx context.Context, service *corev1.Service, decision given) error {
	status, reason, message := metav1.ConditionTrue, "satisfied", ""
	if decision.reason != "" {
		status, reason, message = metav1.ConditionFalse, decision.reason, decision.message
	}
	isWritten := slices.ContainsFunc(service.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == satisfied && c.Status == status && c.Reason == reason
	})
	if isWritten && slices.Equal(addressesOf(service), decision.addresses) {
		return nil
	}
	mode := corev1.LoadBalancerIPModeVIP
	ingress := []corev1.LoadBalancerIngress{} // empty, not null, where there is none
	for _, address := range decision.addresses {
		ingress = append(ingress, corev1.LoadBalancerIngress{IP: address.String(), IPMode: &mode})
	}
	others := slices.DeleteFunc(slices.Clone(service.Status.Conditions), func(c metav1.Condition) bool { return c.Type == satisfied })
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"loadBalancer": map[string]any{"ingress": ingress},
		"conditions": append(others, metav1.Condition{
			Type: satisfied, Status: status, Reason: reason, Message: message,
			LastTransitionTime: metav1.Now(), ObservedGeneration: service.Generation,
		}),
	}})
	if err != nil {
		return err
	}
	_, err = g.client.CoreV1().Services(service.Namespace).Patch(ctx, service.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil // it was deleted meanwhile
	}
	if err != nil {
		return err
	}
	for _, address := range decision.addresses {
		g.timeline.Record(nameOf(service), "address", address.String())
	}
	return nil
}
