// Package container knows what a kubelet knows of containers: how their
// environment and arguments come about, and which image is which.
package container

import "strings"

// ImageName is the last part of an image's name, which the registry that it is
// pulled from does not change: "source-controller" of
// "mirror.example:5000/fluxcd/source-controller:v1.9.5@sha256:...".
func ImageName(image string) string {
	name, _, _ := strings.Cut(image, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	name, _, _ = strings.Cut(name, ":")
	return name
}
