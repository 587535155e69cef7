package hardware

import (
	"context"

	"github.com/cosi-project/runtime/pkg/controller"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	runtimeresource "github.com/siderolabs/talos/pkg/machinery/resources/runtime"

	"github.com/siderolabs/talos/internal/app/machined/sluicelab/node/resources"
)

// KernelController shows the parameters of the kernel as set that Talos' own controllers
// decided on. Those of the config have precedence.
func (h *Hardware) KernelController() controller.Controller {
	return &resources.Simulated{
		Real: "runtime.KernelParamSpecController",
		Reads: []controller.Input{
			resources.Reads(runtimeresource.NamespaceName, runtimeresource.KernelParamDefaultSpecType),
			resources.Reads(runtimeresource.NamespaceName, runtimeresource.KernelParamSpecType),
		},
		Writes: []controller.Output{resources.Writes(runtimeresource.KernelParamStatusType)},
		Reconcile: func(ctx context.Context, r controller.Runtime) error {
			r.StartTrackingOutputs()
			for _, kind := range []resource.Type{runtimeresource.KernelParamDefaultSpecType, runtimeresource.KernelParamSpecType} {
				list, err := r.List(ctx, resource.NewMetadata(runtimeresource.NamespaceName, kind, "", resource.VersionUndefined))
				if err != nil {
					return err
				}
				for _, item := range list.Items {
					wanted := item.(runtimeresource.KernelParam).TypedSpec().Value
					status := runtimeresource.NewKernelParamStatus(runtimeresource.NamespaceName, item.Metadata().ID())
					if err := safe.WriterModify(ctx, r, status, func(status *runtimeresource.KernelParamStatus) error {
						status.TypedSpec().Current = wanted
						return nil
					}); err != nil {
						return err
					}
				}
			}
			return safe.CleanupOutputs[*runtimeresource.KernelParamStatus](ctx, r)
		},
	}
}
