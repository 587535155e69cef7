package resources

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource/meta"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/resources/runtime"
	"github.com/siderolabs/talos/pkg/machinery/resources/secrets"
	"github.com/siderolabs/talos/pkg/machinery/resources/security"
)

// since113 are the types that Talos has since 1.13.
var since113 = []meta.ResourceDefinitionProvider{
	&k8s.KubeletKubeconfig{}, &network.RoutingRuleSpec{}, &network.RoutingRuleStatus{}, &runtime.APIServiceConfig{}, &runtime.Environment{},
	&runtime.ServicePID{}, &security.ImageVerificationRule{}, &security.TUFTrustedRoot{},
}

// until112 are those that it had until 1.12, of whose maintenance service this is the
// certificate.
var until112 = []meta.ResourceDefinitionSpec{
	{Type: "MaintenanceServiceCertificates.secrets.talos.dev", DefaultNamespace: secrets.NamespaceName, Sensitivity: meta.Sensitive},
}

// define112 has the state define the types of Talos 1.12.
func define112(ctx context.Context, in state.State) error {
	for _, newer := range since113 {
		definition, err := meta.NewResourceDefinition(newer.ResourceDefinition())
		if err != nil {
			return fmt.Errorf("a definition of 1.13: %w", err)
		}
		if err := in.Destroy(ctx, definition.Metadata(), state.WithDestroyOwner(meta.Owner)); err != nil {
			return err
		}
	}
	for _, older := range until112 {
		definition, err := meta.NewResourceDefinition(older)
		if err != nil {
			return fmt.Errorf("a definition of 1.12: %w", err)
		}
		if err := in.Create(ctx, definition, state.WithCreateOwner(meta.Owner)); err != nil {
			return err
		}
	}
	return nil
}
