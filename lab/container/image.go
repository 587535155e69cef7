// Package container implements what a kubelet does for containers: their environment and arguments, and the names of images.
package container

import "strings"

// ImageName returns the last part of an image's name, which does not depend on the registry: "source-controller" for
// "mirror.example:5000/fluxcd/source-controller:v1.9.5@sha256:...".
func ImageName(image string) string {
	name, _, _ := strings.Cut(image, "@")
	name = name[strings.LastIndex(name, "/")+1:]
	name, _, _ = strings.Cut(name, ":")
	return name
}
