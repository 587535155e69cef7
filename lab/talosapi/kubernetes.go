package talosapi

import (
	"fmt"

	"github.com/hashicorp/go-multierror"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/compatibility"
	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/types/v1alpha1"
)

// kubernetesFits refuses a Kubernetes version that an older node's Talos does not run: the official code compares with the version as which it was built.
func (n *node) kubernetesFits(cfg config.Provider) error {
	if !n.old || cfg.RawV1Alpha1() == nil || cfg.Machine() == nil {
		return nil
	}
	own, err := compatibility.ParseTalosVersion(&machine.VersionInfo{Tag: "v" + n.Machine.Version()})
	if err != nil {
		return err
	}
	type image struct{ name, reference string }
	images := []image{{"kubelet", cfg.Machine().Kubelet().Image()}}
	if cfg.Cluster() != nil && cfg.Machine().Type().IsControlPlane() {
		images = append(images,
			image{"kube-apiserver", cfg.Cluster().APIServer().Image()},
			image{"kube-controller-manager", cfg.Cluster().ControllerManager().Image()},
			image{"kube-scheduler", cfg.Cluster().Scheduler().Image()},
		)
	}
	var faults *multierror.Error
	for _, image := range images {
		version, err := v1alpha1.KubernetesVersionFromImageRef(image.reference)
		if err == nil {
			err = version.SupportedWith(own)
		}
		if err != nil {
			faults = multierror.Append(faults, fmt.Errorf("%s image is not valid: %w", image.name, err))
		}
	}
	if faults == nil {
		return nil
	}
	return multierror.Append(nil, fmt.Errorf("v1alpha1.Config: %w", faults))
}
