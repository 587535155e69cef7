// What is installed into clusters of the lab, from the modules that carry it as
// files: nothing here is compiled, and nothing that these modules require is
// fetched. flux-operator carries the rendered manifests of Flux; those of 2.9.4
// and 2.9.5 differ by their image tags alone, and the later release cannot be
// read by Go 1.26. So flux/kustomization.yaml names the images.
module sluice.invalid/toolchain/charts

go 1.26.5

require (
	github.com/bitnami-labs/sealed-secrets v0.40.0
	github.com/cilium/cilium v1.18.8
	github.com/controlplaneio-fluxcd/flux-operator v0.58.0
	github.com/sergelogvinov/proxmox-csi-plugin v0.18.1
)
